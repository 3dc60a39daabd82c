package admission_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// With a slow store fewer come in than the rate says, for a refill whose reply comes
// late stands for less time. No more are lost than that, and the wait is told by
// those who do come in.
func TestAWaitIsToldByWhatASlowStoreLetsIn(t *testing.T) {
	const rate, people, off = 200, 6_000, 0.2
	for _, c := range []struct {
		takes    time.Duration // a call of the store
		replicas int
		least    float64 // of the rate, let in
		by       admission.Limit
	}{
		{5 * time.Millisecond, 2, 0.85, admission.ByRate},
		{20 * time.Millisecond, 1, 0.75, admission.ByStore},
		{40 * time.Millisecond, 1, 0.55, admission.ByStore},
		{40 * time.Millisecond, 3, 0.5, admission.ByStore},
	} {
		t.Run(fmt.Sprintf("%s, %d replicas", c.takes, c.replicas), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, rate, 1_000_000)
				w.sale.OpensAt = time.Now().Add(time.Minute)
				store := newMemory(c.takes, c.takes)
				var all []*admission.Line
				for range c.replicas {
					lines, _ := w.replica(t, store)
					all = append(all, line(t, lines))
				}
				tickets := make([]admission.Ticket, people)
				for from := 0; from < people; from += 200 {
					crowd(t, 200, func(i int) { tickets[from+i] = ticket(t, all[0], join(t, all[0], from+i)) })
				}
				advance(t, time.Until(w.sale.OpensAt.Add(-admission.CallAhead)))
				ctx, done := context.WithCancel(t.Context())
				var fans sync.WaitGroup
				for i := range people {
					fans.Go(func() { stands(ctx, all, i, tickets[i]) })
				}
				advance(t, time.Until(w.sale.OpensAt.Add(12*time.Second)))
				last := tickets[people-1]
				me, err := all[0].Me(ctx, last)
				if err != nil || !me.Known {
					t.Fatal(me, err)
				}
				from, began := all[0].Standing(), time.Now()
				if from.Figures.By != c.by || from.Figures.Rate != rate {
					t.Errorf("the rate in force is said to be %v, bounded by %s; want %v by %s", from.Figures.Rate, from.Figures.By, rate, c.by)
				}
				eventually(t, "the last is called", 5*time.Minute, func() bool { return all[0].Standing().Front > last.Number })
				took := time.Since(began)
				done()
				fans.Wait()
				in := float64(all[0].Standing().Taken-from.Taken) / took.Seconds()
				t.Logf("let in %.0f/s of %v/s; told %.1f s, it took %.1f s", in, rate, me.P50.Seconds(), took.Seconds())
				if in < c.least*rate {
					t.Errorf("%.0f/s were let in, want at least %.0f/s", in, c.least*rate)
				}
				if wrong := took.Seconds()/me.P50.Seconds() - 1; wrong > off || wrong < -off {
					t.Errorf("the wait was told as %.1f s and took %.1f s: %.0f %% off", me.P50.Seconds(), took.Seconds(), 100*wrong)
				}
				w.checkPace(t)
			})
		})
	}
}

// A small sale is told of its store as a large one: that it lets in fewer than the
// rate, and how many, though only a handful stand at the doors.
func TestASmallSaleIsToldWhatASlowStoreLetsIn(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		takes time.Duration
	}{{1, 20 * time.Millisecond}, {2, 40 * time.Millisecond}} {
		t.Run(fmt.Sprintf("%v/s, %s", c.rate, c.takes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const seconds = 300
				w := newWorld(t, c.rate, 1_000_000)
				w.sale.OpensAt = time.Now().Add(20 * time.Second)
				lines, _ := w.replica(t, newMemory(c.takes, c.takes))
				l := line(t, lines)
				ctx, done := context.WithCancel(t.Context())
				var fans sync.WaitGroup
				for i := range int(1.5*seconds*c.rate) + 60 {
					k := ticket(t, l, join(t, l, i))
					fans.Go(func() { comes(ctx, l, k) }) //nolint:errcheck // until the end
				}
				wait(ctx, time.Until(w.sale.OpensAt)+time.Minute) //nolint:errcheck // virtual
				var told float64
				by, before := map[admission.Limit]int{}, l.Standing().Taken
				for range seconds {
					wait(ctx, time.Second) //nolint:errcheck // virtual
					f := l.Standing().Figures
					by[f.By]++
					told += f.Pace / seconds
				}
				in := float64(l.Standing().Taken-before) / seconds
				t.Logf("let in %.2f/s of %v/s, told %.2f/s in the mean, bounded by %v", in, c.rate, told, by)
				if in > 0.9*c.rate {
					t.Fatalf("let in %.2f/s of %v/s: the store is not slow", in, c.rate)
				}
				if by[admission.ByStore] < seconds*9/10 || told < 0.9*in || told > 1.1*in {
					t.Errorf("told %.2f/s, bounded by %v; want %.2f/s by %s", told, by, in, admission.ByStore)
				}
				done()
				fans.Wait()
			})
		})
	}
}
