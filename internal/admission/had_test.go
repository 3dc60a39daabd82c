package admission_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// failing is a store whose reads of places, and writings of passes, can be made to
// fail at once, and whose doors' times can be another clock's.
type failing struct {
	admission.Store
	places, passes atomic.Bool
	reads          atomic.Int64
	ahead          time.Duration // of the holder's clock
}

func (f *failing) Place(ctx context.Context, event string, epoch int64, holder string) (admission.Place, error) {
	f.reads.Add(1)
	if f.places.Load() {
		return admission.Place{}, errDown
	}
	return f.Store.Place(ctx, event, epoch, holder)
}

func (f *failing) Pass(ctx context.Context, p admission.Place) (admission.Place, error) {
	if f.passes.Load() {
		return admission.Place{}, errDown
	}
	return f.Store.Pass(ctx, p)
}

func (f *failing) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	r.At = r.At.Add(f.ahead)
	return f.Store.Refill(ctx, r)
}

func newFailing() *failing { return &failing{Store: newMemory(time.Millisecond, 8*time.Millisecond)} }

// The ledger is away for longer than a pass is good, as people are let in: nobody had
// a pass of those that could not be written, and everybody gets one.
func TestNobodyLosesAPlaceToALedgerThatIsAwayForLongerThanAPass(t *testing.T) {
	for _, life := range []time.Duration{10 * time.Second, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 10, 5000)
			w.sale.PassLife = life
			lines, _ := w.replica(t, newFailing())
			l := line(t, lines)
			keys := make([]admission.Ticket, 20)
			for i := range keys {
				keys[i] = ticket(t, l, join(t, l, i))
			}
			w.set(func(w *world) { w.ledgerDown = errDown })
			ctx, done := context.WithTimeout(t.Context(), life+time.Minute)
			defer done()
			time.AfterFunc(life+5*time.Second, func() { w.set(func(w *world) { w.ledgerDown = nil }) })
			crowd(t, len(keys), func(i int) {
				a, err := comes(ctx, l, keys[i])
				if err != nil || a.View != admission.ViewPassed || !time.Now().Before(a.Admitted.ExpiresAt) {
					t.Errorf("pass life %s, number %d: %s until %s (%v), want a pass that is good", life, i, a.View, a.Admitted.ExpiresAt, err)
				}
			})
			w.checkPace(t)
		})
	}
}

// The same with a line's store that takes no passes; and whoever joins again instead
// of waiting has the place that they had.
func TestNobodyLosesAPlaceToAStoreThatIsAwayForLongerThanAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		w.sale.PassLife = 10 * time.Second
		store := newFailing()
		lines, _ := w.replica(t, store)
		l := line(t, lines)
		k := ticket(t, l, join(t, l, 0))
		store.passes.Store(true)
		time.AfterFunc(15*time.Second, func() { store.passes.Store(false) })
		a, err := comes(t.Context(), l, k)
		if err != nil || a.View != admission.ViewPassed || a.Admitted.Take != 1 {
			t.Fatalf("%s by take %d (%v), want a pass by the credit that was taken, 1", a.View, a.Admitted.Take, err)
		}

		k = ticket(t, l, join(t, l, 1))
		w.set(func(w *world) { w.ledgerDown = errDown })
		ctx, done := context.WithTimeout(t.Context(), 12*time.Second)
		defer done()
		comes(ctx, l, k) //nolint:errcheck // nobody is let in
		w.set(func(w *world) { w.ledgerDown = nil })
		if again := ticket(t, l, join(t, l, 1)); again.Number != k.Number {
			t.Errorf("joined again: number %d, want %d, whose pass nobody had", again.Number, k.Number)
		}
		if a, err := comes(t.Context(), l, k); err != nil || a.View != admission.ViewPassed {
			t.Errorf("%s (%v), want a pass", a.View, err)
		}
	})
}

// After a loss of the line's store the tickets of places that were given up are places
// again, and their holder has one pass at a time.
func TestAHolderHasOnePassAtATimeAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		w.sale.OpensAt = time.Now().Add(20 * time.Second)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		lines, _ := w.replica(t, store)
		l := line(t, lines)
		var had []admission.Ticket
		for range 5 {
			k := ticket(t, l, join(t, l, 0))
			if had = append(had, k); len(had) == 5 {
				break
			}
			if _, err := l.Leave(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		advance(t, 3*time.Second)
		store.lose()
		advance(t, 30*time.Second)
		var good atomic.Int64
		crowd(t, len(had), func(i int) { // at once, and in turn
			ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
			defer done()
			if a, err := comes(ctx, l, had[i]); err == nil && a.View == admission.ViewPassed {
				good.Add(1)
			}
		})
		for _, k := range had {
			ctx, done := context.WithTimeout(t.Context(), 5*time.Second)
			comes(ctx, l, k) //nolint:errcheck // counted below
			done()
		}
		if written := len(w.after(0)); good.Load() != 1 || written != 1 {
			t.Errorf("%d passes were had at once and %d were written, want 1", good.Load(), written)
		}
	})
}

