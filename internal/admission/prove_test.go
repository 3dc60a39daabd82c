package admission_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// Who comes to the door in time and has to prove something first keeps the place
// and the lane, however long after the call window they have proven it, at
// whichever replica; who was late before that is late after it. Nobody is let in
// who has not proven it, and no credit is used for them.
func TestWhoHasToProveSomethingKeepsPlaceAndLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 20 * time.Second
		w := newWorld(t, 10, 100_000)
		w.sale.CallWindow = window
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var lines []*admission.Line
		for range 2 {
			ls, _ := w.replica(t, store)
			lines = append(lines, line(t, ls))
		}
		inTime, absent := ticket(t, lines[0], join(t, lines[0], 0)), ticket(t, lines[0], join(t, lines[0], 1))
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := 2; i < 1500; i++ {
			fans.Go(func() { visit(ctx, w, lines, i) })
		}
		errProve := errors.New("prove it")
		asked := 0
		doubted := func(context.Context) error { asked++; return errProve }
		eventually(t, "both are called", time.Minute, func() bool { return lines[0].Standing().Front >= 2 })
		comes := func(k admission.Ticket, what string, late bool) {
			t.Helper()
			for range 3 { // again and again, at one replica and another
				l := lines[rand.IntN(2)]
				if a, err := l.Pass(ctx, k, doubted); !errors.Is(err, errProve) || a.View != admission.ViewCalled {
					t.Fatalf("%s: %+v, %v; want called, and to prove it", what, a, err)
				}
				wait(ctx, 2*time.Second) //nolint:errcheck // virtual: they hear of each other
			}
			for i, l := range lines {
				if me, err := l.Me(ctx, k); err != nil || me.View != admission.ViewCalled || me.Late != late {
					t.Errorf("%s: replica %d says %+v, %v; want called, late %t", what, i, me, err, late)
				}
			}
		}
		comes(inTime, "in time", false)
		wait(ctx, 3*window) //nolint:errcheck // virtual: solving it takes its time
		comes(inTime, "three call windows later", false)
		comes(absent, "who never came before", true)
		if asked != 9 {
			t.Errorf("the condition was asked %d times of 9", asked)
		}
		for name, k := range map[string]admission.Ticket{"in time": inTime, "late": absent} {
			var a admission.Answer
			eventually(t, name+", who has proven it, is let in", time.Minute, func() (in bool) {
				var err error
				if a, err = lines[rand.IntN(2)].Pass(ctx, k, func(context.Context) error { return nil }); err != nil {
					t.Fatal(err)
				}
				return a.View == admission.ViewPassed
			})
			if a.Number != k.Number || a.Admitted.Place != k.Number {
				t.Errorf("%s: let in at place %d, was %d", name, a.Admitted.Place, k.Number)
			}
		}
		done()
		fans.Wait()
		w.checkPace(t)
	})
}
