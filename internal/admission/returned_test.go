package admission_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
)

// Three seats come back while five people stand at the doors of four replicas:
// three of them are let in, each once, and they are the first of the line. The
// other two stand on while the three may buy, and after they have.
func TestThreeReturnedSeatsLetThreeIn(t *testing.T) {
	stores := map[string]func(t *testing.T) [4]admission.Store{
		"local": func(t *testing.T) [4]admission.Store { s := localStore(t); return [4]admission.Store{s, s, s, s} },
		"dynamo": func(t *testing.T) [4]admission.Store {
			a, b := dynamoStores(t)
			return [4]admission.Store{a, b, a, b}
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			threeReturn(t, open(t))
		})
	}
}

func threeReturn(t *testing.T, stores [4]admission.Store) {
	w := newWorld(t, 50, 0)
	w.pending, w.sale.SharePrior, w.sale.TicketsPrior, w.sale.Slack = 3, 1, 1, 0
	var lines []*admission.Line
	for _, store := range stores {
		replica, stop := w.replica(t, store)
		defer stop()
		lines = append(lines, line(t, replica))
	}
	const people = 5
	tickets := make([]admission.Ticket, people)
	for i := range people {
		tickets[i] = ticket(t, lines[i%4], join(t, lines[i%4], i))
	}
	ctx, done := context.WithCancel(t.Context())
	defer done()
	var mu sync.Mutex
	in := map[int]admission.Pass{}
	held := make([]int, people) // how often each was told to come again
	var waiting sync.WaitGroup
	for i := range people {
		waiting.Go(func() {
			for {
				a, err := lines[i%4].Pass(ctx, tickets[i])
				mu.Lock()
				switch {
				case ctx.Err() != nil:
				case err != nil:
					t.Error(err)
				case a.View == admission.ViewPassed:
					in[i] = a.Admitted
				case a.View == admission.ViewCalled:
					held[i]++
				}
				over := in[i].Take != 0
				mu.Unlock()
				if over || wait(ctx, a.RetryAfter) != nil {
					return
				}
			}
		})
	}
	stood := func(i int) (times, entered int) {
		mu.Lock()
		defer mu.Unlock()
		return held[i], len(in)
	}
	eventually(t, "all five stand at the doors", 20*time.Second, func() bool {
		for i := range people {
			if n, _ := stood(i); n == 0 {
				return false
			}
		}
		return true
	})
	w.set(func(w *world) { w.free, w.pending = 3, 0 })
	for _, l := range lines {
		l.StockChanged()
	}
	eventually(t, "three are let in", 20*time.Second, func() bool { _, n := stood(0); return n >= 3 })
	stay := func(when string) {
		t.Helper()
		fourth, _ := stood(3)
		fifth, _ := stood(4)
		eventually(t, when+", the other two are told to come again, twice", 30*time.Second, func() bool {
			a, _ := stood(3)
			b, n := stood(4)
			return a >= fourth+2 && b >= fifth+2 || n > 3
		})
	}
	stay("while the three may buy")
	mu.Lock()
	passes := []admission.Pass{in[0], in[1], in[2]}
	mu.Unlock()
	for _, p := range passes {
		if w.buy(p, 1) != 1 {
			t.Errorf("place %d, let in by take %d, found no seat", p.Place, p.Take)
		}
	}
	stay("when the three have bought")
	done()
	waiting.Wait()
	var first []int
	for i := range in {
		first = append(first, i)
	}
	if slices.Sort(first); !slices.Equal(first, []int{0, 1, 2}) || len(w.after(0)) != 3 {
		t.Errorf("let in were %v, by %d takes; want the first three, by 3", first, len(w.after(0)))
	}
	w.checkPace(t)
}
