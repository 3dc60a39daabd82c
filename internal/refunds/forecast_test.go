package refunds_test

import (
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// A backlog clears by what closes, less what comes in, and not by what is sent.
func TestABacklogClearsByWhatCloses(t *testing.T) {
	const window = 100 * time.Second
	busy := func(waiting, closed, accepted int) refunds.Backlog {
		return refunds.Backlog{
			Waiting: waiting, Due: waiting, Oldest: window, DueFor: window, Window: window, Working: window,
			Closed: closed, Accepted: accepted, Started: 500, PerSecond: 5,
		}
	}
	young, old := busy(50, 1, 20), busy(3, 500, 0)
	young.DueFor, young.Window, young.Started = 2*time.Second, 10*time.Second, 2
	old.Oldest = refunds.Promise + time.Second
	away, long, back := busy(30, 0, 5), busy(30, 0, 5), busy(30, 2, 5)
	away.Started, away.Working = 0, 0
	long.Started, long.Working, long.Oldest = 0, 0, refunds.Promise+time.Second
	back.Started, back.Working = 2, time.Second
	for what, c := range map[string]struct {
		b               refunds.Backlog
		clears          time.Duration
		endless, behind bool
	}{
		"nothing waits":                       {refunds.Backlog{Window: window, PerSecond: 5}, 0, false, false},
		"one call a closure":                  {busy(240, 500, 200), 80 * time.Second, false, false},
		"two calls a closure":                 {busy(240, 250, 200), 480 * time.Second, false, false},
		"ten calls a second, two a closure":   {busy(600, 500, 300), 300 * time.Second, false, false},
		"more comes in than closes":           {busy(100, 250, 300), 0, true, false},
		"more waits than closes in time":      {busy(1000, 100, 0), 1000 * time.Second, false, true},
		"five calls a second, and no closure": {busy(3, 0, 0), 0, true, true},
		"too young to be judged by closures":  {young, 100 * time.Second, false, false},
		"the promise is broken to the oldest": {old, 600 * time.Millisecond, false, true},
		"nobody has the outlet":               {away, 6100 * time.Millisecond, false, false},
		"nobody has had it for too long":      {long, 6100 * time.Millisecond, false, true},
		"it has just been taken again":        {back, 6100 * time.Millisecond, false, false},
	} {
		f := c.b.Forecast()
		if f.Clears.Round(100*time.Millisecond) != c.clears || f.Endless != c.endless || f.Behind != c.behind {
			t.Errorf("%s: clears in %s (endless %t), behind %t; want %s (%t), %t", what, f.Clears, f.Endless, f.Behind, c.clears, c.endless, c.behind)
		}
		if again := f.RetryAfter(); again < 30*time.Second || again > refunds.Promise {
			t.Errorf("%s: to ask again after %s", what, again)
		}
	}
}

// What is counted is what the rows say.
func TestTheBacklogIsCounted(t *testing.T) {
	d := openDesk(t)
	for _, who := range []string{"ann", "ben", "cleo", "dan"} {
		d.owed(who)
	}
	d.answer(yes("re_1"))
	d.answer(says(refunds.TimedOut))
	d.exec(`UPDATE refund_operations SET next_at = now() + interval '1 hour' WHERE status = 'unknown'`)
	d.exec(`UPDATE refund_operations SET accepted_at = now() - interval '4 minutes', give_up_at = now() + interval '11 minutes', next_at = now() - interval '3 minutes' WHERE status = 'queued'`)
	b, err := refunds.ReadBacklog(t.Context(), d.Pool, 5)
	if err != nil {
		t.Fatal(err)
	}
	if b.Waiting != 3 || b.Working > time.Minute || b.Due != 2 || b.Closed != 1 || b.Started != 2 || b.Accepted != 2 || b.DueFor < 3*time.Minute || b.Oldest < 4*time.Minute {
		t.Errorf("the backlog is %+v", b)
	}
	if f := b.Forecast(); f.Measured || math.Abs(f.ClosuresPerS-2.5) > 1e-6 || f.Behind {
		t.Errorf("the forecast is %+v", f)
	}
	d.exec(`UPDATE refund_operations SET status = 'manual' WHERE status IN ('queued', 'unknown')`)
	if b, err = refunds.ReadBacklog(t.Context(), d.Pool, 5); err != nil || b.Waiting != 0 || b.Window != refunds.LongestWindow {
		t.Errorf("what persons hold waits for the outlet: %+v, %v", b, err)
	}
}

// An old operation that a person pushes is promised anew: it is no backlog, and
// stops nobody's refunds.
func TestAPushIsNoBacklog(t *testing.T) {
	d := openDesk(t)
	id := d.owed("ann")
	d.answer(says(refunds.OtherParameters))
	d.exec(`UPDATE refund_operations SET accepted_at = now() - interval '1 day', give_up_at = now() - interval '23 hours' WHERE id = $1`, id)
	d.tx(func(tx pgx.Tx) error {
		v, err := refunds.Push(t.Context(), tx, id, "mia", "again")
		if v != refunds.Done {
			t.Errorf("pushed: %s", v)
		}
		return err
	})
	b, err := refunds.ReadBacklog(t.Context(), d.Pool, 5)
	if f := b.Forecast(); err != nil || b.Waiting != 1 || f.Behind {
		t.Errorf("one pushed operation: %+v, behind %t, %v", b, f.Behind, err)
	}
	d.exec(`UPDATE refund_operations SET give_up_at = now() - interval '1 second' WHERE id = $1`, id)
	if b, err = refunds.ReadBacklog(t.Context(), d.Pool, 5); err != nil || !b.Forecast().Behind {
		t.Errorf("the promise of the push is over: %+v, %v; want it behind", b, err)
	}
}

// While a refunder is deployed nothing is begun: that says nothing of how fast it is.
// Nobody's refund is refused for it before the promise of the oldest is over, and
// then for a short while.
func TestAnOutletThatIsAwayIsNotSlow(t *testing.T) {
	d := openDesk(t)
	for _, who := range []string{"ann", "ben", "cleo"} {
		order, _, seats := d.paid(who, 1)
		d.request(order, seats[0])
	}
	waited := func(since time.Duration) refunds.Forecast {
		t.Helper()
		d.exec(`UPDATE refund_operations SET next_at = now() - $1::interval, accepted_at = now() - $1::interval, give_up_at = now() - $1::interval + $2::interval`,
			since, refunds.Promise)
		b, err := refunds.ReadBacklog(t.Context(), d.Pool, 5)
		if err != nil {
			t.Fatal(err)
		}
		return b.Forecast()
	}
	for _, since := range []time.Duration{31 * time.Second, 10 * time.Minute} {
		if f := waited(since); !f.Away || f.Behind {
			t.Errorf("three wait for %s, and nothing was begun: away %t, behind %t: %+v", since, f.Away, f.Behind, f)
		}
	}
	if f := waited(refunds.Promise + time.Minute); !f.Behind || f.RetryAfter() > time.Minute {
		t.Errorf("three are past their promise: behind %t, to ask again after %s", f.Behind, f.RetryAfter())
	}
}
