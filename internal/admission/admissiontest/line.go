package admissiontest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/admission"
)

func testOpen(t *testing.T, open Open) {
	t.Run("a new line is empty and its door is shut", func(t *testing.T) {
		s, event := open(t), uuid.NewString()
		d, err := s.Open(t.Context(), admission.Door{Event: event, Epoch: 3}, admission.Tail{})
		if want := (admission.Door{Event: event, Epoch: 3}); err != nil || !sameDoor(d, want) {
			t.Fatalf("opened %+v, %v; want %+v", d, err, want)
		}
		if at, err := s.Tail(t.Context(), event); err != nil || at.Next != 0 {
			t.Errorf("its tail is %d (%v), want 0", at.Next, err)
		}
		if d, ok, err := s.Take(t.Context(), event, 3, 1); err != nil || ok {
			t.Errorf("a take at a new door: %v, %v; want none (%+v)", ok, err, d)
		}
	})
	t.Run("again it changes nothing", func(t *testing.T) {
		l := newLine(t, open)
		if _, err := l.Allot(t.Context(), l.event, 1, 7, 100); err != nil {
			t.Fatal(err)
		}
		before := l.fill(t, 2000, 5)
		together(8, func(int) {
			if d, err := l.Open(t.Context(), admission.Door{Event: l.event, Epoch: 1}, admission.Tail{}); err != nil || !sameDoor(d, before) {
				t.Errorf("opened again: %+v, %v; want %+v", d, err, before)
			}
		})
		if at, err := l.Tail(t.Context(), l.event); err != nil || at.Next != 7 {
			t.Errorf("the tail is %d (%v) after opening again, want 7", at.Next, err)
		}
	})
	t.Run("raised, a line goes on from there, and one that is further stays", func(t *testing.T) { testRaise(t, open) })
	t.Run("a higher epoch starts anew and the old one is refused", func(t *testing.T) { testReset(t, open) })
	t.Run("a line that was never opened is refused", func(t *testing.T) { testNoEvent(t, open) })
}

func testRaise(t *testing.T, open Open) {
	l := newLine(t, open)
	ctx := t.Context()
	held := l.fill(t, 9000, 9)
	if _, err := l.Allot(ctx, l.event, 1, 5, 1000); err != nil {
		t.Fatal(err)
	}
	to := admission.Door{Event: l.event, Epoch: 1, Term: held.Term + 1, Beat: held.Beat + 50, Front: 30, Taken: 20, Doc: []byte("lost")}
	end := admission.Tail{Next: 100, Closed: true, Lobby: 40}
	if d, err := l.Raise(ctx, to, end); err != nil || !sameDoor(d, to) {
		t.Fatalf("raised to %+v, %v; want %+v", d, err, to)
	}
	if first, err := l.Allot(ctx, l.event, 1, 1, 1000); err != nil || first != 100 {
		t.Errorf("the next number is %d (%v), want 100", first, err)
	}
	if at, err := l.Tail(ctx, l.event); err != nil || !at.Closed || at.Lobby != 40 {
		t.Errorf("the tail is %+v (%v), want a closed lobby of 40", at, err)
	}
	if _, ok, err := l.Refill(ctx, refill(held, 1, 1, 1)); err != nil || ok {
		t.Errorf("a step of who released before: %v, %v; want none", ok, err)
	}
	now := l.fill(t, 2000, 5)
	together(8, func(int) {
		if d, err := l.Raise(ctx, to, end); err != nil || !sameDoor(d, now) {
			t.Errorf("raised again to %+v, %v; want it as it is, %+v", d, err, now)
		}
	})
	if at, err := l.Tail(ctx, l.event); err != nil || at.Next != 101 {
		t.Errorf("raised again its tail is %d (%v), want 101", at.Next, err)
	}
	to.Epoch = 2
	if _, err := l.Raise(ctx, to, end); !errors.Is(err, admission.ErrEpoch) {
		t.Errorf("raised in another epoch: %v, want ErrEpoch", err)
	}
}

