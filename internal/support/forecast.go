package support

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// Backlog is what waits for its end, and what was measured lately.
type Backlog struct {
	Waiting  int           // operations without an end that the outlet still works on
	Due      int           // of them, those that wait for their turn now
	Oldest   time.Duration // the longest that any of them has waited
	DueFor   time.Duration // how long the outlet has had work without a pause
	Window   time.Duration // what the two counts were counted over
	Closed   int           // operations that came to an end, or are on their way at the provider
	Accepted int           // operations that came in
	// PerSecond is what the outlet can start at most, whatever the provider does.
	PerSecond float64
}

// The figures are counted over as long as the outlet has had work, for an idle
// one closes little and could close more: within these bounds.
const (
	shortestWindow = 10 * time.Second
	longestWindow  = 5 * time.Minute
	// enough is how long work has to wait before few closures say anything: one
	// call that is slow is no backlog.
	enough = time.Minute
)

// Forecast is when a backlog ends, if all goes on as measured.
type Forecast struct {
	Backlog
	ClosuresPerS float64
	InflowPerS   float64
	Clears       time.Duration // until nothing waits; of meaning only if Never is false
	Never        bool          // at this rate
	// Wait is how long one that is accepted now waits for its end. Of meaning
	// only if Endless is false.
	Wait    time.Duration
	Endless bool // nothing closes
	// Behind: one that is accepted now would break the promise.
	Behind bool
}

// Forecast judges a backlog by closures and not by sends: what is sent twice
// closes once.
func (b Backlog) Forecast() Forecast {
	f := Forecast{Backlog: b, ClosuresPerS: perSecond(b.Closed, b.Window), InflowPerS: perSecond(b.Accepted, b.Window)}
	f.Clears, f.Never = after(b.Waiting, f.ClosuresPerS-f.InflowPerS)
	f.Wait, f.Endless = after(b.Waiting, f.ClosuresPerS)
	if b.Due == 0 {
		return f // who waits, waits for an answer and not for a turn
	}
	best, _ := after(b.Waiting, b.PerSecond)
	f.Behind = b.Oldest > refunds.Promise || best > refunds.Promise ||
		b.DueFor >= enough && (f.Endless || f.Wait > refunds.Promise)
	return f
}

func perSecond(n int, window time.Duration) float64 {
	if window <= 0 {
		return 0
	}
	return float64(n) / window.Seconds()
}

// after is how long n take at that rate.
func after(n int, rate float64) (d time.Duration, never bool) {
	seconds := float64(n) / rate
	switch {
	case n == 0:
		return 0, false
	case rate <= 0 || seconds >= math.MaxInt64/float64(time.Second):
		return 0, true
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), false
}

// RetryAfter is when whoever is refused for the backlog may ask again: when one
// that is accepted could be kept, by what is known.
func (f Forecast) RetryAfter() time.Duration {
	if f.Endless {
		return time.Minute
	}
	return min(max(f.Wait-refunds.Promise, 30*time.Second), refunds.Promise)
}

// Forecast measures, and looks ahead.
func (d Desk) Forecast(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (Forecast, error) {
	b := Backlog{PerSecond: d.StartsPerS}
	var oldest, dueFor, window float64
	err := db.QueryRow(ctx, `
		WITH open AS (
		  SELECT accepted_at, next_at, call IS NULL AND next_at <= clock_timestamp() AND status <> 'submitted' AS due
		  FROM refund_operations WHERE ended_at IS NULL AND status IN ('queued', 'submitted', 'unknown')),
		waits AS (
		  SELECT count(*)::int AS n, (count(*) FILTER (WHERE due))::int AS due,
		    coalesce(extract(epoch FROM clock_timestamp() - min(accepted_at)), 0)::float8 AS oldest,
		    coalesce(extract(epoch FROM clock_timestamp() - min(greatest(next_at, accepted_at)) FILTER (WHERE due)), 0)::float8 AS due_for
		  FROM open),
		spans AS (
		  SELECT n, due, oldest, due_for,
		    CASE WHEN due = 0 THEN $2 ELSE least(greatest(due_for, $1), $2) END::float8 AS span
		  FROM waits)
		SELECT n, due, oldest, due_for, span,
		  (SELECT count(*) FROM refund_operations WHERE ended_at > clock_timestamp() - make_interval(secs => span))::int
		  + (SELECT count(*) FROM refund_operations
		     WHERE status = 'pending' AND accepted_at > clock_timestamp() - make_interval(secs => span))::int,
		  (SELECT count(*) FROM refund_operations WHERE accepted_at > clock_timestamp() - make_interval(secs => span))::int
		FROM spans`, shortestWindow.Seconds(), longestWindow.Seconds()).
		Scan(&b.Waiting, &b.Due, &oldest, &dueFor, &window, &b.Closed, &b.Accepted)
	if err != nil {
		return Forecast{}, fmt.Errorf("refund backlog: %w", err)
	}
	b.Oldest, b.DueFor, b.Window = inSeconds(oldest), inSeconds(dueFor), inSeconds(window)
	return b.Forecast(), nil
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
