package admission_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// course watches what a line says, ten times a second.
type course struct {
	states []admission.SaleState
	turns  []time.Time // when the state moved
	front  int64
	fell   bool
	rates  map[float64]bool
}

func (c *course) watch(ctx context.Context, l *admission.Line) {
	c.rates = map[float64]bool{}
	for wait(ctx, 100*time.Millisecond) == nil {
		s := l.Standing()
		if s.State == admission.OnDoubt { // before anything is known
			continue
		}
		if n := len(c.states); n == 0 || c.states[n-1] != s.State {
			c.states, c.turns = append(c.states, s.State), append(c.turns, s.At)
		}
		c.fell, c.front = c.fell || s.Front < c.front, max(c.front, s.Front)
		c.rates[s.Figures.Rate] = true
	}
}

// steady: within 10 s the state changes its direction at most once, which takes
// two moves.
func (c *course) steady(t *testing.T) {
	t.Helper()
	for i := 3; i < len(c.turns); i++ { // the first is where it began
		if d := c.turns[i].Sub(c.turns[i-2]); d < 10*time.Second-time.Second/5 {
			t.Errorf("the state was %v, two changes of direction within %s", c.states[i-3:i+1], d)
		}
	}
	if c.fell {
		t.Error("the front fell")
	}
	if len(c.rates) != 1 {
		t.Errorf("%d rates were in force, want one: %v", len(c.rates), c.rates)
	}
}

// inverted is the share of pairs who were let in against the order of the line.
func inverted(takes []admission.Entry) float64 {
	slices.SortFunc(takes, func(a, b admission.Entry) int { return int(a.Take - b.Take) })
	pairs := 0
	for i := range takes {
		for _, before := range takes[:i] {
			if before.Place > takes[i].Place {
				pairs++
			}
		}
	}
	return float64(pairs) / float64(len(takes)*(len(takes)-1)/2)
}

// Five thousand orders are not paid and expire within 100 s. Some notices of it
// come twice, some never; the recount sees the seats all the same. They are sold
// again to whoever stands in the line, at the pace, in order, without the sale
// opening and closing all the time.
func TestSecondWave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seats, rate, fansThere = 5000, 60, 7000
		w := newWorld(t, rate, 0)
		w.pending = seats
		begin := time.Now().Add(30 * time.Second)
		for range seats {
			w.payBy = append(w.payBy, begin.Add(rand.N(100*time.Second)))
		}
		lapses := slices.Clone(w.payBy)
		slices.SortFunc(lapses, time.Time.Compare)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var lines []*admission.Line
		for range 3 {
			ls, _ := w.replica(t, store)
			lines = append(lines, line(t, ls))
		}
		ctx, done := context.WithCancel(t.Context())
		var seen course
		var others, fans sync.WaitGroup
		others.Go(func() { seen.watch(ctx, lines[0]) })
		others.Go(func() {
			for _, at := range lapses {
				if wait(ctx, time.Until(at)) != nil {
					return
				}
				for range rand.IntN(3) { // lost, told, told twice
					lines[rand.IntN(3)].StockChanged()
				}
			}
		})
		for i := range fansThere {
			fans.Go(func() { visit(ctx, w, lines, i) })
		}
		sold := func() (n int64) { w.set(func(w *world) { n = w.sold }); return n }
		eventually(t, "the wave begins", time.Minute, func() bool { return time.Now().After(begin) })
		eventually(t, "95 % is sold again", 240*time.Second, func() bool { return sold() >= seats*95/100 })
		most := time.Since(begin)
		eventually(t, "the last seat is sold again", 240*time.Second, func() bool { return sold() == seats })
		all := time.Since(begin)
		done()
		fans.Wait()
		others.Wait()
		takes := w.after(0)
		share := inverted(takes)
		t.Logf("95 %% sold again after %s, all after %s; %d let in, %.2f %% of pairs against the order; states %v", most, all, len(takes), 100*share, seen.states)
		if share > 0.05 {
			t.Errorf("%.1f %% of pairs were let in against the order, want at most 5 %%", 100*share)
		}
		seen.steady(t)
		w.checkPace(t)
	})
}

// Seats that come back one by one, each sold at once, do not make the sale open
// and exhaust every few seconds; and each is sold all the same.
func TestTrickleDoesNotFlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 0)
		w.think, w.sold = 300*time.Millisecond, 100
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		ls, _ := w.replica(t, store)
		l := line(t, ls)
		ctx, done := context.WithCancel(t.Context())
		var seen course
		var others, fans sync.WaitGroup
		others.Go(func() { seen.watch(ctx, l) })
		for i := range 1500 {
			fans.Go(func() { visit(ctx, w, []*admission.Line{l}, i) })
		}
		const back = 40
		for range back {
			w.set(func(w *world) { w.free, w.sold = w.free+1, w.sold-1 })
			l.StockChanged()
			wait(ctx, 6*time.Second+rand.N(3*time.Second)) //nolint:errcheck // virtual
		}
		eventually(t, "each seat is sold again", time.Minute, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.free == 0
		})
		done()
		fans.Wait()
		others.Wait()
		t.Logf("%d seats came back one by one; the state moved %d times", back, len(seen.turns))
		seen.steady(t)
		w.checkPace(t)
	})
}
