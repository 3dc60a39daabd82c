package admission_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// A copy of the database that lags still has the settings of before the reset:
// no line falls back to them, and nobody is let in by them.
func TestAnEpochNeverFalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100_000)
		w.sale.Epoch = 2
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		first := join(t, l, 0)
		w.set(func(w *world) { w.sale.Epoch, w.sale.Rate = 1, 500 })
		wait(t.Context(), 5*time.Second) //nolint:errcheck // virtual
		if now := line(t, lines); now.Epoch() != 2 || now.Sale().Rate != 20 || now.Standing().State != admission.Open {
			t.Errorf("by older settings the line is of epoch %d at %v/s, %s", now.Epoch(), now.Sale().Rate, now.Standing().State)
		}
		wait(t.Context(), 10*time.Second) //nolint:errcheck // virtual
		if s := l.Standing(); s.State != admission.OnDoubt || s.Reason != admission.NoSettings {
			t.Errorf("with nothing but older settings for 15 s: %s %q, want closed on doubt", s.State, s.Reason)
		}
		w.set(func(w *world) { w.sale.Epoch, w.sale.Rate = 2, 20 })
		eventually(t, "the settings are there again", 5*time.Second, func() bool { return l.Standing().State == admission.Open })
		if again := join(t, l, 0); again.Ticket != first.Ticket {
			t.Errorf("the place is %+v, it was %+v", again.Place, first.Place)
		}
	})
}

// A replica that has not read of a reset answers nobody by the new line's door: a
// ticket of the old one has no place there, and the old document says no more than
// it did, closed.
func TestNobodyHasAPlaceOfTheOldLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 100_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		first, _ := w.replica(t, store)
		var blind atomic.Bool
		second, _ := w.replicaOf(t, store, w.books(), func(ctx context.Context) ([]admission.Sale, error) {
			if blind.Load() {
				return nil, errDown
			}
			return w.sales(ctx)
		})
		reads, lags := line(t, first), line(t, second)
		var last admission.Ticket
		for i := range 100 {
			last = ticket(t, reads, join(t, reads, i))
		}
		eventually(t, "some are called", 10*time.Second, func() bool { return lags.Standing().Front > 0 })
		before := lags.Standing()
		if me, err := lags.Me(t.Context(), last); err != nil || me.Ahead == 0 {
			t.Fatalf("before the reset: %+v, %v", me, err)
		}
		blind.Store(true)
		w.set(func(w *world) { w.sale.Epoch = 2 })
		wait(t.Context(), 5*time.Second) //nolint:errcheck // virtual
		if me, err := lags.Me(t.Context(), last); !errors.Is(err, admission.ErrEpoch) {
			t.Errorf("5 s after the reset a ticket of before has %s, %d ahead, %v; want ErrEpoch", me.View, me.Ahead, err)
		}
		if s := lags.Standing(); s.Front < before.Front || s.State != admission.OnDoubt || s.Reason != admission.NoSettings {
			t.Errorf("5 s after the reset the old document says %s %s, front %d; it was at %d", s.State, s.Reason, s.Front, before.Front)
		}
	})
}

// A pass whose writing lands late, after the settings have changed, is what its
// holder gets: never one that is written nowhere.
func TestThePassIsTheOneThatWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100_000)
		w.sale.PassQuota = 2
		books := w.books()
		letIn := books.LetIn
		var late []admission.Entry
		books.LetIn = func(ctx context.Context, e admission.Entry) error {
			if len(late) == 0 { // on its way, and nobody waits for it any more
				late = append(late, e)
				w.set(func(w *world) { w.sale.PassQuota, w.sale.PassLife = 4, time.Hour })
				return errDown
			}
			if err := letIn(ctx, late[0]); err != nil {
				t.Error(err)
			}
			return letIn(ctx, e)
		}
		lines, _ := w.replicaOf(t, newMemory(2*time.Millisecond, 8*time.Millisecond), books, w.sales)
		l := line(t, lines)
		k := ticket(t, l, join(t, l, 0))
		eventually(t, "it was written, once", 10*time.Second, func() bool {
			l.Pass(t.Context(), k) //nolint:errcheck // not certain, at first
			return len(late) > 0
		})
		eventually(t, "the settings have changed", 5*time.Second, func() bool { return l.Sale().PassQuota == 4 })
		a, err := comes(t.Context(), l, k)
		if err != nil || a.Admitted != late[0].Pass {
			t.Errorf("the pass is %+v (%v), written was %+v", a.Admitted, err, late[0].Pass)
		}
	})
}

// After a reset what two replicas reported of the old line says nothing of the
// new one: the same takes are other people's there. Nobody is let in above the
// cap for a pass that somebody gave back in the old one.
func TestANewLineKnowsNothingOfTheOldOnesPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 4
		w := newWorld(t, 20, 100_000)
		w.sale.MaxInside = most
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		first, _ := w.replica(t, store)
		lines := []*admission.Line{line(t, first)}
		second, _ := w.replica(t, store)
		lines = append(lines, line(t, second))
		for i := range most {
			l := lines[i%2]
			a, err := comes(t.Context(), l, ticket(t, l, join(t, l, i)))
			if err != nil {
				t.Fatal(err)
			}
			giveBack(t.Context(), t, l, a.Admitted)
		}
		wait(t.Context(), 2*time.Second) //nolint:errcheck // virtual: all of it is reported
		w.set(func(w *world) {
			w.sale.Epoch = 2
			w.passes, w.takes = map[int64]admission.Entry{}, map[int64]admission.Entry{}
			w.back = map[int64]time.Time{}
		})
		eventually(t, "both are in the new line", 10*time.Second, func() bool {
			for i, r := range []*admission.Lines{first, second} {
				lines[i] = line(t, r)
				if lines[i].Epoch() != 2 || lines[i].Standing().State != admission.Open {
					return false
				}
			}
			return true
		})
		ctx, end := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range 5 * most {
			k := ticket(t, lines[i%2], join(t, lines[i%2], 100+i))
			fans.Go(func() { comes(ctx, lines[i%2], k) }) //nolint:errcheck // the world's ledger has who is in
		}
		wait(ctx, 12*time.Second) //nolint:errcheck // virtual
		if n := len(w.after(0)); n != most {
			t.Errorf("%d people are inside the new line, none of whom left; the cap is %d", n, most)
		}
		end()
		fans.Wait()
	})
}
