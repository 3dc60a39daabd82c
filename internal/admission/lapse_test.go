package admission_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// absence is a hall of ten, with everybody's place in the line. Nobody is let in
// yet.
func absence(t *testing.T, people int, set func(*admission.Sale)) (w *world, l *admission.Line, tickets []admission.Ticket) {
	t.Helper()
	w = newWorld(t, 10, 100_000)
	w.sale.OpensAt = time.Now().Add(30 * time.Second)
	w.ended = map[int64]time.Time{}
	set(&w.sale)
	lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
	l = line(t, lines)
	for i := range people {
		tickets = append(tickets, ticket(t, l, join(t, l, i)))
	}
	return w, l, tickets
}

// Thirty join and ten may be inside. The next ten close their browsers, some
// before they are called, some at the door. As soon as the first ten check out
// the last ten get in, within the call window and a second.
func TestThoseBehindTheAbsentGetInWithinTheCallWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, window = 10, 20 * time.Second
		w, l, tickets := absence(t, 3*most, func(s *admission.Sale) { s.MaxInside, s.CallWindow = most, window })
		in := make([]time.Time, 3*most)
		ask := func(ctx context.Context, i int) {
			a, err := comes(ctx, l, tickets[i])
			if err == nil && a.View == admission.ViewPassed {
				in[i] = time.Now()
				w.set(func(w *world) { w.ended[a.Admitted.Take] = time.Time{} }) // has an order
			}
		}
		crowd(t, most, func(i int) { ask(t.Context(), i) })
		closing, closed := context.WithCancel(t.Context())
		var rest sync.WaitGroup
		for i := most; i < 3*most; i++ {
			ctx := t.Context()
			switch {
			case i < most+most/2:
				continue // closed before it was called
			case i < 2*most:
				ctx = closing
			}
			rest.Go(func() { ask(ctx, i) })
		}
		wait(t.Context(), 5*time.Second) //nolint:errcheck // virtual
		closed()
		out := time.Now()
		w.set(func(w *world) {
			if len(w.takes) != most {
				t.Errorf("%d people inside, want %d", len(w.takes), most)
			}
			for take := range w.ended {
				w.ended[take] = out
			}
		})
		rest.Wait()
		last := time.Duration(0)
		for _, at := range in[2*most:] {
			last = max(last, at.Sub(out))
		}
		if last > window+time.Second {
			t.Errorf("the last of the ten behind got in %s after there was room, want %s at most", last, window+time.Second)
		}
		t.Logf("the ten behind ten who had gone got in within %s", last)
		w.checkPace(t)
	})
}

// waiters is all whom the published document counts as waiting, wherever.
func waiters(l *admission.Line) int64 {
	f := l.Standing().Figures
	return f.Waiting + f.Coming + f.AtDoor
}

// The published number of waiters counts who lives. Thirty who were called and
// do not come are out of it within 2 s of their lapse, also when the window is
// as short as it may be; so are five who give up.
func TestPublishedWaitersAreLive(t *testing.T) {
	for _, window := range []time.Duration{5 * time.Second, 20 * time.Second, 2 * time.Minute} {
		t.Run(window.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { waitersLive(t, window) })
		})
	}
}

func waitersLive(t *testing.T, window time.Duration) {
	const absent, there = 30, 70
	w, l, tickets := absence(t, absent+there, func(s *admission.Sale) { s.CallWindow, s.Rate = window, 0.2 })
	eventually(t, "everybody is counted", 5*time.Second, func() bool { return waiters(l) == absent+there })
	ctx, done := context.WithCancel(t.Context())
	defer done()
	var people sync.WaitGroup
	for _, k := range tickets[absent:] {
		people.Go(func() {
			for ctx.Err() == nil {
				if a, err := l.Pass(ctx, k); err != nil || a.View == admission.ViewPassed || a.View == admission.ViewLeft {
					return
				}
				wait(ctx, 200*time.Millisecond) //nolint:errcheck // the loop looks
			}
		})
	}
	counts := func(what string, live int64) {
		t.Helper()
		eventually(t, what, 2*time.Second, func() bool { return waiters(l) == live-int64(len(w.after(0))) })
	}
	eventually(t, "the absent are called", 5*time.Minute, func() bool { return l.Standing().Front >= absent })
	wait(ctx, window) //nolint:errcheck // virtual
	counts("those who lapsed are not counted", there)
	for _, k := range tickets[absent+there-5:] {
		if _, err := l.Leave(ctx, k); err != nil {
			t.Error(err)
		}
	}
	counts("those who gave up are not counted", there-5)
	done()
	people.Wait()
	w.checkPace(t)
}

