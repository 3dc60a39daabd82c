package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

// Eight requests at two replicas for the pass of one place: one pass, one take
// in the ledger, and the same letters for all.
func TestOnePlaceGetsOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 100)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		a, _ := w.replica(t, store)
		b, _ := w.replica(t, store)
		both := []*admission.Line{line(t, a), line(t, b)}
		k := ticket(t, both[0], join(t, both[0], 0))
		passes := make([]string, 8)
		var all sync.WaitGroup
		for i := range passes {
			all.Go(func() {
				answer, err := comes(t.Context(), both[i%2], k)
				if err != nil {
					t.Error(err)
				}
				passes[i] = answer.Pass
			})
		}
		all.Wait()
		if slices.Sort(passes); passes[0] == "" || passes[0] != passes[7] {
			t.Errorf("eight requests got different passes: %q", slices.Compact(passes))
		}
		later, err := both[1].Pass(t.Context(), k)
		if err != nil || later.Pass != passes[0] {
			t.Errorf("asked again: %+v, %v; want the same pass", later, err)
		}
		if n := len(w.takes); n != 1 {
			t.Errorf("%d passes in the ledger, want 1", n)
		}
		w.checkPace(t)
	})
}

// Ten idle minutes at ten a second bank nothing: 200 who come at once are let
// in at the pace.
func TestIdleCreditIsNotBanked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 10_000)
		lines, _ := w.replica(t, newMemory(time.Millisecond, 5*time.Millisecond))
		l := line(t, lines)
		if err := wait(t.Context(), 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		crowd(t, 200, func(i int) {
			if _, err := comes(t.Context(), l, ticket(t, l, join(t, l, i))); err != nil {
				t.Error(err)
			}
		})
		took := time.Since(began)
		if took < 19*time.Second || took > 30*time.Second {
			t.Errorf("200 people at 10/s were let in within %s, want 20 s, and the first polls", took)
		}
		w.checkPace(t)
		t.Logf("200 people at 10/s after 10 idle minutes: %s", took)
	})
}

// crowd has n people act at once, and waits for them.
func crowd(t testing.TB, n int, act func(i int)) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { act(i) })
	}
	all.Wait()
}

// Of those who stand at the door the lowest number is let in first, also in the
// moment between two asks; over replicas between which everybody moves, as
// nearly as a report a second can say.
func TestLowestNumberFirst(t *testing.T) {
	for replicas, most := range map[int]float64{1: 0.005, 2: 0.03, 3: 0.04} {
		t.Run(fmt.Sprintf("%d replicas", replicas), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { lowestFirst(t, replicas, most) })
		})
	}
}

func lowestFirst(t *testing.T, replicas int, most float64) {
	w := newWorld(t, 5, 1000)
	store := newMemory(2*time.Millisecond, 8*time.Millisecond)
	var all []*admission.Line
	for range replicas {
		lines, _ := w.replica(t, store)
		all = append(all, line(t, lines))
	}
	const people = 100
	tickets := make([]admission.Ticket, people)
	for i := range people {
		tickets[i] = ticket(t, all[0], join(t, all[0], i))
	}
	crowd(t, people, func(i int) {
		// The last comes first, and all have come within a second.
		if err := wait(t.Context(), time.Duration(people-i)*10*time.Millisecond); err != nil {
			t.Error(err)
		}
		for asks := i; ; asks++ {
			a, err := all[asks%replicas].Pass(t.Context(), tickets[i])
			if err != nil {
				t.Error(err)
			}
			if a.View == admission.ViewPassed || wait(t.Context(), a.RetryAfter) != nil {
				return
			}
		}
	})
	w.checkPace(t)
	inverted, pairs := w.inversions(10)
	if float64(inverted) > most*float64(pairs) {
		t.Errorf("of %d pairs %d were let in in the wrong order, want at most %.1f %%", pairs, inverted, 100*most)
	}
	t.Logf("of %d pairs %d were let in in the wrong order", pairs, inverted)
}

