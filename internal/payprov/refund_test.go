package payprov_test

import (
	"sync"
	"testing"

	"waitroom/internal/payprov"
)

func paid(t testing.TB, base, amount string) string {
	t.Helper()
	got := post(t, base+"/v1/payment_intents", "", "amount", amount, "currency", "eur", "confirm", "true", "payment_method", "pm_card_visa")
	if got.Status != "succeeded" {
		t.Fatalf("pay %s: %d %s", amount, got.status, got.body)
	}
	return got.ID
}

func TestNoMoreIsRefundedThanWasCaptured(t *testing.T) {
	p, base := start(t, payprov.Config{})
	refund := func(key, id, amount string) said {
		return post(t, base+"/v1/refunds", key, "payment_intent", id, "amount", amount, "metadata[operation]", "refund:"+amount)
	}
	id := paid(t, base, "2599")
	for _, amount := range []string{"2500", "99"} {
		if got := refund("", id, amount); got.Status != "succeeded" {
			t.Errorf("refund %s: %d %s", amount, got.status, got.body)
		}
	}
	wantRefused(t, "one more", refund("", id, "1"), 400, "invalid_request_error", "charge_already_refunded")

	id = paid(t, base, "10000")
	var both [2]said
	var wait sync.WaitGroup
	for i := range both {
		wait.Go(func() { both[i] = refund([]string{"a", "b"}[i], id, "7000") })
	}
	wait.Wait()
	if both[0].status+both[1].status != 600 {
		t.Errorf("two refunds of 7000 of 10000 at once: %d and %d, want one 200 and one 400", both[0].status, both[1].status)
	}
	wantRefused(t, "too much", refund("", id, "3001"), 400, "invalid_request_error", "")
	open := post(t, base+"/v1/payment_intents", "", "amount", "100", "currency", "eur")
	wantRefused(t, "of nothing", refund("", open.ID, "100"), 400, "invalid_request_error", "payment_intent_unexpected_state")
	for _, in := range p.Ledger().Payments {
		var sum int64
		for _, re := range p.Ledger().Refunds {
			if re.Payment == in.ID {
				sum += re.Amount
			}
		}
		if sum != in.Refunded || sum > in.Captured {
			t.Errorf("%s: refunds add up to %d, refunded %d, captured %d", in.ID, sum, in.Refunded, in.Captured)
		}
	}
}
