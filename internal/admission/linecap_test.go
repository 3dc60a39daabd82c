package admission_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// Numbers that were given and are nobody's any more do not fill the line: whoever
// joins again and again, or was let in, leaves the room to others.
func TestALineIsNotFullWhileNobodyIsInIt(t *testing.T) {
	const most = 60
	joinsAndLeaves := func(t *testing.T, l *admission.Line, i int) {
		k := ticket(t, l, join(t, l, 0))
		if v, err := l.Leave(t.Context(), k); err != nil || v != admission.ViewLeft {
			t.Fatalf("time %d: %s, %v", i, v, err)
		}
	}
	for _, c := range []struct {
		name  string
		sale  func(w *world)
		empty func(t *testing.T, l *admission.Line, i int)
	}{
		{"one person leaves and joins again, before the opening", func(w *world) { w.sale.OpensAt = time.Now().Add(time.Hour) }, joinsAndLeaves},
		{"one person leaves and joins again, in the lobby", func(w *world) { w.lobbied(""); w.sale.Lobby.OpensAt = time.Now() }, joinsAndLeaves},
		{"each is let in and goes", func(*world) {}, func(t *testing.T, l *admission.Line, i int) {
			a, err := comes(t.Context(), l, ticket(t, l, join(t, l, i)))
			if err != nil || a.View != admission.ViewPassed {
				t.Fatal(a, err)
			}
			giveBack(t.Context(), t, l, a.Admitted)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 100, 1000)
				w.sale.LineCap = most
				c.sale(w)
				store := newMemory(2*time.Millisecond, 8*time.Millisecond)
				a, _ := w.replica(t, store)
				b, _ := w.replica(t, store)
				l, other := line(t, a), line(t, b)
				for i := range most {
					c.empty(t, l, i)
				}
				if _, err := l.Join(t.Context(), holder(1000), admission.Ticket{}); err != nil {
					t.Errorf("nobody is in a line for %d, and a newcomer hears: %v", most, err)
				}
				advance(t, 5*time.Second)
				if _, err := other.Join(t.Context(), holder(1001), admission.Ticket{}); err != nil {
					t.Errorf("one is in a line for %d, and who comes at another replica hears: %v", most, err)
				}
			})
		})
	}
}

// The room that was left is given once: with it the line is full.
func TestALineIsFullAtItsCapAfterSomeLeft(t *testing.T) {
	const most, left = 60, 20
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 100, 1000)
		w.sale.OpensAt = time.Now().Add(time.Hour)
		w.sale.LineCap = most
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		for i := range most {
			k := ticket(t, l, join(t, l, i))
			if i < left {
				if _, err := l.Leave(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
		}
		advance(t, 10*time.Second)
		joined := 0
		for i := range 2 * most {
			switch _, err := l.Join(t.Context(), holder(1000+i), admission.Ticket{}); {
			case err == nil:
				joined++
			case !errors.Is(err, admission.ErrFull):
				t.Fatal(err)
			}
		}
		if joined != left {
			t.Errorf("%d of %d left, and %d more joined", left, most, joined)
		}
	})
}

// What a loss of the store leaves as holes does not fill the line.
func TestALineIsNotFullAfterALoss(t *testing.T) {
	w := newWorld(t, 100, 1000)
	w.sale.LineCap = 5_000 // fewer than the holes
	lines, stop := w.replica(t, localStore(t))
	l := line(t, lines)
	for i := range 30 {
		join(t, l, i)
	}
	stop()
	lines, _ = w.replica(t, localStore(t)) // another, empty
	l = line(t, lines)
	if _, err := l.Join(t.Context(), holder(1000), admission.Ticket{}); err != nil {
		t.Errorf("30 are in a line for 5,000, and a newcomer hears: %v", err)
	}
}