// A door at which many stand lets them in at the rate: nobody's pause between
// two asks keeps the others waiting.
func TestDeepDoorKeepsTheRate(t *testing.T) {
	for replicas := range 3 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 50, 100_000)
			w.held = 1000
			store := newMemory(2*time.Millisecond, 8*time.Millisecond)
			var all []*admission.Line
			for range replicas + 1 {
				lines, _ := w.replica(t, store)
				all = append(all, line(t, lines))
			}
			const people = 1000
			tickets := make([]admission.Ticket, people)
			for i := range people {
				tickets[i] = ticket(t, all[0], join(t, all[0], i))
			}
			eventually(t, "enough are called", 20*time.Second, func() bool { return all[0].Standing().Front >= 300 })
			began := time.Now()
			ctx, done := context.WithCancel(t.Context())
			var fans sync.WaitGroup
			for i := range people {
				fans.Go(func() { stands(ctx, all, i, tickets[i]) })
			}
			wait(ctx, 6*time.Second) //nolint:errcheck // virtual
			passed := len(w.after(0))
			done()
			fans.Wait()
			if passed < 240 {
				t.Errorf("%d let in within 6 s at 50/s, want at least 240", passed)
			}
			t.Logf("%d replicas: %d let in within %s at 50/s", len(all), passed, time.Since(began))
			w.checkPace(t)
		})
	}
}

// While seats come back one by one, those who stand at the door are let in in
// the order of their numbers and in no other, asks and pauses alike.
func TestNobodyIsPassedOverWhileSeatsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 50, 0)
		w.pending, w.sale.SharePrior, w.sale.TicketsPrior = 1000, 1, 1
		lines, _ := w.replica(t, newMemory(2*time.Millisecond, 8*time.Millisecond))
		l := line(t, lines)
		const people = 60
		tickets := make([]admission.Ticket, people)
		for i := range people {
			tickets[i] = ticket(t, l, join(t, l, i))
		}
		ctx, done := context.WithCancel(t.Context())
		var returns sync.WaitGroup
		returns.Go(func() {
			for wait(ctx, 700*time.Millisecond) == nil {
				w.set(func(w *world) { w.free, w.pending = w.free+2, w.pending-2 })
				l.StockChanged()
			}
		})
		stood := make([]time.Time, people) // when first told to come again
		crowd(t, people, func(i int) {
			for {
				a, err := l.Pass(t.Context(), tickets[i])
				if err != nil {
					t.Error(err)
				}
				if a.View == admission.ViewPassed {
					w.buy(a.Admitted, 1)
					return
				}
				if stood[i].IsZero() && a.View == admission.ViewCalled {
					stood[i] = time.Now()
				}
				wait(t.Context(), a.RetryAfter) //nolint:errcheck // virtual
			}
		})
		done()
		returns.Wait()
		overtaken, waited := 0, 0
		for place, since := range stood {
			if since.IsZero() {
				continue
			}
			waited++
			for _, e := range w.passes {
				if e.Place > int64(place) && e.TakenAt.After(since) && e.TakenAt.Before(w.passes[int64(place)].TakenAt) {
					overtaken++
				}
			}
		}
		if overtaken > 0 || waited < 20 {
			t.Errorf("of %d people who stood at the door longer than one ask, %d were passed over", waited, overtaken)
		}
		w.checkPace(t)
	})
}

// inversions counts pairs of places of which the higher was let in first, after
// the first takes.
func (w *world) inversions(first int64) (inverted, pairs int) {
	var places []int64
	for take := first; take < int64(len(w.takes)+50); take++ {
		if e, there := w.takes[take]; there {
			places = append(places, e.Place)
		}
	}
	for i := range places {
		for _, later := range places[i+1:] {
			pairs++
			if later < places[i] {
				inverted++
			}
		}
	}
	return inverted, pairs
}