// A replica that began since cannot tell since when a place is called, and promises no
// time that others would not keep.
func TestTheTimeThatIsLeftIsTrueAtEveryReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		first, _ := w.replica(t, store)
		l := line(t, first)
		k := ticket(t, l, join(t, l, 0))
		advance(t, w.sale.CallWindow-20*time.Second)
		second, _ := w.replica(t, store)
		m := line(t, second)
		advance(t, 3*time.Second)
		told, err := m.Me(t.Context(), k)
		if err != nil || told.View != admission.ViewCalled || told.Late {
			t.Fatalf("%s, late: %t (%v); want it called, and in time", told.View, told.Late, err)
		}
		advance(t, told.Left)
		if p, err := l.Me(t.Context(), k); err != nil || p.Late {
			t.Errorf("told by one that it is in time for %s more; then another says late (%v)", told.Left, err)
		}
	})
}

// A fan who is called, and stands at no door for a store that does not answer, asks
// it no more often than one who is held.
func TestAStoreThatIsAwayIsNotAskedAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		store := newFailing()
		lines, _ := w.replica(t, store)
		l := line(t, lines)
		k := ticket(t, l, join(t, l, 0))
		advance(t, 3*time.Second)
		store.places.Store(true)
		before := store.reads.Load()
		ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
		defer done()
		comes(ctx, l, k) //nolint:errcheck // nobody is let in
		if n := store.reads.Load() - before; n < 5 || n > 11 {
			t.Errorf("one fan read the store %d times in 20 s, want one in %s and a little", n, admission.HoldFor)
		}
	})
}

// What a replica owes it tries for as long as it says, however the clock is wrong of
// whoever releases.
func TestAnOwedPassIsTriedAgainByOurClock(t *testing.T) {
	for _, ahead := range []time.Duration{0, -2 * time.Minute, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 10, 5000)
			store := newFailing()
			store.ahead = ahead
			lines, _ := w.replica(t, store)
			l := line(t, lines)
			k := ticket(t, l, join(t, l, 0))
			store.passes.Store(true)
			time.AfterFunc(8*time.Second, func() { store.passes.Store(false) })
			a, err := comes(t.Context(), l, k)
			if err != nil || a.Admitted.Take != 1 || !a.Admitted.ExpiresAt.After(time.Now()) {
				t.Errorf("the holder's clock is %s ahead: let in by take %d until %s (%v), want take 1", ahead, a.Admitted.Take, a.Admitted.ExpiresAt, err)
			}
		})
	}
}

// A door that is full of higher numbers makes room for a lower one that comes.
func TestAFullDoorPassesNobodyOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 5000)
		w.held = 5
		lines, _ := w.replica(t, newFailing())
		l := line(t, lines)
		keys := make([]admission.Ticket, 40)
		for i := range keys {
			keys[i] = ticket(t, l, join(t, l, i))
		}
		advance(t, 11*time.Second) // all are called
		ctx, done := context.WithTimeout(t.Context(), 20*time.Second)
		defer done()
		for _, k := range keys[20:] {
			go func() {
				for ctx.Err() == nil {
					a, err := l.Pass(ctx, k)
					if a.View == admission.ViewPassed {
						return
					}
					if err != nil {
						a.RetryAfter = time.Second
					}
					wait(ctx, a.RetryAfter) //nolint:errcheck // virtual
				}
			}()
		}
		advance(t, 500*time.Millisecond) // the door is full
		came := time.Now()
		a, err := comes(ctx, l, keys[0])
		if err != nil || a.View != admission.ViewPassed {
			t.Fatalf("number 0: %s (%v)", a.View, err)
		}
		over := 0
		for _, e := range w.after(0) {
			if e.Place > 0 && e.TakenAt.After(came.Add(admission.Tick)) && e.Take < a.Admitted.Take {
				over++
			}
		}
		if over > 0 {
			t.Errorf("number 0 was passed by %d higher numbers", over)
		}
	})
}
