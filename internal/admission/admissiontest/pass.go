package admissiontest

import (
	"errors"
	"testing"
	"time"

	"waitroom/internal/admission"
)

func testPass(t *testing.T, open Open) {
	t.Run("8 requests at once get one pass", func(t *testing.T) {
		l := newLine(t, open)
		p := l.place("ada", 3)
		if _, err := l.Join(t.Context(), p, noon); err != nil {
			t.Fatal(err)
		}
		onePass(t, l, p, open)
	})
	t.Run("a place whose item is missing has its ticket, and gets one pass", func(t *testing.T) {
		l := newLine(t, open)
		onePass(t, l, l.place("ada", 3), open)
	})
	t.Run("a place of which an older copy has one before has its ticket, and gets one pass", func(t *testing.T) {
		for _, end := range []bool{false, true} {
			l := newLine(t, open)
			if _, err := l.Join(t.Context(), l.place("ada", 2), noon); err != nil {
				t.Fatal(err)
			}
			if end {
				if _, err := l.Leave(t.Context(), l.place("ada", 2)); err != nil {
					t.Fatal(err)
				}
			}
			onePass(t, l, l.place("ada", 3), open)
		}
	})
	t.Run("two places that a loss brought back have one pass at a time", func(t *testing.T) {
		l := newLine(t, open)
		if _, err := l.Pass(t.Context(), passed(l.place("ada", 2), 7, noon, time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Pass(t.Context(), passed(l.place("ada", 3), 8, noon.Add(59*time.Second), time.Minute)); !errors.Is(err, admission.ErrNoPlace) {
			t.Errorf("a second pass while the first is good: %v, want %v", err, admission.ErrNoPlace)
		}
		if p, err := l.Pass(t.Context(), passed(l.place("ada", 3), 8, noon.Add(time.Minute), time.Minute)); err != nil || p.Take != 8 {
			t.Errorf("once the first was over: %+v (%v), want a pass by take 8", p, err)
		}
	})
	t.Run("the first pass comes back when it has run out", func(t *testing.T) {
		l := newLine(t, open)
		first, err := l.Pass(t.Context(), passed(l.place("ada", 3), 7, noon, time.Second))
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Pass(t.Context(), passed(l.place("ada", 3), 8, noon.Add(time.Hour), time.Second))
		if err != nil || p != first {
			t.Errorf("asked again: %+v (%v), want %+v", p, err, first)
		}
	})
	t.Run("times are kept to the millisecond", func(t *testing.T) {
		l := newLine(t, open)
		at := noon.Add(1234567 * time.Nanosecond).In(time.FixedZone("CST", 8*3600))
		p, err := l.Pass(t.Context(), passed(l.place("ada", 3), 7, at, time.Second))
		want := passed(l.place("ada", 3), 7, noon.Add(time.Millisecond), time.Second)
		want.State = admission.Passed
		if err != nil || p != want {
			t.Errorf("passed %+v (%v), want %+v", p, err, want)
		}
	})
	t.Run("a place that was left, or has another number, gets none", func(t *testing.T) {
		l := newLine(t, open)
		if _, err := l.Join(t.Context(), l.place("ada", 3), noon); err != nil {
			t.Fatal(err)
		}
		refusedPass(t, l, l.place("ada", 2))
		if _, err := l.Leave(t.Context(), l.place("ada", 3)); err != nil {
			t.Fatal(err)
		}
		refusedPass(t, l, l.place("ada", 3))
	})
}

// onePass asks 8 times at once, each with a credit of its own.
func onePass(t *testing.T, l opened, p admission.Place, open Open) {
	t.Helper()
	handles := []admission.Store{l.Store, open(t)}
	got := make([]admission.Place, 8)
	together(len(got), func(i int) {
		q, err := handles[i%2].Pass(t.Context(), passed(p, int64(i+1), noon.Add(time.Duration(i)*time.Second), time.Minute))
		if err != nil {
			t.Errorf("pass: %v", err)
		}
		got[i] = q
	})
	want := passed(p, got[0].Take, noon.Add(time.Duration(got[0].Take-1)*time.Second), time.Minute)
	want.State = admission.Passed
	for i, q := range got {
		if q != want {
			t.Errorf("request %d got %+v, want %+v", i, q, want)
		}
	}
	if q, err := l.Place(t.Context(), l.event, 1, p.Holder); err != nil || q != want {
		t.Errorf("the place is %+v (%v), want %+v", q, err, want)
	}
}

func refusedPass(t *testing.T, l opened, p admission.Place) {
	t.Helper()
	before, err := l.Place(t.Context(), l.event, 1, p.Holder)
	if err != nil {
		t.Fatal(err)
	}
	if q, err := l.Pass(t.Context(), passed(p, 9, noon, time.Minute)); !errors.Is(err, admission.ErrNoPlace) {
		t.Errorf("place %d got the pass %+v (%v), want ErrNoPlace", p.Index, q, err)
	}
	if after, err := l.Place(t.Context(), l.event, 1, p.Holder); err != nil || after != before {
		t.Errorf("a refused pass made %+v (%v) of %+v", after, err, before)
	}
}
