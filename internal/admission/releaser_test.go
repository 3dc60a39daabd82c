package admission_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

// stalling is one replica's way to the store, which can be cut: calls then fail
// after a while, and never arrive.
func stalling(s admission.Store) (store *admissiontest.Faulty, cut *atomic.Bool) {
	cut = &atomic.Bool{}
	store = admissiontest.NewFaulty(s)
	store.Always(func(string) admissiontest.Fault {
		if cut.Load() {
			return admissiontest.LostCall
		}
		return admissiontest.None
	})
	return store, cut
}

// releases says which replica holds the lease, by the door.
func releases(t testing.TB, s admission.Store) string {
	t.Helper()
	d, err := s.Door(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	return d.Owner
}

// When the holder is cut from the store, another replica takes over within the
// lease and a little; the pace holds through it, in both directions and back.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100_000)
		truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var cuts [2]*atomic.Bool
		var both [2]*admission.Line
		for i := range both {
			store, cut := stalling(truth)
			cuts[i] = cut
			lines, _ := w.replica(t, store)
			both[i] = line(t, lines)
		}
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range 1500 {
			fans.Go(func() { visit(ctx, w, both[:], i) })
		}
		eventually(t, "people are let in", 30*time.Second, func() bool { return len(w.after(0)) > 20 })
		for range 4 {
			holder := 0
			if releases(t, truth) == "replica-2" {
				holder = 1
			}
			cuts[holder].Store(true)
			began, taken := time.Now(), len(w.after(0))
			other := "replica-" + string(rune('2'-holder))
			eventually(t, other+" releases", 5*time.Second, func() bool { return releases(t, truth) == other })
			took := time.Since(began)
			if took < admission.LeaseFor || took > admission.LeaseFor*3/2 {
				t.Errorf("taken over after %s, want after a lease of %s and a little", took, admission.LeaseFor)
			}
			eventually(t, "people are let in again", 4*time.Second, func() bool {
				return len(w.after(0)) > taken+10
			})
			t.Logf("%s took over after %s, and let people in again after %s", other, took, time.Since(began))
			wait(ctx, rand.N(2*time.Second)) //nolint:errcheck // virtual
			cuts[holder].Store(false)
			wait(ctx, 3*time.Second) //nolint:errcheck // virtual
		}
		done()
		fans.Wait()
		w.checkPace(t)
	})
}

// visit is one person's whole way: joins, polls, comes, shows life, buys or
// leaves. It goes on through every error, at either replica.
func visit(ctx context.Context, w *world, lines []*admission.Line, i int) {
	visitAny(ctx, w, func() []*admission.Line { return lines }, i)
}

// visitAny is visit at whichever replicas there are at the moment.
func visitAny(ctx context.Context, w *world, alive func() []*admission.Line, i int) {
	anyLine := func() *admission.Line {
		lines := alive()
		return lines[rand.IntN(len(lines))]
	}
	var j admission.Joined
	for {
		var err error
		if j, err = anyLine().Join(ctx, holder(i), admission.Ticket{}); err == nil {
			break
		}
		if wait(ctx, time.Second) != nil {
			return
		}
	}
	k, _, err := anyLine().Ticket(j.Ticket)
	for err == nil {
		var a admission.Answer
		a, err = anyLine().Pass(ctx, k)
		if a.View == admission.ViewPassed {
			shop(ctx, w, anyLine, a.Admitted, i)
			return
		}
		if err == nil {
			err = wait(ctx, a.RetryAfter)
		}
	}
}

// shop is somebody inside: four in ten buy, after a while, with signs of life.
func shop(ctx context.Context, w *world, anyLine func() *admission.Line, p admission.Pass, i int) {
	think := time.Duration(rand.ExpFloat64() * float64(w.think))
	for until := time.Now().Add(think); time.Now().Before(until); {
		anyLine().Alive(p)
		if wait(ctx, min(8*time.Second, time.Until(until))) != nil {
			return
		}
	}
	tickets := 1 + int64(i%4)
	switch {
	case i%10 >= 4:
		anyLine().Gone(ctx, p) //nolint:errcheck // or it runs out
	case w.buy(p, tickets) == 0:
		anyLine().FoundNothing(p, tickets)
		anyLine().Gone(ctx, p) //nolint:errcheck // or it runs out
	}
}

