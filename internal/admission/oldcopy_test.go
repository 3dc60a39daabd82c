package admission_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// Somebody gave a place up and joined again after the copy was made. The signed
// ticket is the place: it outranks what the copy says of their old one.
func TestATicketOutranksAnOlderCopy(t *testing.T) {
	for _, leftBefore := range []bool{true, false} {
		t.Run(map[bool]string{true: "left before the copy", false: "left after it"}[leftBefore], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 10, 5000)
				w.sale.OpensAt = time.Now().Add(time.Hour) // first come, first served; nobody called yet
				store := newMemory(time.Millisecond, 8*time.Millisecond)
				a, stop := w.replica(t, store)
				l := line(t, a)
				first := ticket(t, l, join(t, l, 0))
				leave := func() {
					if v, err := l.Leave(t.Context(), first); err != nil || v != admission.ViewLeft {
						t.Fatal(v, err)
					}
				}
				if leftBefore {
					leave()
				}
				putBack := store.backup()
				if !leftBefore {
					leave()
				}
				again := join(t, l, 0)
				k := ticket(t, l, again)
				for i := 1; i < 50; i++ {
					join(t, l, i)
				}
				advance(t, 5*time.Second)
				stop()
				putBack()
				b, _ := w.replica(t, store)
				l = line(t, b)
				rejoined, err := l.Join(t.Context(), holder(0), k)
				if err != nil || rejoined.Place.Number != k.Number {
					t.Errorf("a reload moved the holder from place %d to %d (%v)", k.Number, rejoined.Place.Number, err)
				}
			})
		})
	}
}

// The same at the door.
func TestATicketOutranksAnOlderCopyAtTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 5000)
		w.sale.OpensAt = time.Now().Add(30 * time.Second)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		a, stop := w.replica(t, store)
		l := line(t, a)
		first := ticket(t, l, join(t, l, 0))
		if v, err := l.Leave(t.Context(), first); err != nil || v != admission.ViewLeft {
			t.Fatal(v, err)
		}
		putBack := store.backup()
		advance(t, 3*time.Second)
		k := ticket(t, l, join(t, l, 0))
		advance(t, 3*time.Second)
		stop()
		putBack()
		b, _ := w.replica(t, store)
		l = line(t, b)
		eventually(t, "it is called", 2*time.Minute, func() bool { return l.Standing().Front > k.Number })
		if a, err := comes(t.Context(), l, k); err != nil || a.View != admission.ViewPassed {
			t.Errorf("place %d, called and never left, is told %s (%v), want a pass", k.Number, a.View, err)
		}
	})
}

// backup copies the line as it is now; putBack makes it that again.
func (m *memory) backup() (putBack func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.lines[event]
	old.places = maps.Clone(old.places)
	old.reports = map[string][]byte{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lines[event] = &old
	}
}
