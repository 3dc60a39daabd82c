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

// An event whose prices the provider cannot be told exactly could not be paid
// for: it is refused as it is created, or as its prices are.
func TestPricesThatNobodyCouldChargeAreRefused(t *testing.T) {
	w := newWaitctl(t)
	file := func(currency, price string) string {
		return w.file("e.yaml", "id: gala\ntitle: G\ncurrency: "+currency+"\nopens_at: now\ngeneral_admission: [{section: F, category: A, count: 5}]\nprices: {A: "+price+"}\n")
	}
	w.want(2, `"XXX" is not a currency`, "event", "create", "-f", file("XXX", "10"))
	w.want(2, "the payment provider does not take IQD", "event", "create", "-f", file("IQD", "10"))
	w.want(2, "prices.A: the payment provider cannot charge 18.601 KWD exactly", "event", "create", "-f", file("KWD", "18.601"))
	w.want(0, "5 at 18.600 KWD", "event", "create", "-f", file("KWD", "18.6"))
	w.want(2, "cannot charge 18.601 KWD exactly", "plan", "import", "--event", "gala", "--replace", "--prices", "A=18.601",
		"--file", w.file("h.csv", "guid,section,x,y,category\ng1,S,0,0,A\n"))
	if n := w.count(`SELECT count(*) FROM price_tiers WHERE amount_minor = 18600`); n != 1 {
		t.Errorf("%d prices of 18.600, want 1", n)
	}
}
