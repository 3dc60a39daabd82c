package admissiontest

import (
	"sync"
	"sync/atomic"
	"testing"

	"waitroom/internal/admission"
)

func testRefillAmongTakers(t *testing.T, open Open) {
	const (
		steps, add = 120, int64(1700)
		most       = int64(2500)
	)
	l := newLine(t, open)
	d := l.fill(t, 0, 0)
	handles := []admission.Store{l.Store, open(t), open(t)}
	seen := numbers{}
	var let atomic.Int64
	over := make(chan struct{})
	var takers sync.WaitGroup
	for i := range 6 {
		takers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				k := int64(1 + i%2)
				d, ok, err := handles[i%3].Take(t.Context(), l.event, 1, k)
				if err != nil {
					t.Errorf("take: %v", err)
					return
				}
				if ok {
					let.Add(k)
					seen.take(t, d.Taken, k)
				}
			}
		})
	}
	var budget int64
	for i := range int64(steps) {
		r := refill(d, add, most, i%3)
		r.Front = d.Front + i%2*5
		next, ok, err := l.Refill(t.Context(), r)
		if err != nil || !ok {
			t.Errorf("refill %d: %v, %v", i, ok, err)
			break
		}
		budget += i % 3
		if next.Credit > most || next.Front != r.Front || next.Beat != d.Beat+1 {
			t.Errorf("refill %d made %+v, want credit at most %d, front %d, beat %d", i, next, most, r.Front, d.Beat+1)
		}
		d = next
	}
	close(over)
	takers.Wait()
	d, err := l.Door(t.Context(), l.event)
	if err != nil {
		t.Fatal(err)
	}
	if d.Taken != let.Load() || d.Budget != budget-d.Taken {
		t.Errorf("%d people were let in of a budget of %d, the door says %d taken and %d left", let.Load(), budget, d.Taken, d.Budget)
	}
	if used := d.Taken*admission.Milli + d.Credit; used > steps*add {
		t.Errorf("%d thousandths were used of %d", used, steps*add)
	}
	if d.Taken < budget/2 {
		t.Errorf("%d people were let in, want at least %d: takes were lost", d.Taken, budget/2)
	}
}

func testLateRefill(t *testing.T, open Open) {
	l := newLine(t, open)
	d := l.fill(t, 0, 10)
	f := NewFaulty(l.Store)
	f.Next("Refill", Late)
	if _, _, err := f.Refill(t.Context(), refill(d, 5000, 5000, 0)); err == nil {
		t.Fatal("the fault was not applied: the refill ended well")
	}
	want, ok, err := f.Refill(t.Context(), refill(d, 1000, 1000, 0))
	if err != nil || !ok {
		t.Fatalf("refill: %v, %v", ok, err)
	}
	if f.Land() != 1 {
		t.Fatal("the late refill did not land")
	}
	l.wantDoor(t, want)
}

func testStopped(t *testing.T, open Open) {
	l := newLine(t, open)
	r := refill(l.fill(t, 5000, 5), 0, 5000, 0)
	r.Stopped = true
	stopped, ok, err := l.Refill(t.Context(), r)
	if err != nil || !ok {
		t.Fatalf("refill: %v, %v", ok, err)
	}
	together(8, func(int) {
		if d, ok, err := l.Take(t.Context(), l.event, 1, 1); err != nil || ok || !sameDoor(d, stopped) {
			t.Errorf("a take at a stopped door: %+v, %v, %v", d, ok, err)
		}
	})
	l.wantDoor(t, stopped)
}