func testReset(t *testing.T, open Open) {
	l := newLine(t, open)
	ctx := t.Context()
	held := l.fill(t, 9000, 9)
	if _, err := l.Allot(ctx, l.event, 1, 5, 100); err != nil {
		t.Fatal(err)
	}
	want := admission.Door{Event: l.event, Epoch: 2}
	if d, err := l.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{}); err != nil || !sameDoor(d, want) {
		t.Fatalf("reset to %+v, %v; want %+v", d, err, want)
	}
	_, errAllot := l.Allot(ctx, l.event, 1, 1, 100)
	_, _, errTake := l.Take(ctx, l.event, 1, 1)
	_, _, errRefill := l.Refill(ctx, refill(held, 1, 1, 1))
	_, _, errAcquire := l.Acquire(ctx, held, "late")
	_, errOpen := l.Open(ctx, admission.Door{Event: l.event, Epoch: 1}, admission.Tail{})
	for call, err := range map[string]error{
		"Allot": errAllot, "Take": errTake, "Refill": errRefill, "Acquire": errAcquire, "Open": errOpen,
	} {
		if !errors.Is(err, admission.ErrEpoch) {
			t.Errorf("%s in the old epoch: %v, want ErrEpoch", call, err)
		}
	}
	if d, err := l.Door(ctx, l.event); err != nil || !sameDoor(d, want) {
		t.Errorf("calls of the old epoch made %+v (%v) of the door, want %+v", d, err, want)
	}
	if first, err := l.Allot(ctx, l.event, 2, 1, 100); err != nil || first != 0 {
		t.Errorf("the new epoch's first number is %d (%v), want 0", first, err)
	}
}

func testNoEvent(t *testing.T, open Open) {
	s, event, ctx := open(t), uuid.NewString(), t.Context()
	for range 5 {
		_, errAllot := s.Allot(ctx, event, 1, 1, 100)
		_, errTail := s.Tail(ctx, event)
		_, errDoor := s.Door(ctx, event)
		_, _, errTake := s.Take(ctx, event, 1, 1)
		_, _, errRefill := s.Refill(ctx, admission.Refill{Event: event, Epoch: 1, Add: 1, Cap: 1})
		_, _, errAcquire := s.Acquire(ctx, admission.Door{Event: event, Epoch: 1}, "me")
		for call, err := range map[string]error{
			"Allot": errAllot, "Tail": errTail, "Door": errDoor, "Take": errTake, "Refill": errRefill, "Acquire": errAcquire,
		} {
			if !errors.Is(err, admission.ErrNoEvent) {
				t.Errorf("%s: %v, want ErrNoEvent", call, err)
			}
		}
	}
	if _, err := s.Open(ctx, admission.Door{Event: event, Epoch: 1}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	if first, err := s.Allot(ctx, event, 1, 1, 100); err != nil || first != 0 {
		t.Errorf("after refused calls the first number is %d (%v), want 0: none was used", first, err)
	}
}

func testAllot(t *testing.T, open Open) {
	t.Run("64 callers never share a number", func(t *testing.T) {
		l := newLine(t, open)
		handles := []admission.Store{l.Store, open(t), open(t)}
		var mu sync.Mutex
		var got []int64
		together(64, func(i int) {
			n := int64(1 + i%5)
			first, err := handles[i%3].Allot(t.Context(), l.event, 1, n, 10_000)
			if err != nil {
				t.Errorf("allot %d: %v", n, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for k := range n {
				got = append(got, first+k)
			}
		})
		slices.Sort(got)
		for i, n := range got {
			if n != int64(i) {
				t.Fatalf("the %dth number is %d: allotted twice, or a hole without an error", i, n)
			}
		}
		if at, err := l.Tail(t.Context(), l.event); err != nil || at.Next != int64(len(got)) {
			t.Errorf("the tail is %d (%v), want %d", at.Next, err, len(got))
		}
	})
	t.Run("a line is full exactly at its cap", func(t *testing.T) { testFull(t, open) })
	t.Run("fewer than one number is a fault", func(t *testing.T) {
		l := newLine(t, open)
		for _, n := range []int64{0, -3} {
			if _, err := l.Allot(t.Context(), l.event, 1, n, 100); err == nil {
				t.Errorf("%d numbers were allotted", n)
			}
		}
		if at, err := l.Tail(t.Context(), l.event); err != nil || at.Next != 0 {
			t.Errorf("the tail is %d (%v), want 0", at.Next, err)
		}
	})
}

func testFull(t *testing.T, open Open) {
	l := newLine(t, open)
	ctx := t.Context()
	for _, step := range []struct {
		n, first int64
		err      error
	}{
		{7, 0, nil}, {4, 0, admission.ErrFull}, {3, 7, nil}, {1, 0, admission.ErrFull}, {1, 0, admission.ErrFull},
	} {
		first, err := l.Allot(ctx, l.event, 1, step.n, 10)
		if !errors.Is(err, step.err) || err == nil && first != step.first {
			t.Errorf("%d numbers under a cap of 10: %d, %v; want %d, %v", step.n, first, err, step.first, step.err)
		}
	}
	if at, err := l.Tail(ctx, l.event); err != nil || at.Next != 10 {
		t.Errorf("the tail is %d (%v), want 10", at.Next, err)
	}
	if first, err := l.Allot(ctx, l.event, 1, 2, 12); err != nil || first != 10 {
		t.Errorf("under a raised cap: %d (%v), want 10", first, err)
	}
}
