package daemon

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"waitroom/internal/outlet"
	"waitroom/internal/pg"
	"waitroom/internal/process"
	"waitroom/internal/refunds"
	"waitroom/internal/stripe"
)

// RefunderConfig are the settings of cmd/refunder.
type RefunderConfig struct {
	Common
	ProviderAccount
	ProviderURL   string        `env:"PROVIDER_URL" default:"https://api.stripe.com" help:"The payment provider's API."`
	ProviderKey   string        `env:"PROVIDER_KEY" required:"" secret:"" help:"The provider's secret key. One that is refused stops the outlet until a person says to go on, or it is started anew."`
	Apart         time.Duration `env:"REFUND_CALLS_APART" default:"200ms" help:"Between two starts of calls at least: refunds' share of the account's quota. Longer: a backlog clears later."`
	CallsInFlight int           `env:"REFUND_CALLS_IN_FLIGHT" default:"10" help:"Calls under way at most. Fewer: a provider that is slow is asked less often."`
	CallLimit     time.Duration `env:"REFUND_CALL_LIMIT" default:"3s" help:"Ends one call, name look-up, TLS and reading included. Shorter: more refunds have to be looked up. A new outlet waits as long before its first call."`
	OnItsWayFor   time.Duration `env:"REFUND_ON_ITS_WAY_FOR" default:"240h" help:"How long the provider may have a refund on its way, since it was accepted, before a person hears of it. Longer: an account without money there is noticed later."`
	LookLateAfter time.Duration `env:"REFUND_LOOK_LATE_AFTER" default:"168h" help:"How long after its confirmation a refund is asked about once more, when the outlet has nothing else to do. Longer: one that failed, and whose notice is lost, is known later; shorter: one that fails after it was asked about is not known."`
	Conns         int           `env:"REFUND_CONNS" default:"4" help:"Connections to Postgres, beside the one that holds the outlet's lock. That one may not go through a pooler that shares sessions."`
}

// Validate tells all that could not work.
func (c RefunderConfig) Validate() error {
	_, client := c.client(nil)
	return errors.Join(
		process.Want(client == nil, "PROVIDER_URL, PROVIDER_KEY: %w", client),
		process.Want(c.Apart >= 200*time.Millisecond && c.Apart <= time.Minute, "REFUND_CALLS_APART %s: want 200ms to 1m", c.Apart),
		process.Want(c.CallsInFlight >= 1 && c.CallsInFlight <= 10, "REFUND_CALLS_IN_FLIGHT %d: want 1 to 10", c.CallsInFlight),
		process.Want(c.CallLimit >= time.Second && c.CallLimit <= 30*time.Second, "REFUND_CALL_LIMIT %s: want 1s to 30s", c.CallLimit),
		process.Want(c.OnItsWayFor >= time.Hour && c.OnItsWayFor <= 90*24*time.Hour, "REFUND_ON_ITS_WAY_FOR %s: want 1h to 2160h", c.OnItsWayFor),
		process.Want(c.LookLateAfter >= time.Hour && c.LookLateAfter <= 90*24*time.Hour, "REFUND_LOOK_LATE_AFTER %s: want 1h to 2160h", c.LookLateAfter),
		process.Want(c.Conns >= 2, "REFUND_CONNS %d: want at least 2", c.Conns),
		c.ProviderAccount.validate(), c.Common.validate(),
	)
}

func (c RefunderConfig) limits() outlet.Limits {
	l := outlet.Account()
	l.Apart, l.InFlight, l.Call = c.Apart, c.CallsInFlight, c.CallLimit
	l.Fresh = max(l.Fresh, 2*c.Apart)
	return l
}

// client makes calls through the outlet, which ends each by its own limit from
// its start; the client's is for a call that never gets to start.
func (c RefunderConfig) client(through *outlet.Outlet) (*stripe.Client, error) {
	s := stripe.Settings{BaseURL: c.ProviderURL, SecretKey: c.ProviderKey, Limit: c.CallLimit + 30*time.Second}
	if through != nil {
		s.Transport = through
	}
	return stripe.NewClient(s)
}

// Refunder carries refunds out. Any number may run: one of them has the outlet,
// the others wait for it and say that they are not ready.
func Refunder(ctx context.Context, c RefunderConfig) error {
	return process.Run(ctx, "refunder", c.Ops, c.logger("refunder"), c.setup)
}

func (c RefunderConfig) setup(ctx context.Context, p *process.Process) error {
	pool, err := c.open(ctx, p, "refunds", pg.Limits{Conns: c.Conns})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, p, pool, pooled("refunds", pool), pg.Use{Name: "outlet", Conns: 1}); err != nil {
		return err
	}
	// Of all replicas one makes calls.
	if err := c.declare(ctx, p, pool, 1, 1/c.Apart.Seconds()); err != nil {
		return err
	}
	throne := &throne{
		limits: c.limits(), log: p.Log, pool: pool,
		contender: refunds.NewContender(pool, replicaName("refunder")),
	}
	out, err := outlet.New(stripe.OneSend(), c.limits(), throne.ours)
	if err != nil {
		return err
	}
	client, err := c.client(out)
	if err != nil {
		return err
	}
	m := newRefundMetrics(p.Metrics, out, c, throne)
	throne.ledger = refunds.Ledger{Pool: pool, Chance: rand.Float64, OnItsWayFor: c.OnItsWayFor, LookLateAfter: c.LookLateAfter}
	throne.dispatcher = refunds.Dispatcher{
		Outlet: out, Provider: stripe.Refunds{Client: client}, Log: p.Log, Seen: m.seen,
	}
	p.Go("outlet", func(taking context.Context) error { return throne.reign(taking, p.Work()) })
	p.OnClose("outlet", func(ctx context.Context) error { throne.contender.Close(ctx); return nil })
	p.Check("outlet", 2*time.Second, throne.ready)
	p.Every(2*time.Second, "outlet held", throne.held)
	p.Every(time.Second, "give up", func(ctx context.Context) error { _, err := throne.ledger.GiveUp(ctx); return err })
	p.Every(time.Second, "figures", func(ctx context.Context) error { return m.read(ctx, throne.ledger) })
	c.listening("ops", p.OpsAddr())
	return nil
}
