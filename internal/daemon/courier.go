package daemon

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"waitroom/internal/pg"
	"waitroom/internal/process"
	"waitroom/internal/webhooks"
)

// CourierConfig are the settings of cmd/courier. Those of the retry contract hold
// for every endpoint; the rest of a schedule is each endpoint's own.
type CourierConfig struct {
	Common
	Every    time.Duration `env:"COURIER_EVERY" default:"50ms" help:"How often it looks for what is due. Longer: notices come later."`
	InFlight int           `env:"COURIER_SENDS_IN_FLIGHT" default:"256" help:"Attempts under way at most, of all endpoints. Fewer: receivers that do not answer hold up others'."`
	Failing  float64       `env:"COURIER_FAILING_SHARE" default:"0.5" help:"Of these, the share that endpoints may have whose last attempt failed; one at least. More: receivers that do not answer leave less to the others. Less: they are told later, once they answer."`
	Limit    time.Duration `env:"COURIER_SEND_LIMIT" default:"10s" help:"Ends one attempt, name look-up, TLS and reading included. Shorter: slow receivers are told again and again. It has to end within DRAIN_LIMIT."`
	Lease    time.Duration `env:"COURIER_LEASE" default:"30s" help:"After it a delivery whose courier was killed is sent again. At least twice COURIER_SEND_LIMIT."`
	Conns    int           `env:"COURIER_CONNS" default:"6" help:"Connections to Postgres. Fewer: ends of attempts are written down later."`

	Factor            int64         `env:"WEBHOOK_BACKOFF_FACTOR" default:"2" help:"The retry contract: a wait is so many times the one before it."`
	Slack             int64         `env:"WEBHOOK_ADMIT_SLACK_S" default:"1" help:"The retry contract: seconds on top of each wait."`
	SuccessMin        int           `env:"WEBHOOK_SUCCESS_MIN" default:"200" help:"The retry contract: the lowest status that is a success. 200: the audit judges by it."`
	SuccessMax        int           `env:"WEBHOOK_SUCCESS_MAX" default:"299" help:"The retry contract: the highest. 299: redirects are never one."`
	Jitter            float64       `env:"WEBHOOK_JITTER" default:"0.1" help:"Of a wait at most, on top of it, so that retries do not come in step. 0 to 0.1."`
	DisableAfter      int           `env:"WEBHOOK_DISABLE_AFTER" default:"20" help:"An endpoint is disabled after so many failures in a row, over all of its deliveries. Fewer: a receiver's bad minute needs a person."`
	DisableFailingFor time.Duration `env:"WEBHOOK_DISABLE_FAILING_FOR" default:"10s" help:"And once the first of them is so long ago. Shorter: a receiver that restarts while much is told is disabled."`
	WaitAtMost        time.Duration `env:"WEBHOOK_WAIT_AT_MOST" default:"168h" help:"A delivery for a disabled endpoint is on the dead-letter list so long after it was due. It can be replayed."`
	Loopback          bool          `env:"WEBHOOKS_LOOPBACK" help:"Lets endpoints be on this machine itself, by plain http too. For tests and demos."`
}