// Who gives up, or whose hold ended, uses no credit: the next one gets it.
func TestWhoGaveUpUsesNoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 100)
		w.sale.Control = admission.Pause
		lines, _ := w.replica(t, newMemory(time.Millisecond, 5*time.Millisecond))
		l := line(t, lines)
		first, second, third := ticket(t, l, join(t, l, 0)), ticket(t, l, join(t, l, 1)), ticket(t, l, join(t, l, 2))
		w.set(func(w *world) { w.sale.Control = admission.Run })
		eventually(t, "all are called", 20*time.Second, func() bool { return l.Standing().Front >= 3 })
		w.set(func(w *world) { w.sale.Control = admission.Pause })
		wait(t.Context(), 2*time.Second) //nolint:errcheck // virtual

		gone, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := l.Pass(gone, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a client that left got %v", err)
		}
		began := time.Now()
		answer, err := l.Pass(t.Context(), second)
		if held := time.Since(began); err != nil || answer.View != admission.ViewCalled || held < admission.HoldFor || held > admission.HoldFor+100*time.Millisecond {
			t.Errorf("held %s and answered %+v, %v; want 2 s and to come again", held, answer, err)
		}
		if answer.RetryAfter > 300*time.Millisecond {
			t.Errorf("come again after %s, want at once", answer.RetryAfter)
		}
		wait(t.Context(), 3*time.Second) //nolint:errcheck // virtual
		w.set(func(w *world) { w.sale.Control = admission.Run })
		if got, err := comes(t.Context(), l, third); err != nil || got.Admitted.Take != 1 {
			t.Errorf("the third got %+v, %v; want the first credit, for nobody else stands there", got.Admitted, err)
		}
		if len(w.passes) != 1 {
			t.Errorf("%d passes, want 1", len(w.passes))
		}
	})
}

// A place that is given up is free at once, at the door too: its request is
// answered, its credit goes to the next, nobody counts it any more.
func TestLeavingIsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 0)
		w.pending = 10 // something may come back: the line goes on
		lines, _ := w.replica(t, newMemory(time.Millisecond, 5*time.Millisecond))
		l := line(t, lines)
		tickets := make([]admission.Ticket, 30)
		for i := range tickets {
			tickets[i] = ticket(t, l, join(t, l, i))
		}
		eventually(t, "some are called", 20*time.Second, func() bool { return l.Standing().Front >= 2 })
		left := make(chan admission.Answer, 1)
		go func() {
			answer, err := comes(t.Context(), l, tickets[0])
			if err != nil {
				t.Error(err)
			}
			left <- answer
		}()
		wait(t.Context(), time.Second) //nolint:errcheck // virtual
		began := time.Now()
		if view, err := l.Leave(t.Context(), tickets[0]); err != nil || view != admission.ViewLeft {
			t.Errorf("leaving: %s, %v", view, err)
		}
		if answer := <-left; answer.View != admission.ViewLeft || time.Since(began) > 100*time.Millisecond {
			t.Errorf("the request at the door was told %s after %s, want left at once", answer.View, time.Since(began))
		}
		if view, err := l.Leave(t.Context(), tickets[29]); err != nil || view != admission.ViewLeft {
			t.Errorf("leaving again: %s, %v", view, err)
		}
		wait(t.Context(), 2*time.Second) //nolint:errcheck // virtual
		s := l.Standing()
		if live := s.Tail - s.Front - 1; s.Figures.Waiting != live {
			t.Errorf("%d waiting after one of those behind the front left, want %d", s.Figures.Waiting, live)
		}
		me, err := l.Me(t.Context(), tickets[0])
		if err != nil || me.View != admission.ViewLeft {
			t.Errorf("me: %+v, %v", me, err)
		}
		if again := join(t, l, 0); again.Place.Number != 30 || !again.New {
			t.Errorf("after leaving, a join gave %d, want a new place at the tail", again.Place.Number)
		}
		w.set(func(w *world) { w.free = 100 })
		if answer, err := comes(t.Context(), l, tickets[1]); err != nil || answer.Admitted.Take != 1 {
			t.Errorf("the next got %+v, %v; want the first credit", answer.Admitted, err)
		}
	})
}

