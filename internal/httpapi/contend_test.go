package httpapi_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// One seat, a thousand people with a pass who all want it at the same instant:
// one gets it, 999 are told so, and nobody is left in doubt.
func TestOneSeatThousandContenders(t *testing.T) {
	const contenders = 1000
	event := demotest.Event()
	rate, share, tickets := 1000.0, 0.02, 1.0 // so that all of them are let in before anybody buys
	event.Rate, event.SharePrior, event.TicketsPrior = &rate, &share, &tickets
	h := open(t, demo.Build{Event: event})
	began := time.Now()
	guests := h.letInMany(contenders)
	t.Logf("%d people let in within %.1f s", contenders, time.Since(began).Seconds())

	outcomes, took := map[string]int{}, make([]time.Duration, contenders)
	var exchanges []exchange // judged afterwards: judging costs more than answering
	var mu sync.Mutex
	var ready, wg sync.WaitGroup
	ready.Add(contenders)
	for i, g := range guests {
		wg.Go(func() {
			ready.Done()
			ready.Wait()
			began := time.Now()
			a, seen := h.contend(g)
			took[i] = time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			exchanges = append(exchanges, seen...)
			outcomes[map[bool]string{true: "won", false: a.code()}[a.status == 201]]++
		})
	}
	wg.Wait()
	slices.Sort(took)
	t.Logf("%v; p50 %s, p95 %s, last %s; %d asked again after busy", outcomes, took[contenders/2], took[contenders*95/100], took[contenders-1], len(exchanges)-contenders)
	if outcomes["won"] != 1 || outcomes["seats_taken"] != contenders-1 {
		t.Errorf("outcomes %v, want 1 won and %d seats_taken", outcomes, contenders-1)
	}
	judged := map[string]bool{}
	for _, x := range exchanges {
		if like := fmt.Sprint(x.status, x.header.Values("Content-Type"), string(x.body)); !judged[like] {
			judged[like] = true
			h.judge(x)
		}
	}
	if n := h.one(`SELECT count(*) FROM order_lines l JOIN seats s ON s.id = l.seat_id WHERE s.guid = 'A-1'`); n != 1 {
		t.Errorf("the seat is on %d orders, want 1", n)
	}
	if n := h.one(`SELECT count(*) FROM orders`); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

// contend claims the seat until there is a definite answer.
func (h *house) contend(g guest) (a answer, seen []exchange) {
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); h.pause(200 * time.Millisecond) {
		var x exchange
		x, a = h.send(h.t.Context(), call{method: "POST", path: orders, token: g.pass, key: "k", body: named("A-1")})
		seen = append(seen, x)
		if a.err != nil {
			h.t.Errorf("no answer: %v", a.err)
		} else if a.status != 503 && a.status != 202 {
			break
		}
	}
	return a, seen
}

// letInMany lets so many people in, a hundred at a time.
func (h *house) letInMany(n int) []guest {
	guests := make([]guest, n)
	turns := make(chan int, n)
	for i := range n {
		turns <- i
	}
	close(turns)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for i := range turns {
				guests[i] = h.tryEnter(admission.NewSecret())
			}
		})
	}
	wg.Wait()
	for i, g := range guests {
		if g.pass == "" {
			h.t.Fatalf("contender %d was not let in: %+v", i, h.status())
		}
	}
	return guests
}

// tryEnter is letIn for goroutines beside the test's: what goes wrong is that
// there is no pass.
func (h *house) tryEnter(secret string) (g guest) {
	g.secret = secret
	deadline := time.Now().Add(60 * time.Second)
	for g.ticket == "" && time.Now().Before(deadline) {
		var j joined
		a := h.do(call{method: "POST", path: places, token: secret})
		if a.status == 201 || a.status == 200 {
			a.into(h.t, &j)
			g.ticket, g.number = j.Ticket, j.Place.Number
		} else {
			h.pause(100 * time.Millisecond)
		}
	}
	for g.pass == "" && time.Now().Before(deadline) {
		var got struct {
			Pass string
			Take int64
		}
		a := h.do(call{method: "POST", path: places + "/me/pass", token: g.ticket})
		if a.status == 200 {
			a.into(h.t, &got)
			g.pass, g.take = got.Pass, got.Take
		} else {
			h.pause(100 * time.Millisecond)
		}
	}
	return g
}
