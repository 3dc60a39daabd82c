package admission_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// joinAtPace has people join one after the other, at that pace, and says how long
// each took, in order.
func joinAtPace(t *testing.T, l *admission.Line, who string, people int, perSecond float64, says func(error)) (took []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	start := time.Now()
	for i := range people {
		due := start.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
		wait(t.Context(), time.Until(due)) //nolint:errcheck // virtual
		all.Go(func() {
			begun := time.Now()
			_, err := l.Join(t.Context(), admission.HolderOf(fmt.Sprint(who, i)), admission.Ticket{})
			says(err)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(begun))
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// One event gets a hundred times the joins that it can take. It says so, at its
// own limit; every join of the other event in the same replica succeeds, and
// takes as long as it does alone.
func TestFloodOfOneEventIsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ball = "ball"
		// A place takes three calls of 30 ms, of JoinsAtOnce at once.
		const capacity, seconds = admission.JoinsAtOnce * 1000 / (3 * 30), 2
		times := 100
		if raced { // which bears 8,000 goroutines
			times = 3
		}
		hallWorld, ballWorld := newWorld(t, 20, 100_000), newWorld(t, 20, 100_000)
		ballWorld.sale.Event = ball
		lines := install(t, newMemory(25*time.Millisecond, 35*time.Millisecond), map[string]*world{event: hallWorld, ball: ballWorld})
		here := map[string]*admission.Line{}
		eventually(t, "both lines open", 10*time.Second, func() bool {
			here[event], _ = lines.Line(event)
			here[ball], _ = lines.Line(ball)
			return here[event] != nil && here[ball] != nil && lines.Ready(t.Context()) == nil
		})
		served := func(err error) {
			if err != nil {
				t.Errorf("the other event refused: %v", err)
			}
		}
		alone := joinAtPace(t, here[ball], "early ", 150, 80, served)
		var let, busy atomic.Int64
		var flood sync.WaitGroup
		flood.Go(func() {
			joinAtPace(t, here[event], "many ", times*capacity*seconds, float64(times*capacity), func(err error) {
				switch {
				case err == nil:
					let.Add(1)
				case errors.Is(err, admission.ErrBusy):
					busy.Add(1)
				default:
					t.Errorf("the flooded event: %v", err)
				}
			})
		})
		wait(t.Context(), 100*time.Millisecond) //nolint:errcheck // virtual
		beside := joinAtPace(t, here[ball], "late ", 150, 80, served)
		flood.Wait()
		t.Logf("p99 %s alone, %s beside a flood of which %d joined and %d were told to come again", p99(alone), p99(beside), let.Load(), busy.Load())
		if p99(beside) > 2*p99(alone) {
			t.Errorf("p99 %s beside the flood, %s alone; want twice at most", p99(beside), p99(alone))
		}
		if busy.Load() < int64((times-2)*capacity*seconds)/2 || let.Load() < capacity {
			t.Errorf("of the flood %d joined and %d were told to come again, want most of it, at its own limit", let.Load(), busy.Load())
		}
	})
}

// A hundred thousand people join within a second at three replicas; the one that
// releases is killed in the middle of it. Everybody gets one place, and in no
// window, however long, are more let in than the pace allows.
func TestPaceHoldsWhenAHundredThousandJoinAtOnce(t *testing.T) {
	people := 100_000
	if testing.Short() || raced {
		people = 2_000
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 200, 1_000_000)
		store := newMemory(2*time.Millisecond, 8*time.Millisecond)
		var lines []*admission.Line
		var stops []func()
		for range 3 {
			ls, stop := w.replica(t, store)
			lines, stops = append(lines, line(t, ls)), append(stops, stop)
		}
		var alive atomic.Pointer[[]*admission.Line]
		alive.Store(&lines)
		anyLine := func() *admission.Line { l := *alive.Load(); return l[rand.IntN(len(l))] }
		ctx, done := context.WithCancel(t.Context())
		defer done()
		began := time.Now()
		numbers := make([]int64, people)
		var joining, fans sync.WaitGroup
		for i := range people {
			joining.Add(1)
			fans.Go(func() {
				wait(ctx, rand.N(time.Second)) //nolint:errcheck // virtual
				j, err := anyLine().Join(ctx, holder(i), admission.Ticket{})
				for err != nil && wait(ctx, time.Second+rand.N(time.Second)) == nil {
					j, err = anyLine().Join(ctx, holder(i), admission.Ticket{})
				}
				numbers[i] = j.Place.Number
				joining.Done()
				k, _, err := anyLine().Ticket(j.Ticket)
				if err != nil {
					t.Error(err)
				}
				for ctx.Err() == nil {
					a, err := anyLine().Pass(ctx, k)
					if a.View == admission.ViewPassed {
						return
					}
					if err != nil {
						a.RetryAfter = time.Second
					}
					wait(ctx, a.RetryAfter) //nolint:errcheck // the loop looks
				}
			})
		}
		wait(ctx, 500*time.Millisecond) //nolint:errcheck // virtual
		killed := int(releases(t, store)[len("replica-")] - '1')
		left := slices.Delete(slices.Clone(lines), killed, killed+1)
		alive.Store(&left)
		stops[killed]()
		joining.Wait()
		t.Logf("%d have joined within %s", people, time.Since(began))
		eventually(t, "2,000 are let in", 2*time.Minute, func() bool { return len(w.after(0)) >= 2000 })
		done()
		fans.Wait()
		slices.Sort(numbers)
		for i := range numbers[1:] {
			if numbers[i] == numbers[i+1] {
				t.Fatalf("two have place %d", numbers[i])
			}
		}
		w.checkPace(t)
	})
}
