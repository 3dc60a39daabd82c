package daemon

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/process"
	"waitroom/internal/refunds"
	"waitroom/internal/stripe"
	"waitroom/internal/support"
)

// Asking are the settings of whoever answers who asks for refunds.
type Asking struct {
	Install     string  `env:"INSTALL" default:"" help:"This installation's name in the provider's metadata: paycallback's. Empty: no refund is taken on."`
	RefundLimit int64   `env:"REFUND_LIMIT_MINOR" default:"0" help:"Minor units that may be asked to go back of one order before a person is asked, where its event has no limit of its own (waitctl refunds limit). 0: a person is always asked."`
	RefundCalls float64 `env:"REFUND_CALLS_PER_S" default:"5" help:"Calls that the refunder starts in a second at most. Too many: refunds are accepted that cannot be kept in time."`
}

func (c Asking) validate() error {
	return errors.Join(
		process.Want(c.RefundLimit >= 0, "REFUND_LIMIT_MINOR %d: want 0 (always ask) or more", c.RefundLimit),
		process.Want(c.RefundCalls > 0 && c.RefundCalls <= 5, "REFUND_CALLS_PER_S %g: want more than 0, at most 5", c.RefundCalls),
	)
}

// SupportDesk answers who asks for refunds.
func (c Asking) SupportDesk() *support.Desk {
	return &support.Desk{
		Install: strings.TrimSpace(c.Install), LimitMinor: c.RefundLimit, StartsPerS: c.RefundCalls, ProviderAmount: stripe.ToProvider,
	}
}

// support tells what is asked, what waits for a person, and what is forecast.
func (c Asking) support(p *process.Process, pool *pgxpool.Pool) *support.Desk {
	d, f := c.SupportDesk(), promauto.With(p.Metrics)
	answers := f.NewCounterVec(prometheus.CounterOpts{
		Name: "waitroom_refunds_asked_total", Help: "Refunds asked for, by what was answered.",
	}, []string{"answer", "reason"})
	limit := f.NewGauge(prometheus.GaugeOpts{Name: "waitroom_refund_limit_minor", Help: "What may be asked without a person's word, where an event has no limit of its own."})
	waiting := f.NewGauge(prometheus.GaugeOpts{Name: "waitroom_refund_approvals_waiting", Help: "Refunds that wait for a person's word."})
	clears := f.NewGauge(prometheus.GaugeOpts{Name: "waitroom_refund_forecast_seconds", Help: "Until no refund waits, at the closures measured; +Inf: never, at this rate."})
	behind := f.NewGauge(prometheus.GaugeOpts{Name: "waitroom_refund_forecast_behind", Help: "1 while new requests are refused, for they could not be kept in time."})
	limit.Set(float64(c.RefundLimit))
	d.Answered = func(a support.Answer) { answers.WithLabelValues(string(a.Word), string(a.Reason)).Inc() }
	p.Every(5*time.Second, "refund forecast", func(ctx context.Context) error {
		backlog, err := refunds.ReadBacklog(ctx, pool, d.StartsPerS)
		if err != nil {
			return err
		}
		now := backlog.Forecast()
		clears.Set(now.Clears.Seconds())
		if now.Endless {
			clears.Set(math.Inf(1))
		}
		behind.Set(0)
		if now.Behind {
			behind.Set(1)
		}
		n, err := support.Waiting(ctx, pool)
		if err == nil {
			waiting.Set(float64(n))
		}
		return err
	})
	return d
}