// Nobody holds a pass that the ledger does not have. Once it has it, it is the
// pass that was meant.
func TestNoPassBeforeTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 100)
		lines, _ := w.replica(t, newMemory(time.Millisecond, 5*time.Millisecond))
		l := line(t, lines)
		k := ticket(t, l, join(t, l, 0))
		eventually(t, "called", 20*time.Second, func() bool { return l.Standing().Front > 0 })
		w.set(func(w *world) { w.ledgerDown = errDown })
		for range 3 {
			if answer, err := l.Pass(t.Context(), k); err != nil || answer.View != admission.ViewCalled || answer.Pass != "" {
				t.Fatalf("while the ledger is down: %+v, %v; want to come again", answer, err)
			}
		}
		w.set(func(w *world) { w.ledgerDown = nil })
		answer, err := comes(t.Context(), l, k)
		if err != nil || answer.View != admission.ViewPassed || answer.Admitted.Take != 1 {
			t.Errorf("after it healed: %+v, %v; want the pass of the first credit", answer.Admitted, err)
		}
		wait(t.Context(), 5*time.Second) //nolint:errcheck // virtual
		if taken := l.Standing().Taken; taken != 1 {
			t.Errorf("%d credits used for one place, want 1", taken)
		}
	})
}

// A credit whose use is unknown lets nobody in twice, and the place keeps the
// pass that came of it.
func TestUnknownPassKeepsItsTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, fault := range []admissiontest.Fault{admissiontest.LostReply, admissiontest.LostCall, admissiontest.Broken} {
			for _, call := range []string{"Pass", "Take", "Refill", "Place", "Door"} {
				w := newWorld(t, 10, 100)
				truth := newMemory(time.Millisecond, 5*time.Millisecond)
				store := admissiontest.NewFaulty(truth)
				lines, stop := w.replica(t, store)
				l := line(t, lines)
				k := ticket(t, l, join(t, l, 0))
				eventually(t, "called", 20*time.Second, func() bool { return l.Standing().Front > 0 })
				store.Next(call, fault, fault, fault)
				answer, err := comes(t.Context(), l, k)
				if err != nil || answer.View != admission.ViewPassed {
					t.Errorf("%s with %s: %+v, %v", call, fault, answer, err)
				}
				if again, err := l.Pass(t.Context(), k); err != nil || again.Pass != answer.Pass {
					t.Errorf("%s with %s: asked again, another pass", call, fault)
				}
				if door, err := truth.Door(t.Context(), l.Sale().Event); err != nil || answer.Admitted.Take > door.Taken {
					t.Errorf("%s with %s: let in by take %d, of %d that the store counted, %v", call, fault, answer.Admitted.Take, door.Taken, err)
				}
				w.checkPace(t)
				stop()
			}
		}
	})
}

