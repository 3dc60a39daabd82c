package admission_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// slowToTake is a store on a slow way: its takes arrive up to most later. It keeps
// when they did.
type slowToTake struct {
	admission.Store
	most time.Duration

	mu    *sync.Mutex
	times *[]time.Time
}

func (s slowToTake) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	if err := wait(ctx, rand.N(s.most+1)); err != nil {
		return admission.Door{}, false, err
	}
	d, ok, err := s.Store.Take(ctx, event, epoch, k)
	if ok && err == nil {
		s.mu.Lock()
		for range k {
			*s.times = append(*s.times, time.Now())
		}
		s.mu.Unlock()
	}
	return d, ok, err
}

// Replicas whose takes are long on their way all the same keep the pace, at the store
// and in what is written down: an audit finds nothing that was not so.
func TestThePaceIsKeptAsWrittenDownBySlowWays(t *testing.T) {
	const slow = 800 * time.Millisecond
	for name, c := range map[string]struct {
		rate float64
		most []time.Duration
	}{
		"all slow, 200 a second":       {200, []time.Duration{slow, slow, slow, slow, slow, slow}},
		"all a little, 50 a second":    {50, []time.Duration{slow / 8, slow / 8, slow / 8}},
		"one of three, 200 a second":   {200, []time.Duration{0, 0, slow}},
		"one of three, 1,000 a second": {1000, []time.Duration{0, 0, slow}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { bySlowWays(t, c.rate, c.most) })
		})
	}
}

func bySlowWays(t *testing.T, rate float64, most []time.Duration) {
	w := newWorld(t, rate, 1_000_000)
	var mu sync.Mutex
	var times []time.Time
	truth := newMemory(2*time.Millisecond, 8*time.Millisecond)
	var all []*admission.Line
	for _, most := range most {
		lines, _ := w.replica(t, slowToTake{truth, most, &mu, &times})
		all = append(all, line(t, lines))
	}
	const atOnce = 200 // as many as a replica takes in
	tickets := make([]admission.Ticket, int(min(12*rate, 3000))/atOnce*atOnce)
	for from := 0; from < len(tickets); from += atOnce {
		crowd(t, atOnce, func(i int) { tickets[from+i] = ticket(t, all[0], join(t, all[0], from+i)) })
	}
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	var fans sync.WaitGroup
	for i, k := range tickets {
		fans.Go(func() {
			for asks := i; ; asks++ {
				a, err := all[asks%len(all)].Pass(ctx, k)
				if err != nil || a.View == admission.ViewPassed || wait(ctx, a.RetryAfter) != nil {
					return
				}
			}
		})
	}
	fans.Wait()
	w.checkPace(t)
	mu.Lock()
	defer mu.Unlock()
	if at, over := overPace(times, rate); over > 1e-6 {
		t.Errorf("P8: in a window of %.3f s, %.2f people more were taken at the store than %v/s allows", at, over, rate)
	}
	if len(times) < int(rate) {
		t.Errorf("%d were let in: nothing was judged", len(times))
	}
}
