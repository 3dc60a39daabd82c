package admissiontest

import (
	"errors"
	"sync"
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
		if err != nil || p.Number != want || p.State != state {
			t.Fatalf("%s: a join gets number %d, %s (%v); want %d, %s", why, p.Number, p.State, err, want, state)
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
	if _, err := l.Open(ctx, l.event, 2); err != nil {
		t.Fatal(err)
	}
	if p, err := l.Place(ctx, l.event, 2, old.Holder); !errors.Is(err, admission.ErrNoPlace) {
		t.Errorf("after the reset ada has %+v (%v), want ErrNoPlace", p, err)
	}
	anew := old
	anew.Epoch, anew.Number = 2, 0
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
		t.Errorf("place %d got the pass %+v (%v), want ErrNoPlace", p.Number, q, err)
	}
	if after, err := l.Place(t.Context(), l.event, 1, p.Holder); err != nil || after != before {
		t.Errorf("a refused pass made %+v (%v) of %+v", after, err, before)
	}
}

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
