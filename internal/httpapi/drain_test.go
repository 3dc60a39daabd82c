package httpapi_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
)

// A replica is taken out of service in the middle of a sale: whoever it has is
// answered, nobody is cut off, and every claim that was confirmed is there.
func TestDrainAnswersEverybody(t *testing.T) {
	const held, claiming = 50, 20
	h := open(t, demo.Build{})
	buyers := make([]guest, claiming)
	for i := range buyers {
		buyers[i] = h.letIn()
	}
	called := h.calledButNotIn(held)

	var doors [held]answer
	var stood [held]time.Duration
	var claims [claiming]answer
	var wg sync.WaitGroup
	for i, j := range called {
		wg.Go(func() {
			began := time.Now()
			x, a := h.send(t.Context(), call{method: "POST", path: places + "/me/pass", token: j.Ticket})
			doors[i], stood[i] = a, time.Since(began)
			if a.err == nil {
				h.judge(x)
			}
		})
	}
	h.until("all at the door", func() bool { return h.metric(`waitroom_line_waiting{event="gala",queue="held"}`) == held })
	// Somebody else has the seats locked while the replica is told to stop: the
	// claims are under way then, and settled within the drain.
	var stopped error
	h.hold(`SELECT FROM seats WHERE kind = 'numbered' FOR UPDATE`, func() {
		for i, g := range buyers {
			wg.Go(func() { claims[i] = h.claim(g, "k", named(fmt.Sprintf("%c-%d", 'A'+i/10, i%10+1))) })
		}
		h.until("claims under way", func() bool {
			return h.one(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`) > 0
		})
		wg.Go(func() { stopped = h.Stop("waitroom") })
		h.pause(100 * time.Millisecond)
	})
	began := time.Now()
	wg.Wait()
	t.Logf("door %v, claims %v; the last answer %s after the locks were gone", statuses(doors[:]), statuses(claims[:]), time.Since(began).Round(time.Millisecond))
	if stopped != nil {
		t.Errorf("the drain: %v", stopped)
	}
	// Who stands at the door is not kept until the end of their two seconds.
	if most := slices.Max(stood[:]); most > 1900*time.Millisecond {
		t.Errorf("somebody stood at the door for %s", most)
	}
	for _, a := range append(doors[:], claims[:]...) {
		if a.err != nil || a.status > 202 && a.status != 503 {
			t.Errorf("answered %s, want 200, 201, 202 or 503", a)
		}
	}
	confirmed := int64(0)
	for i, a := range claims {
		if a.status == 201 {
			confirmed++
			o := h.order(a)
			if n := h.one(`SELECT count(*) FROM seats WHERE order_id = $1`, o.Order.ID); n != 1 {
				t.Errorf("claim %d was confirmed, and its order has %d seats", i, n)
			}
		}
	}
	if confirmed == 0 {
		t.Error("no claim was confirmed: none was under way")
	}
	if a := h.do(call{method: "GET", path: "/v1/public/events"}); a.err == nil {
		t.Errorf("after the drain: %s", a)
	}
}

// calledButNotIn are people who may come to the door of a sale that is paused.
func (h *house) calledButNotIn(n int) []joined {
	h.t.Helper()
	all := make([]joined, n)
	for i := range all {
		all[i] = h.join("")
	}
	h.until("called", func() bool { return h.status().Front > all[n-1].Place.Number })
	if got, err := inventory.Pause(h.t.Context(), h.pool, demotest.EventID); err != nil || got != inventory.Changed {
		h.t.Fatal(got, err)
	}
	h.until("paused", func() bool { return h.status().State == "paused" })
	return all
}

func statuses(all []answer) map[string]int {
	n := map[string]int{}
	for _, a := range all {
		n[fmt.Sprint(a.status, " ", a.code())]++
	}
	return n
}
