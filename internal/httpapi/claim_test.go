package httpapi_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/inventory"
)

// The same attempt again is the same order; the same key for something else is
// refused; the same key of somebody else is theirs.
func TestKeyNamesOneAttempt(t *testing.T) {
	h := open(t, demo.Build{})
	g, other := h.letIn(), h.letIn()
	const key = "a/b?c=%2F#d" // every character that an address would swallow
	first := h.order(h.want(h.claim(g, key, named("A-1", "A-2")), 201, ""))
	for _, spelt := range []any{named("A-1", "A-2"), "{ \"seats\" : [\"A-1\",\n\"A-2\"] }"} {
		if again := h.order(h.want(h.claim(g, key, spelt), 200, "")); again.Order.ID != first.Order.ID {
			t.Errorf("asked again: order %s, was %s", again.Order.ID, first.Order.ID)
		}
	}
	facts := h.facts()
	h.want(h.claim(g, key, named("A-2", "A-1", "A-3")), 422, "key_reused")
	h.want(h.claim(g, key, standing(1)), 422, "key_reused")
	h.same(facts)
	at := h.want(h.do(call{method: "GET", path: "/v1/events/" + demotest.EventID + "/attempts/" + url.PathEscape(key), token: g.ticket}), 200, "")
	if got := h.order(at); got.Order.ID != first.Order.ID {
		t.Errorf("the attempt's order is %s, want %s", got.Order.ID, first.Order.ID)
	}
	if theirs := h.order(h.want(h.claim(other, key, named("A-3")), 201, "")); theirs.Order.ID == first.Order.ID {
		t.Error("two holders share an order by its key")
	}
}

// Eight requests at once with one key: one order.
func TestSameAttemptAtOnceIsOneOrder(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			a := h.settle(g, "k", standing(2))
			if a.status != 200 && a.status != 201 {
				t.Errorf("answered %s", a)
				return
			}
			ids[i] = h.order(a).Order.ID
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if all := slices.Compact(ids); len(all) != 1 {
		t.Errorf("orders %q, want one", all)
	}
	if n := h.one(`SELECT count(*) FROM orders`); n != 1 {
		t.Errorf("%d orders written down, want 1", n)
	}
}

// settle claims until there is a definite answer, as a client does.
func (h *house) settle(g guest, key string, wish any) (a answer) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); h.pause(50 * time.Millisecond) {
		a = h.claim(g, key, wish)
		if a.err == nil && a.status != 503 && a.status != 202 {
			return a
		}
	}
	return a
}

// A refusal for seats names exactly those that are not to be had, and takes
// none of the others.
func TestTakenNamesTheSeats(t *testing.T) {
	h := open(t, demo.Build{Hall: demotest.Hall(t, 10, 3)})
	a, b := h.letIn(), h.letIn()
	o := h.order(h.want(h.claim(a, "k", named("A-1", "A-2")), 201, ""))
	facts := h.facts()
	for _, c := range []struct{ wish, taken []string }{
		{[]string{"A-3", "A-1"}, []string{"A-1"}},
		{[]string{"A-2", "A-4", "A-1"}, []string{"A-2", "A-1"}},
		{[]string{"A-1", "A-2"}, []string{"A-1", "A-2"}},
	} {
		var got struct{ Taken []string }
		h.want(h.claim(b, "k", named(c.wish...)), 409, "seats_taken").into(t, &got)
		if slices.Sort(got.Taken); !slices.Equal(got.Taken, slices.Sorted(slices.Values(c.taken))) {
			t.Errorf("wished for %q: taken %q, want %q", c.wish, got.Taken, c.taken)
		}
	}
	var left struct{ Left int }
	h.want(h.claim(b, "k", standing(4)), 409, "sold_out").into(t, &left)
	if left.Left != 3 {
		t.Errorf("sold out with %d left, want 3", left.Left)
	}
	h.same(facts)
	h.want(h.do(call{method: "POST", path: "/v1/orders/" + o.Order.ID + "/cancel", token: a.ticket, key: "c"}), 200, "")
	// A refusal is not remembered: the same key may have them now.
	h.want(h.claim(b, "k", named("A-1", "A-2")), 201, "")
}

// The same plan imported again has other seats under the same names: they are sold
// as soon as they have been counted.
func TestThePlanImportedAgainIsSold(t *testing.T) {
	hall := demotest.Hall(t, 2, 5)
	h := open(t, demo.Build{Hall: hall})
	g := h.letIn()
	hall.Orphans = inventory.Strict // the seat map does not show it
	if out, detail, err := inventory.ImportHall(t.Context(), h.pool, demotest.EventID, hall, true); out != inventory.Imported || err != nil {
		t.Fatal(out, detail, err)
	}
	var last answer
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); h.pause(100 * time.Millisecond) {
		if last = h.claim(g, "k", named("A-1")); last.status == 201 {
			return
		}
	}
	t.Errorf("seat A-1 is free, and asked for by name: %s", last)
}

// A limit that is gone over is named, and so is the order that stands in the
// way.
func TestOverLimitNamesTheLimit(t *testing.T) {
	event := demotest.Event()
	event.OrderLimit, event.AccountLimit, event.PassQuota = 2, 3, 10
	h := open(t, demo.Build{Event: event})
	g := h.letIn()
	h.overLimit(g, 3, "order", "")
	first := h.order(h.want(h.claim(g, "one", standing(2)), 201, ""))
	h.overLimit(g, 1, "pending_order", first.Order.ID)
	h.pay(g, first)
	h.overLimit(g, 2, "account", "")
	h.want(h.claim(g, "two", standing(1)), 201, "")
}

