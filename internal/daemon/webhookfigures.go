package daemon

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/webhooks"
)

// webhookFigures are what is told of all endpoints together, as Postgres has it.
// More than one process may tell them: watch the greatest.
type webhookFigures struct {
	endpoints  *prometheus.GaugeVec
	failing    prometheus.Gauge
	deliveries *prometheus.GaugeVec
	late, held prometheus.Gauge
}

func newWebhookFigures(r prometheus.Registerer) *webhookFigures {
	f := promauto.With(r)
	return &webhookFigures{
		endpoints: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_webhook_endpoints", Help: "Endpoints of organisers, by state: only active is sent to.",
		}, []string{"state"}),
		failing: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_webhook_endpoints_failing", Help: "Active endpoints whose last attempt failed.",
		}),
		deliveries: f.NewGaugeVec(prometheus.GaugeOpts{
			Name: "waitroom_webhook_deliveries", Help: "Deliveries that were not delivered: waiting, sending, dead.",
		}, []string{"status"}),
		late: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_webhook_late_seconds", Help: "How long the oldest delivery waits that nothing holds back: it is due, its endpoint is active, does not fail, and is within its limits.",
		}),
		held: f.NewGauge(prometheus.GaugeOpts{
			Name: "waitroom_webhook_held_seconds", Help: "Age of the oldest notice that waits for an endpoint that is draining or disabled.",
		}),
	}
}

func (m *webhookFigures) read(ctx context.Context, pool *pgxpool.Pool) error {
	f, err := webhooks.ReadFigures(ctx, pool)
	if err != nil {
		return err
	}
	for state, n := range f.Endpoints {
		m.endpoints.WithLabelValues(string(state)).Set(float64(n))
	}
	for status, n := range f.Deliveries {
		m.deliveries.WithLabelValues(status).Set(float64(n))
	}
	m.failing.Set(float64(f.Failing))
	m.late.Set(f.Late.Seconds())
	m.held.Set(f.Held.Seconds())
	return nil
}
