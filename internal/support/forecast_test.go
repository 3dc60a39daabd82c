package support_test

import (
	"fmt"
	"testing"
	"time"

	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

// A backlog clears by what closes, less what comes in, and not by what is sent.
func TestForecast(t *testing.T) {
	const window = 100 * time.Second
	measured := func(waiting, closed, accepted int) support.Backlog {
		return support.Backlog{
			Waiting: waiting, Due: min(waiting, 1), Oldest: window, DueFor: window, Window: window,
			Closed: closed, Accepted: accepted, PerSecond: 5,
		}
	}
	young := measured(2000, 1, 2000)
	young.DueFor, young.Oldest, young.Window = 20*time.Second, 20*time.Second, 20*time.Second
	answering := measured(3, 0, 0)
	answering.Due = 0
	flood := young
	flood.Waiting = 5000
	old := measured(3, 500, 0)
	old.Oldest = refunds.Promise + time.Second
	for what, c := range map[string]struct {
		b      support.Backlog
		clears time.Duration
		never  bool
		behind bool
	}{
		"nothing waits":                        {support.Backlog{Window: window, PerSecond: 5}, 0, false, false},
		"one call a closure":                   {measured(240, 500, 200), 80 * time.Second, false, false},
		"two calls a closure":                  {measured(240, 250, 50), 120 * time.Second, false, false},
		"two calls a closure, two coming":      {measured(240, 250, 200), 480 * time.Second, false, false},
		"ten calls a second, two a closure":    {measured(600, 500, 300), 300 * time.Second, false, false},
		"more comes in than closes":            {measured(240, 100, 300), 0, true, false},
		"more waits than closes in time":       {measured(1000, 100, 0), 1000 * time.Second, false, true},
		"just in time":                         {measured(900, 100, 0), 900 * time.Second, false, false},
		"nothing closes":                       {measured(3, 0, 2), 0, true, true},
		"nothing closes, and nothing is due":   {answering, 0, true, false},
		"too young to be judged by closures":   {young, 0, true, false},
		"more than the outlet can ever start":  {flood, 0, true, true},
		"the promise is broken to the oldest":  {old, 600 * time.Millisecond, false, true},
		"a twentieth of a closure each second": {measured(40, 5, 0), 800 * time.Second, false, false},
	} {
		f := c.b.Forecast()
		if f.Never != c.never || f.Clears != c.clears || f.Behind != c.behind {
			t.Errorf("%s: clears in %s (never: %t), behind: %t; want %s (%t), %t", what, f.Clears, f.Never, f.Behind, c.clears, c.never, c.behind)
		}
		if again := f.RetryAfter(); again < 30*time.Second || again > refunds.Promise {
			t.Errorf("%s: asked again after %s", what, again)
		}
	}
}

// What is counted is what the rows say: who waits, who waits for a turn and how
// long, what closed while the outlet had work.
func TestTheBacklogIsCounted(t *testing.T) {
	c := open(t, 40)
	ids := make([]string, 4)
	for i := range ids {
		ids[i] = c.ask(c.sold(fmt.Sprint("ann", i), 1).wants(0)).Standing.ID
	}
	c.exec(`UPDATE refund_operations SET status = 'confirmed', provider_refund_id = id, ended_at = now() WHERE id = $1`, ids[0])
	c.exec(`UPDATE refund_operations SET next_at = now() + interval '1 hour' WHERE id = $1`, ids[1])
	c.exec(`UPDATE refund_operations SET accepted_at = now() - interval '4 minutes', next_at = now() - interval '3 minutes' WHERE id = ANY($1)`, ids[2:])
	f, err := c.Forecast(t.Context(), c.Pool)
	if err != nil {
		t.Fatal(err)
	}
	if f.Waiting != 3 || f.Due != 2 || f.Closed != 1 || f.Accepted != 2 || f.DueFor < 3*time.Minute || f.Oldest < 4*time.Minute ||
		f.Window < 3*time.Minute || f.Endless || f.Behind || f.ClosuresPerS <= 0 {
		t.Errorf("the forecast is %+v", f)
	}
	c.exec(`UPDATE refund_operations SET status = 'manual' WHERE status = 'queued'`)
	if f, err = c.Forecast(t.Context(), c.Pool); err != nil || f.Waiting != 0 || f.Clears != 0 || f.Window != 5*time.Minute {
		t.Errorf("what persons hold counts as waiting: %+v, %v", f, err)
	}
}
