package admission_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

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
