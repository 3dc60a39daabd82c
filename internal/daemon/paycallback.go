package daemon

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"waitroom/internal/httpapi"
	"waitroom/internal/orders"
	"waitroom/internal/pg"
	"waitroom/internal/process"
	"waitroom/internal/stripe"
)

// PayCallbackConfig are the settings of cmd/paycallback.
type PayCallbackConfig struct {
	Common
	TokenKeys
	ProviderAccount
	Addr           string        `env:"PAY_ADDR" default:":8082" help:"Where buyers open payments and the provider sends its notices."`
	Install        string        `env:"INSTALL" required:"" help:"Names this installation in the provider's metadata. Payments of other installations on the same account are left alone; changed during a sale, our own are too."`
	ProviderURL    string        `env:"PROVIDER_URL" default:"https://api.stripe.com" help:"The payment provider's API."`
	ProviderKey    string        `env:"PROVIDER_KEY" required:"" secret:"" help:"The provider's secret key."`
	ProviderMethod string        `env:"PROVIDER_METHOD" required:"" help:"The payment method whose page buyers are sent to (alipay, ideal, ...)."`
	WebhookSecrets Secrets       `env:"PROVIDER_WEBHOOK_SECRETS" required:"" secret:"" help:"Secrets that sign the provider's notices; each is valid, for rotation. An empty one stops the start. The endpoint at the provider sends snapshot notices, not thin ones, of payment_intent.succeeded, payment_intent.payment_failed, payment_intent.canceled, charge.refunded, refund.created, refund.updated, refund.failed and charge.refund.updated; what of these it does not send is noticed late, or not at all."`
	Tolerance      time.Duration `env:"PROVIDER_TOLERANCE" default:"5m" help:"How far a notice's stamp may be from our clock, either way. Wider: old notices can be played again. Narrower: a slow clock refuses money."`
	ReturnURL      string        `env:"RETURN_URL" required:"" help:"Where the provider sends buyers back to; {order} and {event} stand for their ids."`
	CallLimit      time.Duration `env:"PROVIDER_CALL_LIMIT" default:"10s" help:"Ends one call to the provider. Too short: payments whose answer was on its way are asked for again."`
	CallsInFlight  int           `env:"PROVIDER_CALLS_IN_FLIGHT" default:"32" help:"Openings of payments under way at most; one more is answered 503 and asks again. Too many: the provider's own limit answers instead."`
	Rate           float64       `env:"PROVIDER_RATE" default:"40" help:"This process's share of PROVIDER_ACCOUNT_RATE, for each replica. When openings have used it up, buyers are answered 503 and ask again; the refunder has a share of its own."`
	SweepRate      float64       `env:"PROVIDER_SWEEP_RATE" default:"10" help:"How much of PROVIDER_RATE is kept for asking about payments that nobody told of, and for cancelling those whose order has ended. Too low: late money comes that has to be given back."`
	NoticeConns    int           `env:"NOTICE_CONNS" default:"4" help:"Connections to Postgres for the provider's notices alone."`
	PaymentConns   int           `env:"PAYMENT_CONNS" default:"4" help:"Connections to Postgres for opening payments alone."`
}

// Validate tells all that could not work.
func (c PayCallbackConfig) Validate() error {
	back, err := url.Parse(c.ReturnURL)
	_, secrets := stripe.NewVerifier(c.WebhookSecrets, stripe.Tolerance)
	_, client := c.client(nil)
	return errors.Join(
		process.Want(err == nil && back.Host != "" && (back.Scheme == "http" || back.Scheme == "https"),
			"RETURN_URL %q: want an http or https address", c.ReturnURL),
		process.Want(strings.Contains(c.ReturnURL, "{order}"), "RETURN_URL %q: {order} is missing, so buyers would not find their order again", c.ReturnURL),
		process.Want(c.Install != "" && strings.TrimSpace(c.Install) == c.Install, "INSTALL %q: want a name, without spaces around it", c.Install),
		process.Want(strings.TrimSpace(c.ProviderMethod) != "", "PROVIDER_METHOD: want a name, not spaces"),
		process.Want(client == nil, "PROVIDER_URL, PROVIDER_KEY: %w", client),
		process.Want(secrets == nil, "PROVIDER_WEBHOOK_SECRETS: %w", secrets),
		process.Want(c.Tolerance >= time.Second && c.Tolerance <= time.Hour, "PROVIDER_TOLERANCE %s: want 1s to 1h", c.Tolerance),
		process.Want(c.CallLimit >= time.Second && c.CallLimit <= time.Minute, "PROVIDER_CALL_LIMIT %s: want 1s to 1m", c.CallLimit),
		process.Want(c.CallsInFlight >= 1, "PROVIDER_CALLS_IN_FLIGHT %d: want at least 1", c.CallsInFlight),
		process.Want(c.SweepRate >= 0.1 && c.Rate > c.SweepRate && c.Rate <= c.AccountRate,
			"PROVIDER_RATE %g, PROVIDER_SWEEP_RATE %g: want the second from 0.1, the first more than that and at most PROVIDER_ACCOUNT_RATE", c.Rate, c.SweepRate),
		process.Want(c.NoticeConns >= 1 && c.PaymentConns >= 1, "NOTICE_CONNS %d, PAYMENT_CONNS %d: want at least 1 each", c.NoticeConns, c.PaymentConns),
		c.ProviderAccount.validate(), c.TokenKeys.validate(), c.Common.validate(),
	)
}

