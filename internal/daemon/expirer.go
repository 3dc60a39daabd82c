package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/inventory"
	"waitroom/internal/notice"
	"waitroom/internal/orders"
	"waitroom/internal/pg"
	"waitroom/internal/process"
)

// ExpirerConfig are the settings of cmd/expirer.
type ExpirerConfig struct {
	Common
	NATSURL string        `env:"NATS_URL" required:"" help:"Where notices are published as hints. While it is down hints wait, and nothing else."`
	Every   time.Duration `env:"EXPIRE_EVERY" default:"200ms" help:"How often it looks for orders whose time to pay is over. Longer: seats come back later."`
	Batch   int           `env:"EXPIRE_BATCH" default:"200" help:"Orders ended in one transaction. More: their locks are held longer."`
}

// Validate refuses what could not work.
func (c ExpirerConfig) Validate() error {
	return errors.Join(
		process.Want(c.Every > 0 && c.Every <= time.Minute, "EXPIRE_EVERY %s: want up to 1m", c.Every),
		process.Want(c.Batch >= 1 && c.Batch <= 200, "EXPIRE_BATCH %d: want 1 to 200", c.Batch),
		c.Common.validate(),
	)
}

// Expirer ends unpaid orders, tells when an event's stock is exhausted, and relays
// the outbox. Any number may run: each
// order is ended by one of them, and one of them relays.
func Expirer(ctx context.Context, c ExpirerConfig) error {
	return process.Run(ctx, "expirer", c.Ops, c.logger("expirer"), c.setup)
}

func (c ExpirerConfig) setup(ctx context.Context, p *process.Process) error {
	pool, err := c.open(ctx, p, "orders", pg.Limits{Conns: 4})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, p, pool, pooled("orders", pool), pg.Use{Name: "relay", Conns: 1}); err != nil {
		return err
	}
	nc, err := notice.Connect(c.NATSURL, "waitroom expirer", p.Log)
	if err != nil {
		return err
	}
	p.OnClose("nats", func(context.Context) error { nc.Close(); return nil })
	p.Check("nats", time.Second, func(context.Context) error { return notClosed(nc) })
	relay := notice.NewRelay(pool, nc)
	p.OnClose("relay", func(ctx context.Context) error { relay.Close(ctx); return nil })

	m := newExpirerMetrics(p.Metrics)
	p.Every(c.Every, "expire", func(ctx context.Context) error { return expirePass(ctx, pool, c.Batch, m) })
	p.Every(time.Second, "stock", func(ctx context.Context) error {
		n, err := inventory.TellStock(ctx, pool)
		m.told.Add(float64(n))
		return err
	})
	p.Every(100*time.Millisecond, "relay", func(ctx context.Context) error { return relayPass(ctx, relay, m) })
	p.Every(time.Second, "figures", func(ctx context.Context) error { return m.read(ctx, pool) })
	figures := newWebhookFigures(p.Metrics) // also while no courier runs
	p.Every(5*time.Second, "webhook figures", func(ctx context.Context) error { return figures.read(ctx, pool) })
	c.listening("ops", p.OpsAddr())
	return nil
}

func expirePass(ctx context.Context, pool *pgxpool.Pool, batch int, m *expirerMetrics) error {
	n, err := orders.ExpireDue(ctx, pool, batch)
	m.expired.Add(float64(n))
	return err
}

func relayPass(ctx context.Context, relay *notice.Relay, m *expirerMetrics) error {
	for {
		did, err := relay.Step(ctx)
		m.addressed.Add(float64(did.Addressed))
		m.deliveries.Add(float64(did.Deliveries))
		m.relayed.Add(float64(did.Published))
		if did.Addressed == 0 && did.Published == 0 || err != nil && !errors.Is(err, notice.ErrNoHints) {
			return err
		}
	}
}

type expirerMetrics struct {
	expired, told, addressed, deliveries, relayed prometheus.Counter

	overdue, unrelayed, oldestUnrelayed, unaddressed, oldestUnaddressed prometheus.Gauge
}

func newExpirerMetrics(r prometheus.Registerer) *expirerMetrics {
	f := promauto.With(r)
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &expirerMetrics{
		expired:           counter("waitroom_orders_expired_total", "Orders that this process ended because they were not paid in time."),
		told:              counter("waitroom_stock_told_total", "Times that this process told that an event is exhausted, or open again."),
		addressed:         counter("waitroom_notices_addressed_total", "Notices whose deliveries this process wrote down."),
		deliveries:        counter("waitroom_deliveries_written_total", "Those deliveries."),
		relayed:           counter("waitroom_notices_relayed_total", "Notices that this process published as hints."),
		overdue:           gauge("waitroom_orders_overdue_seconds", "How long the longest overdue pending order is overdue."),
		unrelayed:         gauge("waitroom_notices_unrelayed", "Notices in the outbox that no hint was published of yet."),
		oldestUnrelayed:   gauge("waitroom_notices_oldest_unrelayed_seconds", "Age of the oldest of them."),
		unaddressed:       gauge("waitroom_notices_unaddressed", "Notices in the outbox whose deliveries are not written down yet."),
		oldestUnaddressed: gauge("waitroom_notices_oldest_unaddressed_seconds", "Age of the oldest of them. More than a few seconds: no organiser hears anything."),
	}
}

func (m *expirerMetrics) read(ctx context.Context, pool *pgxpool.Pool) error {
	overdue, errOverdue := orders.Overdue(ctx, pool)
	m.overdue.Set(overdue.Seconds())
	b, errBacklog := notice.ReadBacklog(ctx, pool)
	m.unrelayed.Set(float64(b.Unrelayed))
	m.oldestUnrelayed.Set(b.OldestUnrelayed.Seconds())
	m.unaddressed.Set(float64(b.Unaddressed))
	m.oldestUnaddressed.Set(b.OldestUnaddressed.Seconds())
	return errors.Join(errOverdue, errBacklog)
}