// Whoever closes the tab when it is their turn holds nothing: the next one gets
// in at once. Back after the call window they have the place that they had, are
// told that they are late, and get in.
func TestLatecomerKeepsThePlaceAndHeldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 10 * time.Second
		w, l, tickets := absence(t, 2, func(s *admission.Sale) { s.MaxInside, s.CallWindow, s.Control = 1, window, admission.Run })
		eventually(t, "both are called", time.Minute, func() bool { return l.Standing().Front == 2 })
		tab, closed := context.WithCancel(t.Context())
		var first sync.WaitGroup
		first.Go(func() {
			if a, err := comes(tab, l, tickets[0]); err == nil {
				t.Errorf("a tab that was closed before the opening was told %+v", a)
			}
		})
		wait(t.Context(), time.Second) //nolint:errcheck // virtual
		closed()
		first.Wait()
		wait(t.Context(), time.Until(l.Sale().OpensAt)) //nolint:errcheck // virtual
		began := time.Now()
		second, err := comes(t.Context(), l, tickets[1])
		if took := time.Since(began); err != nil || second.View != admission.ViewPassed || took > 2*time.Second {
			t.Errorf("the next is %s (%v) after %s, want in at once", second.View, err, took)
		}
		w.set(func(w *world) { w.ended[second.Admitted.Take] = time.Now() }) // and out: the door stays open
		// Who stood at the door is still punctual when back within half a minute.
		wait(t.Context(), window+30*time.Second) //nolint:errcheck // virtual
		me, err := l.Me(t.Context(), tickets[0])
		if err != nil || me.View != admission.ViewCalled || !me.Late || me.Number != 0 {
			t.Errorf("back after the call window: %+v, %v; want number 0, called, and late", me, err)
		}
		if again := join(t, l, 0); again.New || again.Place.Number != 0 {
			t.Errorf("joined again: %+v, want the place that it was", again)
		}
		if a, err := comes(t.Context(), l, tickets[0]); err != nil || a.View != admission.ViewPassed || a.Number != 0 {
			t.Errorf("the latecomer: %+v, %v; want in", a, err)
		}
		w.checkPace(t)
	})
}

// The organiser raises the release while most of those called are silent. When
// all of these come back at once, no more are inside than may be: silent ones
// inside count too.
func TestRaisedReleaseKeepsTheCapWhenAllSilentComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, people = 20, 300
		w, l, tickets := absence(t, people, func(s *admission.Sale) { s.MaxInside, s.Rate = most, 2 })
		var all sync.WaitGroup
		for i := 3; i < people; i += 4 { // one in four is there
			all.Go(func() { comes(t.Context(), l, tickets[i]) }) //nolint:errcheck // counted below
		}
		eventually(t, "half of the room is taken", 3*time.Minute, func() bool { return len(w.after(0)) >= most/2 })
		called := l.Standing().Front
		silent := 0
		for i := range int(called) {
			if i%4 != 3 {
				silent++
				all.Go(func() { comes(t.Context(), l, tickets[i]) }) //nolint:errcheck // counted below
			}
		}
		w.set(func(w *world) { w.sale.Rate = 1000 })
		if silent < most {
			t.Fatalf("only %d of %d called were silent", silent, called)
		}
		for range 3 {
			wait(t.Context(), 30*time.Second) //nolint:errcheck // virtual
			w.set(func(w *world) {
				inside := 0
				for _, e := range w.takes {
					if w.isWithin(e, 0) {
						inside++
					}
				}
				if inside != most {
					t.Errorf("%d people inside, %d taken; want %d", inside, len(w.takes), most)
				}
			})
			w.set(func(w *world) { // all of them check out
				for take, e := range w.takes {
					if _, done := w.ended[take]; !done && w.isWithin(e, 0) {
						w.ended[take] = time.Now()
					}
				}
			})
		}
		t.Logf("%d who were called and silent came back at once, %d were let in", silent, len(w.after(0)))
		eventually(t, "everybody who is there is in", time.Hour, func() bool {
			w.set(func(w *world) {
				for take := range w.takes {
					if _, done := w.ended[take]; !done {
						w.ended[take] = time.Now()
					}
				}
			})
			return len(w.after(0)) >= silent+people/4
		})
		all.Wait()
	})
}

