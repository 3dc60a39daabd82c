package daemon_test

import (
	"fmt"
	"testing"

	"waitroom/internal/payprov"
)

// Sums that cannot have been refunded of a payment, whoever's name they carry
// and whichever way the provider tells them, are acknowledged, so that it stops
// telling; they change no money, and a person has each once.
func TestSumsThatCannotBeOverTheWire(t *testing.T) {
	s := openShop(t, 1, payprov.Config{})
	c := s.cart("anna's secret")
	if a := s.notify(succeeded("evt_1", c, "here"), newSecret); a.body.Outcome != "paid" {
		t.Fatalf("%d %+v", a.status, a.body)
	}
	refunded := func(id, amount, currency, metadata string) []byte {
		return fmt.Appendf(nil, `{"id":%q,"object":"event","type":"charge.refunded","created":1,"data":{"object":{
			"id":"ch_1","object":"charge","payment_intent":"pi_evt_1","amount":2500,"amount_refunded":%s,"currency":%q,"metadata":{%s}}}}`,
			id, amount, currency, metadata)
	}
	for what, w := range map[string]struct{ amount, currency, outcome, kind, subject string }{
		"in another currency":       {"1000", "usd", "refund_differs", "refund_differs", "pi_evt_1"},
		"above what was captured":   {"2501", "eur", "refund_differs", "refund_differs", "pi_evt_1"},
		"below nothing":             {"-5", "eur", "unreadable", "unreadable", "ch_1"},
		"negative, of no currency":  {"-5", "xts", "unreadable", "unreadable", "ch_1"},
		"not a number":              {`"a lot"`, "eur", "unreadable", "unreadable", "ch_1"},
		"of no currency that is is": {"5", "xts", "refund_differs", "refund_differs", "pi_evt_1"},
	} {
		for n, metadata := range []string{``, `"install":"here"`, ``} {
			for range 2 { // and again, as the provider does
				a := s.notify(refunded(fmt.Sprint("evt_", what, n), w.amount, w.currency, metadata), newSecret)
				if a.status != 200 || a.body.Outcome != w.outcome {
					t.Errorf("%s: %d %q, want 200 %q", what, a.status, a.body.Outcome, w.outcome)
				}
			}
		}
		if n := s.Count(t, `SELECT count(*) FROM human_list WHERE kind = $1 AND subject = $2`, w.kind, w.subject); n != 1 {
			t.Errorf("%s: %d on the list, want 1", what, n)
		}
	}
	if n := s.Count(t, `SELECT told_refunded_minor + refunded_minor + refund_pending_minor FROM payments`); n != 0 {
		t.Errorf("%d of it moved, want 0", n)
	}
	if got := s.Status(t, c.order); got != "paid" {
		t.Errorf("the order is %s, want paid", got)
	}
}

// The same sum, said before and after a refund of that size failed, is of another refund:
// the provider's own time of each says so, also where they come in the wrong order.
func TestASumIsHeldAgainstWhenTheProviderSaidIt(t *testing.T) {
	s := openShop(t, 1, payprov.Config{})
	if a := s.notify(succeeded("evt_1", s.cart("anna's secret"), "here"), newSecret); a.body.Outcome != "paid" {
		t.Fatalf("%d %+v", a.status, a.body)
	}
	sum := func(id string, at int) []byte {
		return fmt.Appendf(nil, `{"id":%q,"object":"event","type":"charge.refunded","created":%d,"data":{"object":{
			"id":"ch_1","object":"charge","payment_intent":"pi_evt_1","amount":2500,"amount_refunded":2500,"currency":"eur","metadata":{}}}}`, id, at)
	}
	failed := []byte(`{"id":"evt_f","object":"event","type":"refund.failed","created":2000,"data":{"object":{
		"id":"re_a","object":"refund","payment_intent":"pi_evt_1","amount":2500,"status":"failed","currency":"eur","metadata":{}}}}`)
	for _, c := range []struct {
		body []byte
		want int
	}{{failed, 0}, {sum("evt_2", 1000), 0}, {sum("evt_3", 3000), 2500}} {
		if a := s.notify(c.body, newSecret); a.status != 200 {
			t.Fatalf("%d %+v", a.status, a.body)
		}
		if n := s.Count(t, `SELECT by_hand_minor FROM payments CROSS JOIN LATERAL money_left(id)`); n != c.want {
			t.Errorf("after %s: %d back by hand, want %d", c.body[:14], n, c.want)
		}
	}
}
