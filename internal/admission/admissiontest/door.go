package admissiontest

import (
	"sync"
	"sync/atomic"
	"testing"

	"waitroom/internal/admission"
)

func testDoor(t *testing.T, open Open) {
	t.Run("of 8 contenders one takes over, from no credit", func(t *testing.T) { testTakeOver(t, open) })
	t.Run("a contender whose look is old does not take over", func(t *testing.T) { testOldLook(t, open) })
	t.Run("a holder that was replaced cannot refill", func(t *testing.T) { testReplaced(t, open) })
	t.Run("takers at once get the credit that is there, each its own", func(t *testing.T) { testTakers(t, open) })
	t.Run("refills among takers lose no take and keep the cap", func(t *testing.T) { testRefillAmongTakers(t, open) })
	t.Run("a refill that lands late is void", func(t *testing.T) { testLateRefill(t, open) })
	t.Run("nobody is let in while it is stopped", func(t *testing.T) { testStopped(t, open) })
	t.Run("fewer than one credit is a fault", func(t *testing.T) {
		l := newLine(t, open)
		want := l.fill(t, 5000, 5)
		for _, k := range []int64{0, -2} {
			if d, ok, err := l.Take(t.Context(), l.event, 1, k); err == nil || ok {
				t.Errorf("%d credits were taken: %+v", k, d)
			}
		}
		l.wantDoor(t, want)
	})
}

func (l opened) wantDoor(t testing.TB, want admission.Door) {
	t.Helper()
	if d, err := l.Door(t.Context(), l.event); err != nil || !sameDoor(d, want) {
		t.Errorf("the door is %+v (%v), want %+v", d, err, want)
	}
}

func testTakeOver(t *testing.T, open Open) {
	l := newLine(t, open)
	seen := l.fill(t, 3000, 9)
	handles := []admission.Store{l.Store, open(t), open(t)}
	var mu sync.Mutex
	var won []admission.Door
	owners := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	together(len(owners), func(i int) {
		d, ok, err := handles[i%3].Acquire(t.Context(), seen, owners[i])
		if err != nil {
			t.Errorf("acquire: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		if ok {
			won = append(won, d)
		}
	})
	if len(won) != 1 {
		t.Fatalf("%d contenders hold the lease, want 1", len(won))
	}
	want, _ := seen.Acquire(seen, won[0].Owner)
	if !sameDoor(won[0], want) || want.Credit != 0 {
		t.Errorf("took over %+v, want %+v", won[0], want)
	}
	l.wantDoor(t, want)
}

// A holder that beats is alive, however long ago a contender looked.
func testOldLook(t *testing.T, open Open) {
	l := newLine(t, open)
	seen := l.fill(t, 0, 0)
	for d := seen; d.Beat < seen.Beat+3; {
		next, ok, err := l.Refill(t.Context(), refill(d, 100, 1000, 0))
		if err != nil || !ok {
			t.Fatalf("refill: %v, %v", ok, err)
		}
		got, ok, err := l.Acquire(t.Context(), seen, "contender")
		if err != nil || ok || !sameDoor(got, next) {
			t.Errorf("by a look %d beats old: %+v, %v, %v; want refused, and the door %+v", next.Beat-seen.Beat, got, ok, err, next)
		}
		d = next
	}
}

func testReplaced(t *testing.T, open Open) {
	l := newLine(t, open)
	old := l.fill(t, 3000, 9)
	now, ok, err := l.Acquire(t.Context(), old, "newer")
	if err != nil || !ok {
		t.Fatalf("acquire: %v, %v", ok, err)
	}
	d, ok, err := l.Refill(t.Context(), refill(old, 1000, 1000, 1))
	if err != nil || ok || !sameDoor(d, now) {
		t.Errorf("the replaced holder's refill: %+v, %v, %v; want refused, and the door %+v", d, ok, err, now)
	}
	l.wantDoor(t, now)
}

func testTakers(t *testing.T, open Open) {
	l := newLine(t, open)
	before := l.fill(t, 20_999, 100)
	handles := []admission.Store{l.Store, open(t), open(t)}
	seen := numbers{}
	var let atomic.Int64
	together(16, func(i int) {
		for range 3 {
			d, ok, err := handles[i%3].Take(t.Context(), l.event, 1, 1)
			if err != nil {
				t.Errorf("take: %v", err)
			}
			if ok {
				let.Add(1)
				seen.take(t, d.Taken, 1)
			}
		}
	})
	if let.Load() != 20 {
		t.Errorf("20.999 credits let %d people in, want 20", let.Load())
	}
	before.Credit, before.Budget, before.Taken = 999, 80, 20
	l.wantDoor(t, before)

	budget := l.fill(t, 50_000, -77)
	if d, ok, err := l.Take(t.Context(), l.event, 1, 4); err != nil || ok || !sameDoor(d, budget) {
		t.Errorf("4 of a budget of %d: %+v, %v, %v; want none", budget.Budget, d, ok, err)
	}
	if d, ok, err := l.Take(t.Context(), l.event, 1, 3); err != nil || !ok || d.Taken != 23 || d.Budget != 0 {
		t.Errorf("3 of a budget of 3: %+v, %v, %v; want take 23 and no budget", d, ok, err)
	}
}

// numbers finds a take that was given twice.
type numbers struct{ given sync.Map }

func (n *numbers) take(t testing.TB, last, k int64) {
	for i := range k {
		if _, twice := n.given.LoadOrStore(last-i, true); twice {
			t.Errorf("take %d was given twice", last-i)
		}
	}
}
