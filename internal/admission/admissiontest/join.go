package admissiontest

import (
	"errors"
	"testing"
	"time"

	"waitroom/internal/admission"
)

func testJoin(t *testing.T, open Open) {
	t.Run("50 joins of one holder at once make one place", func(t *testing.T) {
		l := newLine(t, open)
		handles := []admission.Store{l.Store, open(t), open(t)}
		got := make([]admission.Place, 50)
		together(len(got), func(i int) {
			p, err := handles[i%3].Join(t.Context(), l.place("ada", int64(i)), noon)
			if err != nil {
				t.Errorf("join: %v", err)
			}
			got[i] = p
		})
		for i, p := range got {
			if p != got[0] {
				t.Errorf("join %d got %+v, join 0 got %+v", i, p, got[0])
			}
		}
		if p, err := l.Place(t.Context(), l.event, 1, hash("ada")); err != nil || p != got[0] {
			t.Errorf("the place is %+v (%v), want %+v", p, err, got[0])
		}
	})
	t.Run("a place is kept while it lives and new after", func(t *testing.T) { testRejoin(t, open) })
	t.Run("a reset gives a new place, and the old epoch none", func(t *testing.T) { testJoinEpoch(t, open) })
	t.Run("many holders have a place each", func(t *testing.T) {
		l := newLine(t, open)
		together(40, func(i int) {
			want := l.place(string(rune('a'+i)), int64(i))
			if p, err := l.Join(t.Context(), want, noon); err != nil || p != want {
				t.Errorf("join: %+v, %v; want %+v", p, err, want)
			}
		})
	})
}

func testRejoin(t *testing.T, open Open) {
	l := newLine(t, open)
	join := func(number int64, now time.Time, want int64, state admission.State, why string) {
		t.Helper()
		p, err := l.Join(t.Context(), l.place("ada", number), now)
		if err != nil || p.Index != want || p.State != state {
			t.Fatalf("%s: a join gets number %d, %s (%v); want %d, %s", why, p.Index, p.State, err, want, state)
		}
	}
	join(5, noon, 5, admission.Waiting, "the first")
	join(25, noon.Add(time.Hour), 5, admission.Waiting, "after 20 others")

	p := passed(l.place("ada", 5), 1, noon, 10*time.Minute)
	if _, err := l.Pass(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	join(30, p.PassUntil.Add(-time.Millisecond), 5, admission.Passed, "1 ms before the pass runs out")
	join(31, p.PassUntil, 31, admission.Waiting, "when the pass has run out")

	if _, err := l.Leave(t.Context(), l.place("ada", 31)); err != nil {
		t.Fatal(err)
	}
	join(40, noon, 40, admission.Waiting, "after leaving")
	p, err := l.Place(t.Context(), l.event, 1, hash("ada"))
	if want := l.place("ada", 40); err != nil || p != want {
		t.Errorf("the new place is %+v (%v), want %+v: nothing of the old one", p, err, want)
	}
}

func testJoinEpoch(t *testing.T, open Open) {
	l := newLine(t, open)
	ctx := t.Context()
	old := l.place("ada", 5)
	if _, err := l.Join(ctx, old, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Open(ctx, admission.Door{Event: l.event, Epoch: 2}, admission.Tail{}); err != nil {
		t.Fatal(err)
	}
	if p, err := l.Place(ctx, l.event, 2, old.Holder); !errors.Is(err, admission.ErrNoPlace) {
		t.Errorf("after the reset ada has %+v (%v), want ErrNoPlace", p, err)
	}
	anew := old
	anew.Epoch, anew.Index = 2, 0
	if p, err := l.Join(ctx, anew, noon); err != nil || p != anew {
		t.Errorf("joined %+v (%v), want %+v", p, err, anew)
	}
	_, errJoin := l.Join(ctx, old, noon)
	_, errPass := l.Pass(ctx, passed(old, 1, noon, time.Hour))
	_, errLeave := l.Leave(ctx, old)
	for call, err := range map[string]error{"Join": errJoin, "Pass": errPass, "Leave": errLeave} {
		if !errors.Is(err, admission.ErrEpoch) {
			t.Errorf("%s by the old epoch's ticket: %v, want ErrEpoch", call, err)
		}
	}
	if p, err := l.Place(ctx, l.event, 2, old.Holder); err != nil || p != anew {
		t.Errorf("the place is %+v (%v), want %+v", p, err, anew)
	}
}
