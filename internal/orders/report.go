package orders

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
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
	answered        time.Time              // the last answer
	failed, failing time.Time              // the last call without one; and when the first of these began, after the last answer
	refusing        time.Time              // when the first refusal began, after the last opening
	refused         map[uuid.UUID]struct{} // whose openings were refused since then; refusedOrders at most
}

// Watch counts what the provider answers.
func Watch(provider Provider, metrics prometheus.Registerer) *Watched {
	return &Watched{
		provider: provider, since: time.Now(),
		calls: promauto.With(metrics).NewCounterVec(prometheus.CounterOpts{
			Name: "waitroom_payment_provider_calls_total", Help: "Calls to the provider that open a payment, by whether it answered; refused: with a no.",
		}, []string{"outcome"}),
	}
}

// OpenPayment asks the provider. A refusal is an answer, until there is nothing else. What says nothing of how
// the provider is now does not count: that nothing was asked, that we gave up, an
// old failure that is told again, a call that is under way. Counted as failures,
// those would close the door of a quiet sale; as answers, keep one open in which
// nobody can pay.
func (w *Watched) OpenPayment(ctx context.Context, p NewPayment) (AtProvider, error) {
	began := time.Now()
	at, err := w.provider.OpenPayment(ctx, p)
	switch {
	case at.Throttled || at.Kept || at.UnderWay || errors.Is(ctx.Err(), context.Canceled):
	case err == nil && at.Refused:
		w.sawRefusal(p.Order, began, time.Now())
	default:
		w.saw(err == nil, began, time.Now())
	}
	return at, err
}

// One order may be refused for what it is. When for refusedFor nothing but refusals
// came, of refusedOrders orders at least, it is the account (its method is switched
// off, or takes no such currency): nobody can pay, as if there were no answer.
const (
	refusedFor    = 10 * time.Second
	refusedOrders = 5
)

func (w *Watched) sawRefusal(order uuid.UUID, began, now time.Time) {
	w.calls.WithLabelValues("refused").Inc()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == nil {
		w.refusing, w.refused = began, map[uuid.UUID]struct{}{}
	}
	if len(w.refused) < refusedOrders {
		w.refused[order] = struct{}{}
	}
	w.count(len(w.refused) < refusedOrders || now.Sub(w.refusing) < refusedFor, began, now)
}

func (w *Watched) saw(answer bool, began, now time.Time) {
	w.calls.WithLabelValues(map[bool]string{true: "answered", false: "failed"}[answer]).Inc()
	w.mu.Lock()
	defer w.mu.Unlock()
	if answer {
		w.refused = nil
	}
	w.count(answer, began, now)
}

// count is under the lock.
func (w *Watched) count(answer bool, began, now time.Time) {
	w.sent++
	if answer {
		w.answered, w.failing = now, time.Time{}
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
	return nil
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
	age := func(at time.Time) *time.Duration {
		if at.IsZero() {
			return nil
		}
		d := now.Sub(at)
		return &d
	}
	return calls, failures, age(w.answered), age(w.failed), age(w.failing)
}
