package main

import (
	"testing"

	"waitroom/internal/orders/orderstest"
)

// While the provider is down, an operator gives pending orders more time: each
// once, and the record says why. What cannot be meant is refused with the reason.
func TestPendingOrdersAreExtendedOnce(t *testing.T) {
	w := newWaitctl(t)
	h := orderstest.NewHall(t, w.pool, 3)
	order := h.Order(t, "anna", 2)
	was := h.PayBy(t, order)
	extend := func(code int, says, by string) {
		t.Helper()
		w.want(code, says, "orders", "extend", "--event", h.Event, "--by", by, "--reason", "outage")
	}
	extend(0, "1 pending orders have 10m0s more to pay", "10m")
	extend(0, "0 pending orders have 10m0s more to pay", "10m")
	extend(2, "want 1s to 1h0m0s", "2h")
	w.want(2, "there is no event nowhere", "orders", "extend", "--event", "nowhere", "--by", "1m")
	if moved := h.PayBy(t, order).Sub(was); moved.Minutes() != 10 {
		t.Errorf("the deadline moved by %s, want 10m", moved)
	}
	if n := w.count(`SELECT count(*) FROM order_extensions WHERE by = '(waitctl)' AND reason = 'outage' AND done_at IS NOT NULL`); n != 2 {
		t.Errorf("%d extensions in the record, want 2", n)
	}
}
