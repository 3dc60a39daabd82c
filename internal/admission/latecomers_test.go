package admission_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// Forty people were called and did not come. When all of them come back after
// the call window they keep their places and are told where they stand; as long
// as others are at the door they get a fifth of the takes and a few, lowest
// number first, at any of the replicas; and once they are alone, all of them.
func TestLatecomersHaveTheirLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late, window = 40, 20 * time.Second
		w := newWorld(t, 10, 100_000)
		w.sale.CallWindow = window
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var lines []*admission.Line
		for range 3 {
			ls, _ := w.replica(t, store)
			lines = append(lines, line(t, ls))
		}
		var tickets []admission.Ticket
		for i := range late {
			tickets = append(tickets, ticket(t, lines[0], join(t, lines[0], i)))
		}
		ctx, done := context.WithCancel(t.Context())
		defer done()
		var fans sync.WaitGroup
		for i := late; i < 1200; i++ {
			fans.Go(func() { visit(ctx, w, lines, i) })
		}
		eventually(t, "the first are called", time.Minute, func() bool { return lines[0].Standing().Front >= late })
		wait(ctx, window+15*time.Second) //nolint:errcheck // virtual
		me, err := lines[1].Me(ctx, tickets[0])
		if err != nil || me.View != admission.ViewCalled || !me.Late {
			t.Fatalf("after the call window: %+v, %v; want called, and late", me, err)
		}
		began := time.Now()
		var back sync.WaitGroup
		for i, k := range tickets {
			back.Go(func() {
				for ctx.Err() == nil {
					a, err := lines[rand.IntN(3)].Pass(ctx, k)
					if err == nil && a.View == admission.ViewPassed {
						return
					}
					if err == nil && !a.Late {
						t.Errorf("latecomer %d is answered %+v", i, a.Position)
					}
					wait(ctx, a.RetryAfter) //nolint:errcheck // the loop looks
				}
			})
		}
		back.Wait()
		t.Logf("%d latecomers were let in within %s, at 10/s", late, time.Since(began))
		var takes []admission.Entry
		for _, e := range w.after(0) {
			if !e.TakenAt.Before(began) {
				takes = append(takes, e)
			}
		}
		slices.SortFunc(takes, func(a, b admission.Entry) int { return int(a.Take - b.Take) })
		inLane := 0
		var settled []admission.Entry // who went once the replicas had heard of each other's doors
		for i, e := range takes {
			if e.Place >= late {
				continue
			}
			inLane++
			// One, a second's share saved at each of three replicas before they hear
			// of each other, and what two of them take in a second unheard of.
			if float64(inLane) > 0.2*float64(i+1)+1+3*(1+2)+2*2 {
				t.Fatalf("%d of %d takes were latecomers'", inLane, i+1)
			}
			if e.TakenAt.Sub(began) > 3*time.Second {
				settled = append(settled, e)
			}
		}
		// Each goes to another door every two seconds, and a door hears of the
		// others once a second: who is in between may be passed by a few.
		share := inverted(settled)
		t.Logf("%.1f %% of pairs of latecomers against the order", 100*share)
		if share > 0.12 {
			t.Errorf("%.0f %% of pairs of latecomers went against the order", 100*share)
		}
		if took := time.Since(began); took < 12*time.Second {
			t.Errorf("the latecomers took %s: they had more than their share", took)
		}
		done()
		fans.Wait()
		w.checkPace(t)
	})
}

// People came to a door in time and stand there past their call window.
// Their replica dies: at the next door they are where they stood, not latecomers.
func TestWhoStoodAtADoorThatDiedIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people, window = 50, 10 * time.Second
		w := newWorld(t, 1, 100_000)
		w.sale.CallWindow = window
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		lines, die := w.replica(t, store)
		dies := line(t, lines)
		other, _ := w.replica(t, store)
		lives := line(t, other)
		var tickets []admission.Ticket
		for i := range people {
			tickets = append(tickets, ticket(t, dies, join(t, dies, i)))
		}
		ctx, leave := context.WithCancel(t.Context())
		stood := make([]bool, people) // when it died
		var stand sync.WaitGroup
		for i, k := range tickets {
			stand.Go(func() {
				for ctx.Err() == nil {
					a, err := dies.Pass(ctx, k)
					if err == nil {
						stood[i] = a.View == admission.ViewCalled && !a.Late
					}
					if a.View == admission.ViewPassed {
						return
					}
					wait(ctx, max(a.RetryAfter, time.Second)) //nolint:errcheck // the loop looks
				}
			})
		}
		wait(ctx, 2*window) //nolint:errcheck // virtual
		leave()
		die()
		stand.Wait()
		wait(t.Context(), 10*time.Second) //nolint:errcheck // for the other to find it dead
		left := 0
		for i, k := range tickets {
			a, err := lives.Me(t.Context(), k)
			if err != nil {
				t.Fatalf("person %d: %v", i, err)
			}
			if stood[i] && a.View != admission.ViewPassed {
				left++
				if a.View != admission.ViewCalled || a.Late {
					t.Errorf("person %d stood at a door in time, and is answered %+v at the next", i, a)
				}
			}
		}
		if left == 0 {
			t.Errorf("nobody stood at the door when it died")
		}
	})
}
