package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/orders"
)

type payMetrics struct {
	factory promauto.Factory
	notices *prometheus.CounterVec
	opened  *prometheus.CounterVec
	took    prometheus.Histogram
	waiting prometheus.Gauge
	human   prometheus.Gauge
}

func newPayMetrics(r prometheus.Registerer) *payMetrics {
	f := promauto.With(r)
	return &payMetrics{
		factory: f,
		notices: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_provider_notices_total", Help: "Provider notices received or tried again, by what became of them.",
		}, []string{"outcome"}),
		opened: f.NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_payment_openings_total", Help: "Buyers who entered payment, by the answer they got.",
		}, []string{"outcome"}),
		took: f.NewHistogram(prometheus.HistogramOpts{
			Name: "waitroom_payment_opening_seconds", Help: "Time to open a payment, the provider's included.",
			Buckets: []float64{.02, .05, .1, .25, .5, 1, 2, 5, 10, 15},
		}),
		waiting: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_provider_notices_waiting", Help: "Provider notices whose order is not known yet.",
		}),
		human: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_human_list_open", Help: "Open rows of the human list.",
		}),
	}
}

func (m *payMetrics) inFlight(p *orders.Payments, most int) {
	m.factory.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "waitroom_payment_openings_in_flight", Help: "Openings of payments under way.",
	}, func() float64 { return float64(p.InFlight()) })
	m.factory.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_payment_openings_in_flight_max", Help: "Openings of payments under way at most.",
	}).Set(float64(most))
}

// seen counts and logs a notice once its effect is durable.
func (m *payMetrics) seen(log *slog.Logger) func(orders.ProviderNotice, orders.Outcome) {
	return func(n orders.ProviderNotice, o orders.Outcome) {
		m.notices.WithLabelValues(string(o)).Inc()
		tell := log.Info
		if o == orders.NoEffect || o == orders.Foreign {
			tell = log.Debug
		}
		tell("provider notice", "notice", n.ID, "kind", n.Kind, "outcome", o,
			"order", n.Order, "payment", n.ProviderPayment, "amount_minor", n.AmountMinor, "currency", n.Currency)
	}
}

type opener func(ctx context.Context, order uuid.UUID, holder, attempt string) (orders.Opening, orders.Payment, error)

// opening counts and logs an opening, where its outcome is known.
func (m *payMetrics) opening(log *slog.Logger, open opener) opener {
	return func(ctx context.Context, order uuid.UUID, holder, attempt string) (orders.Opening, orders.Payment, error) {
		began := time.Now()
		opening, payment, err := open(ctx, order, holder, attempt)
		took := time.Since(began)
		outcome := string(opening)
		if err != nil {
			outcome = "fault"
		}
		m.opened.WithLabelValues(outcome).Inc()
		m.took.Observe(took.Seconds())
		log.InfoContext(ctx, "payment", "order", order, "attempt", attempt, "outcome", outcome,
			"payment", payment.ID, "seconds", took.Seconds(), "error", err)
		return opening, payment, err
	}
}

func (m *payMetrics) read(ctx context.Context, pool *pgxpool.Pool) error {
	waiting, human, err := orders.Unsettled(ctx, pool)
	m.waiting.Set(float64(waiting))
	m.human.Set(float64(human))
	return err
}
