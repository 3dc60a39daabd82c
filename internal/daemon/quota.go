package daemon

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/orders"
	"waitroom/internal/process"
	"waitroom/internal/stripe"
)

// ProviderAccount is the setting of every process that calls the provider.
type ProviderAccount struct {
	AccountRate float64 `env:"PROVIDER_ACCOUNT_RATE" default:"100" help:"Calls a second that the provider's account is allowed, in all. Every process that calls the provider declares its share, and does not start if all shares together are more. Too high: the provider turns calls away, and payments fail under load."`
}

func (a ProviderAccount) validate() error {
	return process.Want(a.AccountRate > 0 && a.AccountRate <= 100_000, "PROVIDER_ACCOUNT_RATE %g: want more than 0, up to 100000", a.AccountRate)
}

// declare says what each of the process's replicas may ask of the provider, and
// refuses to start it if that is too much with all that the others declare.
func (a ProviderAccount) declare(ctx context.Context, p *process.Process, pool *pgxpool.Pool, replicas int, perSecond float64) error {
	share := orders.CallShare{Process: p.Name, Replicas: max(1, replicas), PerSecond: perSecond, Account: a.AccountRate}
	if err := orders.DeclareCalls(ctx, pool, share); err != nil {
		return err
	}
	p.Log.Info("calls to the provider", "per_second", perSecond, "replicas", share.Replicas, "account_per_second", a.AccountRate)
	p.Every(time.Minute, "provider share", func(ctx context.Context) error { return orders.RenewCalls(ctx, pool, share) })
	return nil
}

// quotaMetrics tells of a use's share of the provider's calls.
func quotaMetrics(r prometheus.Registerer, use string, perSecond float64, q *stripe.Quota) {
	f := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"use": use}, r))
	f.NewGauge(prometheus.GaugeOpts{
		Name: "waitroom_provider_share_calls_per_second", Help: "Calls to the payment provider that a use may make a second.",
	}).Set(perSecond)
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "waitroom_provider_share_calls_total", Help: "Calls to the payment provider that were sent.",
	}, func() float64 { sent, _ := q.Calls(); return float64(sent) })
	f.NewCounterFunc(prometheus.CounterOpts{
		Name: "waitroom_provider_share_refused_total", Help: "Calls that were not sent, because the use's share was used up.",
	}, func() float64 { _, refused := q.Calls(); return float64(refused) })
}