// Validate tells all that could not work.
func (c CourierConfig) Validate() error {
	return errors.Join(
		process.Want(c.Every >= time.Millisecond && c.Every <= time.Minute, "COURIER_EVERY %s: want 1ms to 1m", c.Every),
		process.Want(c.InFlight >= 1 && c.InFlight <= 10_000, "COURIER_SENDS_IN_FLIGHT %d: want 1 to 10000", c.InFlight),
		process.Want(c.Failing > 0 && c.Failing <= 1, "COURIER_FAILING_SHARE %g: want above 0, and 1 at most", c.Failing),
		process.Want(c.Limit >= 100*time.Millisecond && c.Limit <= time.Minute && c.Limit < c.DrainLimit, "COURIER_SEND_LIMIT %s: want 100ms to 1m, and less than DRAIN_LIMIT", c.Limit),
		process.Want(c.Lease >= 2*c.Limit && c.Lease <= time.Hour, "COURIER_LEASE %s: want twice COURIER_SEND_LIMIT to 1h", c.Lease),
		process.Want(c.Conns >= 2, "COURIER_CONNS %d: want at least 2", c.Conns),
		process.Want(c.Factor >= 1 && c.Factor <= 1000, "WEBHOOK_BACKOFF_FACTOR %d: want 1 to 1000", c.Factor),
		process.Want(c.Slack >= 0 && c.Slack <= 3600, "WEBHOOK_ADMIT_SLACK_S %d: want 0 to 3600", c.Slack),
		process.Want(c.SuccessMin == 200 && c.SuccessMax == 299, "WEBHOOK_SUCCESS_MIN, WEBHOOK_SUCCESS_MAX %d, %d: want 200, 299, whatever the contract says elsewhere", c.SuccessMin, c.SuccessMax),
		process.Want(c.Jitter >= 0 && c.Jitter <= 0.1, "WEBHOOK_JITTER %g: want 0 to 0.1", c.Jitter),
		process.Want(c.DisableAfter >= 1, "WEBHOOK_DISABLE_AFTER %d: want at least 1", c.DisableAfter),
		process.Want(c.DisableFailingFor >= 0, "WEBHOOK_DISABLE_FAILING_FOR %s: cannot be negative", c.DisableFailingFor),
		process.Want(c.WaitAtMost >= time.Minute, "WEBHOOK_WAIT_AT_MOST %s: want at least 1m", c.WaitAtMost),
		c.Common.validate(),
	)
}

func (c CourierConfig) terms() webhooks.Terms {
	return webhooks.Terms{
		Factor: c.Factor, Slack: time.Duration(c.Slack) * time.Second, Jitter: c.Jitter, SuccessMin: c.SuccessMin, SuccessMax: c.SuccessMax,
		DisableAfter: c.DisableAfter, DisableFailingFor: c.DisableFailingFor, WaitAtMost: c.WaitAtMost,
	}
}

// failingInFlight is how many attempts at failing endpoints may be under way.
func (c CourierConfig) failingInFlight() int { return max(1, int(c.Failing*float64(c.InFlight))) }

// Courier sends organisers' webhooks. Any number may run: each delivery is in one's
// hands at a time.
func Courier(ctx context.Context, c CourierConfig) error {
	return process.Run(ctx, "courier", c.Ops, c.logger("courier"), c.setup)
}

func (c CourierConfig) setup(ctx context.Context, p *process.Process) error {
	pool, err := c.open(ctx, p, "deliveries", pg.Limits{Conns: c.Conns, Replan: true})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, p, pool, pooled("deliveries", pool)); err != nil {
		return err
	}
	m := newCourierMetrics(p.Metrics, p.Log, c.InFlight, c.failingInFlight(), c.Limit)
	courier := webhooks.NewCourier(webhooks.Courier{
		Pool: pool, Name: replicaName("courier"), Client: webhooks.NewClient(webhooks.Reach{Limit: c.Limit, Loopback: c.Loopback}),
		Terms: c.terms(), InFlight: c.InFlight, FailingInFlight: c.failingInFlight(), Every: c.Every, Lease: c.Lease, Chance: rand.Float64,
		Looked: m.looked, Seen: m.seen,
	})
	p.Go("courier", func(taking context.Context) error { return courier.Run(taking, p.Work()) })
	p.Check("courier", time.Second, func(context.Context) error { return m.takes() })
	p.Every(time.Second, "sweep", func(ctx context.Context) error {
		swept, err := courier.Sweep(ctx)
		m.swept(swept)
		return err
	})
	figures := newWebhookFigures(p.Metrics)
	p.Every(5*time.Second, "figures", func(ctx context.Context) error { return figures.read(ctx, pool) })
	c.listening("ops", p.OpsAddr())
	return nil
}
