package httpapi_test

import (
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// payBy is the end of an order's time, as its row has it.
func (h *house) payBy(order string) (at time.Time) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), `SELECT pay_by FROM orders WHERE id = $1`, order).Scan(&at); err != nil {
		h.t.Fatal(err)
	}
	return at
}

// Nothing moves the end of an order's time that adds nothing to it: not the same
// attempt, asked again, nor others that are refused, nor a reload of any page or
// answer. Beginning to pay moves it, once, and whatever comes after does not.
func TestReloadingMovesNoDeadline(t *testing.T) {
	event := demotest.Event()
	event.PayWithin, event.PayExtension = 5*time.Minute, 20*time.Minute
	h := open(t, demo.Build{Event: event})
	g := h.letIn()
	const key = "cart"
	o := h.order(h.want(h.claim(g, key, named("A-1")), 201, ""))
	id, path := o.Order.ID, "/v1/orders/"+o.Order.ID
	b := h.browser()
	b.wears(g)
	shown := func(page string) {
		t.Helper()
		if status, body := b.ask("GET", page); status != 200 {
			t.Errorf("%s: %d %.200s", page, status, body)
		}
	}
	reloads := func(when string, want time.Time) {
		t.Helper()
		for range 3 {
			h.want(h.claim(g, key, named("A-1")), 200, "") // pressed again
			h.overLimit(g, 1, "pending_order", id)         // "+", which adds nothing
			h.want(h.claim(g, "none", standing(0)), 400, "bad_request")
			h.want(h.claim(g, key, named("A-1", "A-2")), 422, "key_reused")
			h.want(h.do(call{method: "GET", path: "/v1/events/" + demotest.EventID + "/attempts/" + key, token: g.ticket}), 200, "")
			shown("/seats")
			shown("/place")
			shown("/orders/" + id)
			var told struct {
				Order struct {
					PayBy time.Time `json:"pay_by"`
				}
			}
			h.want(h.do(call{method: "GET", path: path, token: g.ticket}), 200, "").into(t, &told)
			if got := h.payBy(id); !got.Equal(want) || !told.Order.PayBy.Equal(want) {
				t.Fatalf("%s: the time ends at %s, and %s is told; want %s", when, got, told.Order.PayBy, want)
			}
		}
	}
	pays := func(key string, status int) {
		t.Helper()
		h.want(h.do(call{method: "POST", path: path + "/payments", token: g.ticket, key: key, base: h.Pay}), status, "")
	}
	first := h.payBy(id)
	reloads("reloaded", first)
	pays("p", 201)
	moved := h.payBy(id)
	if more := moved.Sub(first); more < 10*time.Minute {
		t.Errorf("beginning to pay moved the time by %s, want about a quarter of an hour", more)
	}
	reloads("beginning to pay", moved)
	pays("p", 201)
	pays("another", 201)
	reloads("paying again", moved)
}
