package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/orders"
	"waitroom/internal/process"
)

const (
	// sweepsInFlight is how many payments a process asks about at a time.
	sweepsInFlight = 4
	// sweepPatience is how long a look waits for its turn.
	sweepPatience = time.Second
	// openPatience is how long an opening does: somebody is waiting for it.
	openPatience = 500 * time.Millisecond
)

// sweep finds out what became of payments that nobody told of.
func (c PayCallbackConfig) sweep(p *process.Process, pool *pgxpool.Pool, books orders.Books) {
	m := newSweepMetrics(p.Metrics)
	s := orders.Sweeper{
		Pool: pool, Books: books, Name: providerName, Install: c.Install,
		InFlight: sweepsInFlight, Lease: 2*c.CallLimit + 30*time.Second, Seen: m.seen(p.Log),
	}
	p.Every(time.Second, "sweep", func(ctx context.Context) error {
		_, err := s.Sweep(ctx)
		return err
	})
	p.Every(5*time.Second, "sweep figures", func(ctx context.Context) error { return m.read(ctx, pool) })
}

type sweepMetrics struct {
	asked                 *prometheus.CounterVec
	open, oldest, unknown prometheus.Gauge
}

func newSweepMetrics(r prometheus.Registerer) *sweepMetrics {
	f := promauto.With(r)
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &sweepMetrics{
		asked: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_payments_asked_total", Help: "Looks at payments that nobody told of, by what was done and what it came to.",
		}, []string{"did", "outcome"}),
		open:    gauge("waitroom_payments_past_end", "Payments that may still succeed though their order has ended."),
		oldest:  gauge("waitroom_payments_past_end_oldest_seconds", "How long ago the order of the oldest of them ended."),
		unknown: gauge("waitroom_payments_unknown", "Payments that a person has to find out about."),
	}
}

// seen counts and logs a look, once what was learnt is durable.
func (m *sweepMetrics) seen(log *slog.Logger) func(orders.Looked) {
	return func(l orders.Looked) {
		m.asked.WithLabelValues(l.Did, string(l.Outcome)).Inc()
		tell := log.Info
		if l.Outcome == orders.PaymentUnknown {
			tell = log.Warn
		}
		tell("payment looked at", "order", l.Order, "payment", l.Payment, "did", l.Did, "outcome", l.Outcome, "error", l.Err)
	}
}

func (m *sweepMetrics) read(ctx context.Context, pool *pgxpool.Pool) error {
	open, oldest, unknown, err := orders.PastEnd(ctx, pool)
	m.open.Set(float64(open))
	m.oldest.Set(oldest.Seconds())
	m.unknown.Set(float64(unknown))
	return err
}
