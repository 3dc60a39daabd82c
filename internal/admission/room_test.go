package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// At most ten may be inside. Two hundred come; some check out, some cancel or do
// not pay, some close the browser and are inside as long as their pass runs,
// some give it back. A holder dies in between. Nobody is let in above ten, room
// that is made is used, and everybody gets in.
func TestNoMoreInsideThanTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, people = 10, 200
		w := newWorld(t, 20, 100_000)
		w.sale.MaxInside, w.sale.PassLife = most, 30*time.Second
		w.ended = map[int64]time.Time{}
		truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
		ctx, done := context.WithCancel(t.Context())
		defer done()
		store, cut := stalling(truth)
		first, _ := w.replica(t, store)
		lines := []*admission.Line{line(t, first)}
		second, _ := w.replica(t, truth)
		lines = append(lines, line(t, second))

		var worst, full int
		var others, fans sync.WaitGroup
		others.Go(func() {
			for wait(ctx, 20*time.Millisecond) == nil {
				n := w.inside()
				worst = max(worst, n)
				if n >= most-1 {
					full++
				}
			}
		})
		began := time.Now()
		for i := range people {
			fans.Go(func() {
				l := lines[i%2]
				k := ticket(t, l, join(t, l, i))
				var a admission.Answer
				for a.View != admission.ViewPassed {
					var err error
					if a, err = lines[rand.IntN(2)].Pass(ctx, k); ctx.Err() != nil {
						return
					}
					if err != nil || a.View != admission.ViewPassed {
						wait(ctx, max(a.RetryAfter, time.Millisecond)) //nolint:errcheck // the loop looks
					}
				}
				take := a.Admitted.Take
				wait(ctx, time.Second+rand.N(2*time.Second)) //nolint:errcheck // virtual
				switch i % 4 {
				case 0: // closes the browser
				case 1: // gives the pass back
					giveBack(ctx, t, l, a.Admitted)
				default: // orders, and pays or cancels
					w.set(func(w *world) {
						w.ended[take] = time.Time{}
						w.bought = append(w.bought, admission.Bought{Take: take, Tickets: 1, At: time.Now()})
					})
					wait(ctx, rand.N(40*time.Second)) //nolint:errcheck // virtual
					w.set(func(w *world) { w.ended[take] = time.Now() })
				}
			})
		}
		in := func() int { return len(w.after(0)) }
		eventually(t, "fifty are in", 10*time.Minute, func() bool { return in() >= 50 })
		cut.Store(true)
		wait(ctx, 10*time.Second) //nolint:errcheck // virtual
		cut.Store(false)
		eventually(t, "everybody is in", 30*time.Minute, func() bool { return in() == people })
		took := time.Since(began)
		fans.Wait()
		done()
		others.Wait()
		t.Logf("%d people within %s; at most %d inside, nearly full for %s", people, took, worst, time.Duration(full)*20*time.Millisecond)
		if worst > most {
			t.Errorf("%d people were inside, the cap is %d", worst, most)
		}
		if time.Duration(full)*20*time.Millisecond < took/2 {
			t.Errorf("nearly full for %s of %s: room was not used", time.Duration(full)*20*time.Millisecond, took)
		}
		w.checkPace(t)
	})
}

// How many are inside was never counted: nobody is let in, and it is said why.
// A cap that is lowered lets nobody in until enough have gone.
func TestUnknownRoomIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100_000)
		w.sale.MaxInside = 10
		w.ledgerDown = errDown
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l, _ := lines.Line(event)
		eventually(t, "the line is there", 5*time.Second, func() bool { l, _ = lines.Line(event); return l != nil })
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range 60 {
			fans.Go(func() { visit(ctx, w, []*admission.Line{l}, i) })
		}
		wait(ctx, 10*time.Second) //nolint:errcheck // virtual
		if n := len(w.takes); n > 0 {
			t.Errorf("%d people let in while nobody could count", n)
		}
		w.set(func(w *world) { w.ledgerDown = nil })
		eventually(t, "ten are in", 20*time.Second, func() bool { return len(w.after(0)) == 10 })
		w.set(func(w *world) { w.sale.MaxInside = 4 })
		eventually(t, "the cap is known", 5*time.Second, func() bool { return l.Sale().MaxInside == 4 })
		n := len(w.after(0))
		wait(ctx, 5*time.Second) //nolint:errcheck // virtual
		if now := len(w.after(0)); now > n+1 {
			t.Errorf("%d let in after the cap was lowered below who was inside", now-n)
		}
		done()
		fans.Wait()
	})
}