func (c PayCallbackConfig) client(share *stripe.Quota) (*stripe.Client, error) {
	s := stripe.Settings{BaseURL: c.ProviderURL, SecretKey: c.ProviderKey, Method: c.ProviderMethod, Limit: c.CallLimit}
	if share != nil {
		s.Transport = share
	}
	return stripe.NewClient(s)
}

// Secrets are texts with commas between. A comma too many is an empty secret,
// not one less.
type Secrets []string

// UnmarshalText reads them from a setting.
func (s *Secrets) UnmarshalText(text []byte) error {
	*s = strings.Split(string(text), ",")
	return nil
}

// PayCallback opens payments and receives the provider's notices, and asks about
// payments that nobody told of. Notices have a pool of their own, so that they do
// not wait for the others, nor for claims; openings and looks have each their
// share of the calls to the provider.
func PayCallback(ctx context.Context, c PayCallbackConfig) error {
	return process.Run(ctx, "paycallback", c.Ops, c.logger("paycallback"), c.setup)
}

func (c PayCallbackConfig) setup(ctx context.Context, p *process.Process) error {
	tokens, errTokens := c.tokens()
	verifier, errSecrets := stripe.NewVerifier(c.WebhookSecrets, c.Tolerance)
	toOpen := stripe.NewQuota(stripe.OneSend(), c.Rate-c.SweepRate, openPatience)
	toLook := stripe.NewQuota(stripe.OneSend(), c.SweepRate, sweepPatience)
	opens, errClient := c.client(toOpen)
	looks, _ := c.client(toLook) // as good as the first
	if err := errors.Join(errTokens, errSecrets, errClient); err != nil {
		return err
	}
	notices, err := c.open(ctx, p, "notices", pg.Limits{Conns: c.NoticeConns})
	if err != nil {
		return err
	}
	openings, err := c.open(ctx, p, "payments", pg.Limits{Conns: c.PaymentConns})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, p, notices, pooled("notices", notices), pooled("payments", openings)); err != nil {
		return err
	}
	if err := c.declare(ctx, p, notices, c.Replicas, c.Rate); err != nil {
		return err
	}
	quotaMetrics(p.Metrics, "open", c.Rate-c.SweepRate, toOpen)
	quotaMetrics(p.Metrics, "look", c.SweepRate, toLook)
	m := newPayMetrics(p.Metrics)
	watched := orders.Watch(provider{opens, c.Install, c.ReturnURL, p.Log}, p.Metrics)
	payments := orders.NewPayments(openings, watched, providerName, c.CallsInFlight)
	payments.Room = toOpen.Room
	c.sweep(p, openings, provider{looks, c.Install, c.ReturnURL, p.Log})
	m.inFlight(payments, c.CallsInFlight)
	inbox := orders.Inbox{Pool: notices, Install: c.Install, Read: readNotice, Seen: m.seen(p.Log)}
	p.Every(500*time.Millisecond, "waiting notices", func(ctx context.Context) error {
		_, err := inbox.RetryWaiting(ctx)
		return err
	})
	name := replicaName("paycallback")
	p.Every(time.Second, "report", func(ctx context.Context) error { return watched.Report(ctx, notices, name) })
	p.Every(5*time.Second, "figures", func(ctx context.Context) error { return m.read(ctx, notices) })
	return c.serve(ctx, p, httpapi.Pay{
		Holder: tokens.Holder, Open: m.opening(p.Log, payments.Open),
		Verify: signedBy(verifier), Receive: inbox.Receive, Back: c.back,
		Log: p.Log, CallLimit: c.CallLimit,
	})
}

// back is the page of an order.
func (c PayCallbackConfig) back(event string, order uuid.UUID) string {
	return backTo(c.ReturnURL, event, order)
}

func (c PayCallbackConfig) serve(ctx context.Context, p *process.Process, pay httpapi.Pay) error {
	l, err := c.listen(ctx, "pay", c.Addr)
	if err != nil {
		return err
	}
	app := httpapi.NewPay(p.Work(), pay)
	p.Go("http", func(context.Context) error { return app.Listener(l) })
	p.OnStop("http", app.ShutdownWithContext)
	c.listening("ops", p.OpsAddr())
	return nil
}
