package orders

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Watched is a provider whose answers are counted and reported, so that nobody
// is let in to a sale in which nobody can pay.
type Watched struct {
	provider Provider
	calls    *prometheus.CounterVec

	mu              sync.Mutex
	since           time.Time // when these began to count
	sent, failures  int
	answered        time.Time            // the last answer
	failed, failing time.Time            // the last call without one; and when the first of these began, after the last answer
	openings        map[string]*openings // of the events of which payments were asked for lately
}

// Watch counts what the provider answers.
func Watch(provider Provider, metrics prometheus.Registerer) *Watched {
	return &Watched{
		provider: provider, since: time.Now(), openings: map[string]*openings{},
		calls: promauto.With(metrics).NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_payment_provider_calls_total", Help: "Calls to the provider that open a payment, by event and whether it answered; refused: with a no.",
		}, []string{"event", "outcome"}),
	}
}

// OpenPayment asks the provider. A refusal is an answer, and its event's (see openings). What says nothing of how
// the provider is now does not count: that nothing was asked, that we gave up, an
// old failure that is told again, a call that is under way. Counted as failures,
// those would close the door of a quiet sale; as answers, keep one open in which
// nobody can pay.
func (w *Watched) OpenPayment(ctx context.Context, p NewPayment) (AtProvider, error) {
	began := time.Now()
	at, err := w.provider.OpenPayment(ctx, p)
	switch {
	case at.Throttled || at.Kept || at.UnderWay || errors.Is(ctx.Err(), context.Canceled):
	case err != nil:
		w.saw("failed", p, began, time.Now())
	case at.Refused:
		w.saw("refused", p, began, time.Now())
	default:
		w.saw("answered", p, began, time.Now())
	}
	return at, err
}

func (w *Watched) saw(outcome string, p NewPayment, began, now time.Time) {
	w.calls.WithLabelValues(p.Event, outcome).Inc()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent++
	if outcome != "failed" {
		w.answered, w.failing = now, time.Time{}
		w.of(p.Event).saw(outcome == "refused", p.Order, began, now)
		return
	}
	w.failures++
	w.failed = now
	if w.failing.IsZero() {
		w.failing = began
	}
	if w.failing.Before(w.answered) { // others were answered while it waited
		w.failing = w.answered
	}
}

// Report writes what was seen since the last report. It is called once a
// second, also when there is nothing to do. A replica's last report stays when
// it ends: that nobody opens payments any more has to be seen. What has not
// reported for an hour is forgotten by the others.
func (w *Watched) Report(ctx context.Context, pool *pgxpool.Pool, replica string) error {
	calls, failures, answered, failed, failing := w.lately(time.Now())
	_, err := pool.Exec(ctx, `
		WITH forgotten AS (
		  DELETE FROM payment_reports WHERE replica <> $1 AND at < clock_timestamp() - interval '1 hour'
		)
		INSERT INTO payment_reports (replica, at, calls_per_s, failures_per_s, answered_at, failed_at, failing_since)
		VALUES ($1, clock_timestamp(), $2, $3, clock_timestamp() - $4::interval,
		  clock_timestamp() - $5::interval, clock_timestamp() - $6::interval)
		ON CONFLICT (replica) DO UPDATE SET at = excluded.at, calls_per_s = excluded.calls_per_s,
		  failures_per_s = excluded.failures_per_s, answered_at = excluded.answered_at,
		  failed_at = excluded.failed_at, failing_since = excluded.failing_since`,
		replica, calls, failures, answered, failed, failing)
	if err != nil {
		return fmt.Errorf("payment report of %s: %w", replica, err)
	}
	return w.reportOpenings(ctx, pool, replica)
}

// lately sums up since the last time, and begins anew; times are ages, nil if
// it never was.
func (w *Watched) lately(now time.Time) (calls, failures float64, answered, failed, failing *time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seconds := now.Sub(w.since).Seconds(); seconds > 0 {
		calls, failures = float64(w.sent)/seconds, float64(w.failures)/seconds
	}
	w.since, w.sent, w.failures = now, 0, 0
	return calls, failures, age(now, w.answered), age(now, w.failed), age(now, w.failing)
}

func age(now, at time.Time) *time.Duration {
	if at.IsZero() {
		return nil
	}
	d := now.Sub(at)
	return &d
}