// Passes that were given back under a shorter life are not taken off the count
// once more when lives are made longer in mid-sale: the cap holds.
func TestTheCapHoldsWhenPassesLiveLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 10
		w := newWorld(t, 20, 100_000)
		w.sale.MaxInside, w.sale.PassLife = most, 30*time.Second
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		ctx, end := context.WithCancel(t.Context())
		in := make(chan admission.Pass, 6*most)
		var fans sync.WaitGroup
		for i := range cap(in) {
			k := ticket(t, l, join(t, l, i))
			fans.Go(func() {
				if a, err := comes(ctx, l, k); err == nil {
					in <- a.Admitted
				}
			})
		}
		for range most { // who is in first goes at once
			giveBack(ctx, t, l, <-in)
		}
		w.set(func(w *world) { w.sale.PassLife = 10 * time.Minute })
		worst := 0
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
			wait(ctx, 100*time.Millisecond) //nolint:errcheck // virtual
			worst = max(worst, w.inside())
		}
		if worst != most {
			t.Errorf("at most %d were inside, want the cap, %d", worst, most)
		}
		end()
		fans.Wait()
	})
}

// The room of those who gave their passes back is there for whoever releases
// next, however long ago they said so.
func TestRoomGivenBackOutlivesATakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 10
		w := newWorld(t, 20, 100_000)
		w.sale.MaxInside = most
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		first, stop := w.replica(t, store)
		l := line(t, first)
		second, _ := w.replica(t, store)
		next := line(t, second)
		for i := range most {
			a, err := comes(t.Context(), l, ticket(t, l, join(t, l, i)))
			if err != nil {
				t.Fatal(err)
			}
			giveBack(t.Context(), t, l, a.Admitted)
		}
		wait(t.Context(), factsForgotten) //nolint:errcheck // virtual
		stop()
		wait(t.Context(), 5*time.Second) //nolint:errcheck // virtual: the other has taken over
		began := time.Now()
		a, err := comes(t.Context(), next, ticket(t, next, join(t, next, most)))
		if err != nil || a.View != admission.ViewPassed {
			t.Fatal(a, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("nobody is inside, and the next waited for %s after the take-over", took)
		}
	})
}

// factsForgotten is longer than any replica reports what it saw.
const factsForgotten = 40 * time.Second

// A pass that cannot be written down as given back is not: its holder is told so,
// it counts, and may be given back again.
func TestWhatIsNotWrittenIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100_000)
		w.sale.MaxInside = 1
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		a, err := comes(t.Context(), l, ticket(t, l, join(t, l, 0)))
		if err != nil {
			t.Fatal(err)
		}
		w.set(func(w *world) { w.ledgerDown = errDown })
		if err := l.Gone(t.Context(), a.Admitted); !errors.Is(err, admission.ErrDoubt) {
			t.Errorf("while the ledger is away the answer is %v, want doubt", err)
		}
		w.set(func(w *world) { w.ledgerDown = nil })
		k := ticket(t, l, join(t, l, 1))
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if b, err := l.Pass(t.Context(), k); err == nil && b.View == admission.ViewPassed {
				t.Fatal("somebody was let in for a pass that was not given back")
			}
			wait(t.Context(), time.Second) //nolint:errcheck // virtual
		}
		for range 2 {
			giveBack(t.Context(), t, l, a.Admitted)
		}
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if b, err := comes(ctx, l, k); err != nil || b.View != admission.ViewPassed {
			t.Errorf("a minute after it was given back the next has %v, %v", b.View, err)
		}
	})
}

// capped is a line of one replica that lets so many be inside at once.
func capped(t *testing.T, rate float64, most int64) (*world, *admission.Line) {
	t.Helper()
	w := newWorld(t, rate, 1_000_000)
	w.sale.MaxInside = most
	lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
	return w, line(t, lines)
}

// What bounds how many come in is named, also when it is the cap on people inside.
func TestTheCapIsNamedWhereItLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, people = 100, 300
		w, l := capped(t, 5, most)
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range people {
			k := ticket(t, l, join(t, l, i))
			fans.Go(func() { comes(ctx, l, k) }) //nolint:errcheck // until the end
		}
		says := func() string {
			t.Helper()
			var d struct {
				Capacity struct {
					By string `json:"limited_by"`
				}
			}
			if err := json.Unmarshal(l.Status().Body, &d); err != nil {
				t.Fatal(err)
			}
			return d.Capacity.By
		}
		wait(ctx, 8*time.Second) //nolint:errcheck // virtual
		if by := says(); by != "organiser" {
			t.Errorf("with room for most of them, %q limits, want organiser", by)
		}
		wait(ctx, time.Minute) //nolint:errcheck // virtual
		if by, n := says(), w.inside(); by != "inside" || n != most {
			t.Errorf("with %d inside, %q limits, want inside", n, by)
		}
		w.set(func(w *world) { w.sale.MaxInside = 0 })
		wait(ctx, 5*time.Second) //nolint:errcheck // virtual
		if by := says(); by != "organiser" {
			t.Errorf("without a cap, %q limits, want organiser", by)
		}
		done()
		fans.Wait()
	})
}