// Tickets of others, of other numbers and of the epoch before are told so.
func TestTicketsThatAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 100)
		w.sale.PassLife = 10 * time.Second
		lines, _ := w.replica(t, newMemory(time.Millisecond, 5*time.Millisecond))
		l := line(t, lines)
		first := join(t, l, 0)
		k := ticket(t, l, first)
		if _, err := comes(t.Context(), l, k); err != nil {
			t.Fatal(err)
		}
		wait(t.Context(), 11*time.Second) //nolint:errcheck // virtual
		if a, err := l.Pass(t.Context(), k); err != nil || a.View != admission.ViewOver {
			t.Errorf("after the pass ran out: %+v, %v; want over", a, err)
		}
		second := join(t, l, 0)
		if !second.New || second.Place.Number <= first.Place.Number {
			t.Errorf("a join after that gave %+v, want a new place at the tail", second.Place)
		}
		if a, err := l.Pass(t.Context(), k); err != nil || a.View != admission.ViewOver {
			t.Errorf("the older ticket: %+v, %v; want over", a, err)
		}
		if _, err := comes(t.Context(), l, ticket(t, l, second)); err != nil {
			t.Errorf("the newer ticket after the older one was shown: %v", err)
		}
		w.set(func(w *world) { w.sale.Epoch = 2 })
		eventually(t, "the line begins anew", 5*time.Second, func() bool {
			young, there := lines.Line(event)
			if !there || young.Epoch() != 2 {
				return false
			}
			_, err := young.Join(t.Context(), holder(99), admission.Ticket{})
			return err == nil
		})
		young, _ := lines.Line(event)
		if _, _, err := young.Ticket(first.Ticket); !errors.Is(err, admission.EpochChanged) {
			t.Errorf("a ticket of the epoch before: %v, want epoch_changed", err)
		}
		if j := join(t, young, 99); j.Place.Number != 0 {
			t.Errorf("the first place of the new epoch is %d", j.Place.Number)
		}
	})
}

// Draining answers those at the door and holds nobody any more; nobody who was
// let in is forgotten.
func TestDrainHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10, 0)
		w.pending = 10
		lines, stop := w.replica(t, newMemory(time.Millisecond, 5*time.Millisecond))
		l := line(t, lines)
		k := ticket(t, l, join(t, l, 0))
		eventually(t, "called", 20*time.Second, func() bool { return l.Standing().Front > 0 })
		told := make(chan admission.Answer, 1)
		go func() {
			a, err := l.Pass(t.Context(), k)
			if err != nil {
				t.Error(err)
			}
			told <- a
		}()
		wait(t.Context(), 100*time.Millisecond) //nolint:errcheck // virtual
		began := time.Now()
		if err := lines.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		if a := <-told; a.View != admission.ViewCalled || time.Since(began) > 10*time.Millisecond {
			t.Errorf("drained: told %s after %s, want to come again at once", a.View, time.Since(began))
		}
		if a, err := l.Pass(t.Context(), k); err != nil || a.View != admission.ViewCalled || time.Since(began) > 50*time.Millisecond {
			t.Errorf("a request during the drain: %+v, %v", a, err)
		}
		stop()
	})
}

// A door too full says so, and holds the lowest numbers.
func TestDoorIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 500, 1_000_000)
		w.held = 200
		lines, _ := w.replica(t, newMemory(time.Millisecond, 2*time.Millisecond))
		l := line(t, lines)
		const people = 250
		tickets := make([]admission.Ticket, people)
		crowd(t, people, func(i int) { tickets[i] = ticket(t, l, join(t, l, i)) })
		eventually(t, "all are called", time.Minute, func() bool { return l.Standing().Front >= people })
		w.set(func(w *world) { w.sale.Control = admission.Pause })
		wait(t.Context(), 2*time.Second) //nolint:errcheck // virtual
		var away atomic.Int32
		came := time.Now()
		crowd(t, people, func(i int) {
			_, err := l.Pass(t.Context(), tickets[i])
			if held := time.Since(came) >= admission.HoldFor; held && err == nil {
				return
			} else if err != nil && !errors.Is(err, admission.ErrBusy) || tickets[i].Number < int64(w.held) {
				t.Errorf("number %d was sent away (%v)", tickets[i].Number, err)
			}
			away.Add(1)
		})
		if away.Load() != 50 {
			t.Errorf("%d of %d were not held, want 50", away.Load(), people)
		}
	})
}

// stands is somebody who comes to one door after the other, and to each when it says,
// until they are let in.
func stands(ctx context.Context, doors []*admission.Line, first int, k admission.Ticket) {
	for asks := first; ; asks++ {
		a, err := doors[asks%len(doors)].Pass(ctx, k)
		if err != nil || a.View == admission.ViewPassed || wait(ctx, a.RetryAfter) != nil {
			return
		}
	}
}
