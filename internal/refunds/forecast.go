package refunds

import (
	"context"
	"fmt"
	"math"
	"time"
)

// Backlog is what waits for the outlet, and what happened lately: the ground of
// a forecast. What the provider has, and what persons hold, does not wait.
type Backlog struct {
	Waiting   int           // operations without an end
	Due       int           // of these, those whose next call could be made now
	Oldest    time.Duration // since the oldest was promised: its acceptance, or a person's last push
	DueFor    time.Duration // since when the oldest due one has been: the outlet has had work for so long
	Window    time.Duration // over which the next three were counted
	Accepted  int
	Closed    int           // came to an end, to the provider, or to a person
	Started   int           // calls
	Working   time.Duration // since the first of these calls
	PerSecond float64       // calls that may start in a second
}

// LongestWindow is how far back a forecast looks.
const LongestWindow = 5 * time.Minute

// soonest is how long the outlet must have had work for its closures to tell
// what it can do.
const soonest = 30 * time.Second

// Forecast says when a backlog is over.
type Forecast struct {
	Backlog
	ClosuresPerS float64
	Measured     bool // ClosuresPerS was: else there was nothing to do, or nobody to do it, and it is what the quota allows
	Away         bool // there was work, and no call was begun: nobody has the outlet, or it has just been taken
	ArrivalsPerS float64
	StartsPerS   float64
	PerRefund    float64       // calls for each closure
	Clears       time.Duration // until nothing waits, if it goes on like this
	Endless      bool          // it never does: more comes in than closes
	Behind       bool          // what comes now would not have its end within the promise
}

// Forecast looks ahead. What counts is closures, not calls: an outlet that makes
// its five calls a second and closes nothing clears no backlog. An outlet that
// had nothing to do is taken for as good as its quota, at the calls that a
// refund has lately taken. So is one that is away, while a refunder is deployed
// say: that says nothing of how fast it is, and what waits is judged by its oldest.
func (b Backlog) Forecast() Forecast {
	f := Forecast{Backlog: b, PerRefund: 1}
	seconds := max(b.Window, time.Second).Seconds()
	f.Away = b.Due > 0 && b.DueFor >= soonest && b.Started == 0
	f.ArrivalsPerS, f.StartsPerS = float64(b.Accepted)/seconds, float64(b.Started)/seconds
	if b.Closed > 0 {
		f.PerRefund = math.Max(1, float64(b.Started)/float64(b.Closed))
	}
	f.ClosuresPerS = b.PerSecond / f.PerRefund
	if f.Measured = b.Due > 0 && min(b.DueFor, b.Working) >= soonest; f.Measured {
		f.ClosuresPerS = float64(b.Closed) / min(seconds, b.Working.Seconds())
	}
	if b.Waiting == 0 {
		return f
	}
	net := f.ClosuresPerS - f.ArrivalsPerS
	if f.Endless = net <= 0; !f.Endless {
		f.Clears = after(b.Waiting, net)
	}
	f.Behind = f.ClosuresPerS <= 0 || after(b.Waiting, f.ClosuresPerS) > Promise || b.Oldest > Promise
	return f
}

// RetryAfter is when somebody whose request is refused may ask again. An outlet that
// is away is soon there again.
func (f Forecast) RetryAfter() time.Duration {
	if f.Away {
		return soonest
	}
	again := Promise
	if f.ClosuresPerS > 0 {
		again = after(f.Waiting, f.ClosuresPerS) - Promise
	}
	return min(max(again, 30*time.Second), Promise).Round(time.Second)
}

// after is the time to close n at so many a second, at most a year.
func after(n int, perSecond float64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(math.Min(float64(n)/perSecond, year) * float64(time.Second))
}

// ReadBacklog counts. The window is as long as the outlet has had work without a
// break, as far as its oldest due operation tells; idle, it is the longest.
func ReadBacklog(ctx context.Context, db reader, perSecond float64) (Backlog, error) {
	b := Backlog{PerSecond: perSecond}
	var oldest, dueFor, window, working float64
	err := db.QueryRow(ctx, `
		WITH open AS (
		  SELECT give_up_at - $2::interval AS promised_at, next_at, call IS NOT NULL OR next_at <= clock_timestamp() AS due FROM refund_operations
		  WHERE status IN ('queued', 'submitted', 'unknown') AND ended_at IS NULL),
		ages AS (
		  SELECT count(*) AS waiting, count(*) FILTER (WHERE due) AS due,
		    coalesce(extract(epoch FROM clock_timestamp() - min(promised_at)), 0)::float8 AS oldest,
		    coalesce(extract(epoch FROM clock_timestamp() - min(next_at) FILTER (WHERE due)), 0)::float8 AS due_for
		  FROM open),
		lately AS (
		  SELECT CASE WHEN due = 0 THEN $1 ELSE least(greatest(due_for, 1), $1) END::float8 AS seconds FROM ages),
		since AS (SELECT clock_timestamp() - seconds * interval '1 second' AS at FROM lately)
		SELECT ages.waiting, ages.due, ages.oldest, ages.due_for, lately.seconds,
		  (SELECT count(*) FROM refund_operations f WHERE f.accepted_at > since.at),
		  (SELECT count(*) FROM refund_changes c WHERE c.at > since.at AND c.from_status IN ('queued', 'submitted', 'unknown')
		    AND c.to_status IN ('pending', 'confirmed', 'rejected', 'failed_later', 'manual')),
		  calls.n, coalesce(extract(epoch FROM clock_timestamp() - calls.first), 0)::float8
		FROM ages, lately, since CROSS JOIN LATERAL (
		  SELECT count(*) AS n, min(c.submitted_at) AS first FROM refund_calls c WHERE c.submitted_at > since.at AND c.kind <> 'late') calls`, LongestWindow.Seconds(), Promise).
		Scan(&b.Waiting, &b.Due, &oldest, &dueFor, &window, &b.Accepted, &b.Closed, &b.Started, &working)
	if err != nil {
		return Backlog{}, fmt.Errorf("refund backlog: %w", err)
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	b.Oldest, b.DueFor, b.Window, b.Working = seconds(oldest), seconds(dueFor), seconds(window), seconds(working)
	return b, nil
}
