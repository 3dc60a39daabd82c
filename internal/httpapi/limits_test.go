package httpapi_test

import (
	"fmt"
	"sync"
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// Four for an account. Ten orders of one at the same instant, and with them one of a
// hundred and one of two hundred, over and over, paid in between: never more than four
// are held and paid, and all four can be had.
func TestAnAccountsParallelOrdersKeepItsLimit(t *testing.T) {
	event := demotest.Event()
	event.OrderLimit, event.AccountLimit, event.PassQuota = 4, 4, 10
	h := open(t, demo.Build{Event: event, Hall: demotest.Hall(t, 1, 400)})
	g := h.letIn()
	const limit, rounds = 4, 6
	for round := range rounds {
		wishes := []any{standing(100), standing(200)}
		for range 10 {
			wishes = append(wishes, standing(1))
		}
		answers := make([]answer, len(wishes))
		var ready, all sync.WaitGroup
		ready.Add(len(wishes))
		for i, wish := range wishes {
			all.Go(func() {
				ready.Done()
				ready.Wait()
				answers[i] = h.settle(g, fmt.Sprint("k-", round, "-", i), wish)
			})
		}
		all.Wait()
		var had []order
		refused := map[string]int{}
		for _, a := range answers {
			if a.status == 201 || a.status == 200 {
				had = append(had, h.order(a))
			} else {
				refused[a.code()]++
			}
		}
		want := 1 // one order is pending at a time
		if round >= limit {
			want = 0
		}
		if len(had) != want || refused["bad_request"] != 1 || refused["over_limit"] != 11-want {
			t.Fatalf("round %d: %d orders, and refused %v; want %d", round, len(had), refused, want)
		}
		for _, o := range had {
			h.pay(g, o)
		}
		if n := h.one(`SELECT count(*) FROM seats WHERE order_id IS NOT NULL`); n != int64(min(round+1, limit)) {
			t.Errorf("round %d: %d seats are held and paid", round, n)
		}
	}
}