// A pause acts within a step of being read, at every replica.
func TestPauseActsWithinAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 200, 100_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		a, _ := w.replica(t, store)
		b, _ := w.replica(t, store)
		both := []*admission.Line{line(t, a), line(t, b)}
		ctx, done := context.WithCancel(t.Context())
		var fans sync.WaitGroup
		for i := range 3000 {
			fans.Go(func() { visit(ctx, w, both, i) })
		}
		eventually(t, "people are let in", 30*time.Second, func() bool { return len(w.after(0)) > 500 })
		paused := both[0].Sale()
		paused.Control = admission.Pause
		w.set(func(w *world) { w.sale.Control = admission.Pause })
		both[0].Set(paused) // read by both at this moment
		both[1].Set(paused)
		began := time.Now()
		wait(ctx, 5*time.Second) //nolint:errcheck // virtual
		last := time.Duration(0)
		for _, e := range w.after(0) {
			last = max(last, e.TakenAt.Sub(began))
		}
		if last > 50*time.Millisecond {
			t.Errorf("somebody was let in %s after the pause was read, want at most 50 ms", last)
		}
		s := both[1].Standing()
		if s.State != admission.Paused || s.Reason != admission.ByOrganiser {
			t.Errorf("the page says %s (%s), want paused", s.State, s.Reason)
		}
		taken := len(w.after(0))
		w.set(func(w *world) { w.sale.Control = admission.Run })
		eventually(t, "it goes on", 3*time.Second, func() bool { return len(w.after(0)) > taken })
		t.Logf("the last take was %s after the pause was read", last)
		done()
		fans.Wait()
		w.checkPace(t)
	})
}

// The status document has the words that clients rely on.
func TestStatusDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 1756)
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		for i := range 10 {
			join(t, l, i)
		}
		wait(t.Context(), 3*time.Second) //nolint:errcheck // virtual
		doc := l.Status()
		var d map[string]any
		if err := json.Unmarshal(doc.Body, &d); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{
			"event", "title", "epoch", "version", "as_of", "state", "reason", "opens_at", "front", "tail", "waiting",
			"at_door", "inside", "taken", "rate", "let_in_last_minute", "seats", "share", "tickets", "turn",
			"turn_seen", "eta_s_per_100", "poll", "wave", "call_window_s",
		} {
			if _, there := d[word]; !there {
				t.Errorf("the document has no %s", word)
			}
		}
		if d["state"] != "open" || d["tail"] != 10.0 || d["rate"] != 50.0 {
			t.Errorf("the document says %s", doc.Body)
		}
		wait(t.Context(), 1100*time.Millisecond) //nolint:errcheck // virtual
		if next := l.Status(); next.ETag == doc.ETag || next.Standing.Version <= doc.Standing.Version {
			t.Error("a second later it is the same document")
		}
		t.Logf("%d bytes, %d gzipped: %s", len(doc.Body), len(doc.Gzip), doc.Body)
	})
}

// Passes that were given back are not inside again for who takes over: the seats
// that are left are the next ones' at once.
func TestGivenBackIsNotInsideAfterATakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20, 100)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		first, stop := w.replica(t, store)
		l := line(t, first)
		second, _ := w.replica(t, store)
		next := line(t, second)
		for i := range 40 {
			a, err := comes(t.Context(), l, ticket(t, l, join(t, l, i)))
			if err != nil {
				t.Fatal(err)
			}
			giveBack(t.Context(), t, l, a.Admitted)
		}
		w.set(func(w *world) { w.free, w.sold = 4, 96 })
		wait(t.Context(), factsForgotten) //nolint:errcheck // virtual
		stop()
		wait(t.Context(), 3*time.Second) //nolint:errcheck // virtual
		began := time.Now()
		a, err := comes(t.Context(), next, ticket(t, next, join(t, next, 40)))
		if err != nil || a.View != admission.ViewPassed {
			t.Fatal(a.View, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("four seats are free, nobody is inside, and the next waited for %s", took)
		}
	})
}