// Whoever gives up in the lobby is not counted as waiting once it is drawn.
func TestWhoLeftTheLobbyDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, leave = 100, 60
		w := newWorld(t, 10, 5000)
		w.lobbied("")
		lines, _ := w.replica(t, newMemory(time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		advance(t, 6*time.Second)
		var tickets []admission.Ticket
		for i := range people {
			tickets = append(tickets, ticket(t, l, join(t, l, i)))
		}
		for _, k := range tickets[:leave] {
			if v, err := l.Leave(t.Context(), k); err != nil || v != admission.ViewLeft {
				t.Fatal(v, err)
			}
		}
		advance(t, 22*time.Second)
		if told(t, l).Draw.Seed == nil {
			t.Fatal("3 s after the lobby closed it is not drawn")
		}
		advance(t, 3*time.Second)
		if n := waiters(l); n != people-leave {
			t.Errorf("%d are counted as waiting, want %d: %d of %d left the lobby", n, people-leave, leave, people)
		}
	})
}

// Whoever gives up counts once, also when they say so again to a later holder,
// which knows how many left and not who.
func TestWhoLeavesTwiceCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, leave = 100, 30
		w := newWorld(t, 10, 5000)
		w.sale.OpensAt = time.Now().Add(time.Hour)
		store := newMemory(time.Millisecond, 8*time.Millisecond)
		first, stop := w.replica(t, store)
		l := line(t, first)
		second, _ := w.replica(t, store)
		other := line(t, second)
		var tickets []admission.Ticket
		for i := range people {
			tickets = append(tickets, ticket(t, l, join(t, l, i)))
		}
		leaves := func(l *admission.Line) {
			for _, k := range tickets[:leave] {
				if v, err := l.Leave(t.Context(), k); err != nil || v != admission.ViewLeft {
					t.Fatal(v, err)
				}
			}
			wait(t.Context(), factsForgotten) //nolint:errcheck // virtual
		}
		leaves(l)
		stop()
		wait(t.Context(), 10*time.Second) //nolint:errcheck // virtual: the other has taken over
		if n := waiters(other); n != people-leave {
			t.Fatalf("after the take-over %d are counted as waiting, want %d", n, people-leave)
		}
		leaves(other)
		if n := waiters(other); n != people-leave {
			t.Errorf("after the same left again %d are counted as waiting, want %d", n, people-leave)
		}
	})
}

// A pause makes nobody vanish: whoever stands at a door is counted as waiting, at
// each of the replicas.
func TestAPauseLosesNobodyAtTheDoors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people = 60
		w := newWorld(t, 0.1, 100_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var lines []*admission.Line
		for range 3 {
			r, _ := w.replica(t, store)
			lines = append(lines, line(t, r))
		}
		ctx, end := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range people {
			k := ticket(t, lines[0], join(t, lines[0], i))
			fans.Go(func() {
				for ctx.Err() == nil {
					if a, err := lines[i%3].Pass(ctx, k); err != nil || a.View == admission.ViewPassed {
						return
					}
					wait(ctx, 200*time.Millisecond) //nolint:errcheck // the loop looks
				}
			})
		}
		wait(ctx, time.Minute) //nolint:errcheck // virtual
		before := waiters(lines[0])
		if at := lines[0].Standing().Figures.AtDoor; at < 10 {
			t.Fatalf("%d stand at the doors, too few to say anything", at)
		}
		w.set(func(w *world) { w.sale.Control = admission.Pause })
		wait(ctx, 5*time.Second) //nolint:errcheck // virtual
		// One may have been let in as the pause came, and one may be expected or not.
		if after := waiters(lines[0]); after < before-2 || after > before+2 {
			t.Errorf("%d were waiting, 5 s into a pause %d are; nobody left", before, after)
		}
		end()
		fans.Wait()
	})
}