func TestPassBuysItsQuota(t *testing.T) {
	event := demotest.Event()
	event.OrderLimit, event.AccountLimit, event.PassQuota = 2, 10, 3
	h := open(t, demo.Build{Event: event})
	g := h.letIn()
	h.pay(g, h.order(h.want(h.claim(g, "one", standing(2)), 201, "")))
	h.overLimit(g, 2, "pass", "")
}

func (h *house) overLimit(g guest, n int, limit, order string) {
	h.t.Helper()
	var got struct{ Limit, Order string }
	h.want(h.claim(g, "over", standing(n)), 409, "over_limit").into(h.t, &got)
	if got.Limit != limit || got.Order != order {
		h.t.Errorf("%d more: limit %q order %q, want %q and %q", n, got.Limit, got.Order, limit, order)
	}
}

// pay pays an order at the provider and waits for the notice.
func (h *house) pay(g guest, o order) {
	h.t.Helper()
	path := "/v1/orders/" + o.Order.ID
	var opened struct {
		Payment struct {
			CheckoutURL string `json:"checkout_url"`
			AmountMinor int64  `json:"amount_minor"`
		}
	}
	h.want(h.do(call{method: "POST", path: path + "/payments", token: g.ticket, key: "p", base: h.Pay}), 201, "").into(h.t, &opened)
	if opened.Payment.AmountMinor != o.Order.AmountMinor {
		h.t.Errorf("a payment of %d for an order of %d", opened.Payment.AmountMinor, o.Order.AmountMinor)
	}
	checkout, _, _ := strings.Cut(opened.Payment.CheckoutURL, "?")
	res, err := h.client.Post(checkout+"/pay", "", nil)
	if err != nil || res.StatusCode >= 400 {
		h.t.Fatalf("at the provider: %v %v", res, err)
	}
	res.Body.Close() //nolint:errcheck // nothing is read
	h.until("order paid", func() bool {
		return h.order(h.do(call{method: "GET", path: path, token: g.ticket})).Order.Status == "paid"
	})
}

// An order ends once: cancelled again it is cancelled, and what is paid or over
// cannot be cancelled. Its seats are for others at once.
func TestCancelTwiceIsCancelled(t *testing.T) {
	event := demotest.Event()
	event.PayWithin = time.Second
	event.PayExtension = 0
	h := open(t, demo.Build{Event: event})
	g, other := h.letIn(), h.letIn()
	o := h.order(h.want(h.claim(g, "k", named("A-1")), 201, ""))
	cancel := call{method: "POST", path: "/v1/orders/" + o.Order.ID + "/cancel", token: g.pass, key: "c"}
	h.want(h.do(cancel), 200, "")
	facts := h.facts()
	for _, key := range []string{"c", "another"} {
		cancel.key = key
		if got := h.order(h.want(h.do(cancel), 200, "")); got.Order.Status != "cancelled" {
			t.Errorf("cancelled again it is %q", got.Order.Status)
		}
	}
	h.want(h.do(call{method: "POST", path: "/v1/orders/" + o.Order.ID + "/payments", token: g.ticket, key: "p", base: h.Pay}), 409, "order_ended")
	h.same(facts)

	theirs := h.order(h.want(h.claim(other, "k", named("A-1")), 201, ""))
	h.until("expired", func() bool {
		return h.order(h.do(call{method: "GET", path: "/v1/orders/" + theirs.Order.ID, token: other.ticket})).Order.Status == "expired"
	})
	h.want(h.do(call{method: "POST", path: "/v1/orders/" + theirs.Order.ID + "/cancel", token: other.ticket, key: "c"}), 409, "order_ended")

	paid := h.order(h.want(h.claim(g, "again", named("A-1")), 201, ""))
	h.pay(g, paid)
	h.want(h.do(call{method: "POST", path: "/v1/orders/" + paid.Order.ID + "/cancel", token: g.ticket, key: "c"}), 409, "order_paid")
	h.want(h.do(call{method: "POST", path: "/v1/orders/" + paid.Order.ID + "/payments", token: g.ticket, key: "q", base: h.Pay}), 409, "order_paid")
}

// Who does not want to wait is told where the outcome will be.
func TestWaitThatEndsFirstHasAPlaceToLook(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	wish := call{
		method: "POST", path: orders, token: g.pass, key: "k/1", body: named("A-1"),
		header: map[string]string{"Prefer": "respond-async, wait=0"},
	}
	var a answer
	h.hold(`SELECT FROM seats WHERE guid = 'A-1' FOR UPDATE`, func() { a = h.do(wish) })
	if a.status != http.StatusAccepted {
		t.Fatalf("while somebody else locks the seat: %s", a)
	}
	at := call{method: "GET", path: a.header.Get("Location"), token: g.pass}
	h.until("the outcome at "+at.path, func() bool { return h.do(at).status == 200 })
	o := h.order(h.do(at))
	if again := h.order(h.settle(g, "k/1", named("A-1"))); again.Order.ID != o.Order.ID {
		t.Errorf("asked again: order %s, the Location has %s", again.Order.ID, o.Order.ID)
	}
}

// hold keeps locks while f runs.
func (h *house) hold(sql string, f func()) {
	h.t.Helper()
	tx, err := h.pool.BeginTx(h.t.Context(), pgx.TxOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer tx.Rollback(h.t.Context()) //nolint:errcheck // nothing was changed
	if _, err := tx.Exec(h.t.Context(), sql); err != nil {
		h.t.Fatal(err)
	}
	f()
}
