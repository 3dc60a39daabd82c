package admissiontest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
)

func testLeave(t *testing.T, open Open) {
	leave := func(t *testing.T, l opened, p admission.Place, want admission.Place) {
		t.Helper()
		together(4, func(int) {
			if q, err := l.Leave(t.Context(), p); err != nil || q != want {
				t.Errorf("left: %+v (%v), want %+v", q, err, want)
			}
		})
		if q, err := l.Place(t.Context(), l.event, 1, p.Holder); err != nil || q != want {
			t.Errorf("the place is %+v (%v), want %+v", q, err, want)
		}
	}
	t.Run("a waiting place is given up once", func(t *testing.T) {
		l := newLine(t, open)
		p := l.place("ada", 3)
		if _, err := l.Join(t.Context(), p, noon); err != nil {
			t.Fatal(err)
		}
		want := p
		want.State = admission.Left
		leave(t, l, p, want)
	})
	t.Run("a place whose item is missing is given up too", func(t *testing.T) {
		l := newLine(t, open)
		want := l.place("ada", 3)
		want.State = admission.Left
		leave(t, l, l.place("ada", 3), want)
		refusedPass(t, l, l.place("ada", 3))
	})
	t.Run("a passed place comes back as it is", func(t *testing.T) {
		l := newLine(t, open)
		want, err := l.Pass(t.Context(), passed(l.place("ada", 3), 7, noon, time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		leave(t, l, l.place("ada", 3), want)
	})
	t.Run("an older place's ticket leaves the newer one alone", func(t *testing.T) {
		l := newLine(t, open)
		want := l.place("ada", 8)
		if _, err := l.Join(t.Context(), want, noon); err != nil {
			t.Fatal(err)
		}
		if q, err := l.Leave(t.Context(), l.place("ada", 3)); !errors.Is(err, admission.ErrNoPlace) {
			t.Errorf("left %+v (%v), want ErrNoPlace", q, err)
		}
		if q, err := l.Place(t.Context(), l.event, 1, want.Holder); err != nil || q != want {
			t.Errorf("the place is %+v (%v), want %+v", q, err, want)
		}
	})
	t.Run("a newer place's ticket gives it up where an older copy has another", func(t *testing.T) {
		l := newLine(t, open)
		if _, err := l.Join(t.Context(), l.place("ada", 3), noon); err != nil {
			t.Fatal(err)
		}
		want := l.place("ada", 8)
		want.State = admission.Left
		leave(t, l, l.place("ada", 8), want)
	})
	t.Run("leaving and passing at once have one outcome", func(t *testing.T) { testLeaveOrPass(t, open) })
}

func testLeaveOrPass(t *testing.T, open Open) {
	l := newLine(t, open)
	for i := range 20 {
		p := l.place(string(rune('a'+i)), int64(i))
		if _, err := l.Join(t.Context(), p, noon); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []admission.Place
		together(2, func(k int) {
			call := l.Leave
			if k == 1 {
				call = l.Pass
			}
			q, err := call(t.Context(), passed(p, 1, noon, time.Minute))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got = append(got, q)
			} else if !errors.Is(err, admission.ErrNoPlace) {
				t.Errorf("leave or pass: %v", err)
			}
		})
		now, err := l.Place(t.Context(), l.event, 1, p.Holder)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range got {
			if q != now {
				t.Errorf("one was told %+v, the place is %+v", q, now)
			}
		}
	}
}
