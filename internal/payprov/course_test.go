package payprov_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"waitroom/internal/payprov"
)

// A refund goes its course: by the card that paid, by a script, or by hand.
// Where it ends and what is told is the same.
func TestARefundGoesItsCourse(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		card, script string
		first, last  string
		refunded     int64 // of 1000, at the end
		told         []string
	}{
		{"pm_card_visa", "", "succeeded", "succeeded", 400, nil},
		{"pm_card_pendingRefund", "", "pending", "succeeded", 400, []string{"refund.updated"}},
		{"pm_card_refundFail", "", "succeeded", "failed", 0, []string{"refund.updated", "refund.failed"}},
		{"pm_card_visa", "refund_pending=true&refund_then=succeeded&refund_in=72h", "pending", "succeeded", 400, []string{"refund.updated"}},
		{"pm_card_visa", "refund_pending=true&refund_then=failed&refund_in=72h&refund_reason=declined", "pending", "failed", 0, []string{"refund.updated", "refund.failed"}},
		{"pm_card_visa", "refund_pending=true&refund_then=canceled&refund_in=72h", "pending", "canceled", 0, []string{"refund.updated"}},
		{"pm_card_visa", "refund_then=failed&refund_in=72h", "succeeded", "failed", 0, []string{"refund.updated", "refund.failed"}},
	} {
		t.Run(c.card+" "+c.script, func(t *testing.T) {
			s, endpoint := newShop(t, always(200))
			p, base := start(t, payprov.Config{Webhooks: []payprov.Endpoint{endpoint}, Settle: 72 * time.Hour})
			in := post(t, base+"/v1/payment_intents", "", "amount", "1000", "currency", "eur", "confirm", "true", "payment_method", c.card)
			if c.script != "" {
				play(t, base, "path=/v1/refunds&"+c.script)
			}
			re := post(t, base+"/v1/refunds", "", "payment_intent", in.ID, "amount", "400")
			p.Advance(3*day - time.Minute)
			if got := get(t, base+"/v1/refunds/"+re.ID); re.Status != c.first || got.Status != c.first {
				t.Errorf("at first %s, after three days less a minute %s, want %s", re.Status, got.Status, c.first)
			}
			if l := p.Ledger().Payments[0]; l.Refunded != 400 {
				t.Errorf("refunded %d at first, want 400", l.Refunded)
			}
			p.Advance(time.Minute)
			eventually(t, c.last, func() bool { return p.Ledger().Refunds[0].Status == c.last })
			settled(t, p)
			want := append([]string{"charge.refunded", "payment_intent.succeeded", "refund.created"}, c.told...)
			_, kinds := s.told(len(want))
			slices.Sort(kinds)
			slices.Sort(want)
			if !slices.Equal(kinds, want) {
				t.Errorf("told %v, want %v", kinds, want)
			}
			if l := p.Ledger().Payments[0]; l.Refunded != c.refunded || l.Captured != 1000 {
				t.Errorf("refunded %d of %d at the end, want %d of 1000", l.Refunded, l.Captured, c.refunded)
			}
			if got := get(t, base+"/v1/refunds/"+re.ID); strings.Contains(got.body, "failure_reason") != (c.last == "failed") {
				t.Errorf("at the end %s", got.body)
			}
		})
	}
}

func TestARefundIsSettledByHand(t *testing.T) {
	p, base := start(t, payprov.Config{})
	id := paid(t, base, "1000")
	if err := p.Play(payprov.Script{Path: "/v1/refunds", Refund: payprov.Course{Pending: true}}); err != nil {
		t.Fatal(err)
	}
	re := post(t, base+"/v1/refunds", "k", "payment_intent", id)
	if re.Status != "pending" || !strings.Contains(re.body, `"pending_reason":"processing"`) {
		t.Errorf("created %s", re.body)
	}
	wantRefused(t, "a refund beside a pending one", post(t, base+"/v1/refunds", "", "payment_intent", id, "amount", "1"), 400, "invalid_request_error", "charge_already_refunded")
	if err := p.Settle(re.ID, "pending", ""); !errors.Is(err, payprov.ErrSettled) {
		t.Errorf("pending again: %v", err)
	}
	if err := p.Settle(re.ID, "succeeded", ""); err != nil {
		t.Error(err)
	}
	if got := post(t, base+"/_admin/refunds/"+re.ID, "", "status", "failed", "reason", "lost_or_stolen_card"); got.status != 200 {
		t.Errorf("failed after it succeeded: %d %s", got.status, got.body)
	}
	for _, status := range []string{"succeeded", "failed", ""} {
		if err := p.Settle(re.ID, status, ""); !errors.Is(err, payprov.ErrSettled) {
			t.Errorf("from failed to %q: %v", status, err)
		}
	}
	if l := p.Ledger().Refunds[0]; l.Status != "failed" || l.Failure != "lost_or_stolen_card" || l.Key != "k" {
		t.Errorf("the ledger has %+v", l)
	}
	if again := post(t, base+"/v1/refunds", "", "payment_intent", id); again.Status != "succeeded" {
		t.Errorf("refunded again: %d %s", again.status, again.body)
	}
}

// Somebody refunds in the provider's own pages: no call, no operation.
func TestARefundByHandIsInTheLedgerAndInNoLog(t *testing.T) {
	p, base := start(t, payprov.Config{})
	id := paid(t, base, "1000")
	calls := len(p.Requests())
	if got := post(t, base+"/_admin/payment_intents/"+id+"/refund", "", "amount", "300"); got.status != 200 || got.ID == "" {
		t.Errorf("by hand: %d %s", got.status, got.body)
	}
	if _, err := p.RefundByHand(id, 0); err != nil {
		t.Error(err)
	}
	for _, amount := range []int64{1, -1} {
		if _, err := p.RefundByHand(id, amount); err == nil {
			t.Errorf("%d of nothing is refunded", amount)
		}
	}
	l := p.Ledger()
	if len(l.Refunds) != 2 || l.Refunds[0].Amount != 300 || l.Refunds[1].Amount != 700 || l.Refunds[0].Key != "" || l.Payments[0].Refunded != 1000 {
		t.Errorf("ledger %+v", l)
	}
	if n := len(p.Requests()) - calls; n != 0 {
		t.Errorf("%d calls logged, want 0", n)
	}
}

// A key's day goes by on the provider's clock, and what comes after it is a
// new request: two refunds under one key.
func TestTheProvidersClockEndsAKeysLife(t *testing.T) {
	p, base := start(t, payprov.Config{})
	id := paid(t, base, "1000")
	for i, step := range []struct {
		advance  string
		refunds  int
		replayed bool
	}{{"0s", 1, false}, {"23h59m", 1, true}, {"1m", 2, false}} {
		if got := post(t, base+"/_admin/clock", "", "advance", step.advance); got.status != 200 {
			t.Fatalf("clock: %d %s", got.status, got.body)
		}
		got, _ := try(t, base, "k", id)
		if n := len(p.Ledger().Refunds); n != step.refunds || (got.header.Get("Idempotent-Replayed") == "true") != step.replayed {
			t.Errorf("step %d: %d refunds, replayed %q, want %d, %v", i, n, got.header.Get("Idempotent-Replayed"), step.refunds, step.replayed)
		}
	}
	if got := post(t, base+"/_admin/clock", "", "advance", "-48h"); got.status != 400 {
		t.Errorf("back: %d %s, want 400", got.status, got.body)
	}
	if a, b := p.Ledger().Refunds[0], p.Ledger().Refunds[1]; a.Key != b.Key || b.Created-a.Created < 86400 {
		t.Errorf("the ledger has %+v and %+v", a, b)
	}
	if now := time.Until(p.Now()); now < 23*time.Hour || now > 25*time.Hour {
		t.Errorf("the provider's clock is %v ahead", now)
	}
}

// Stripe's newest-first pages: each refund of the payment once, none of others.
func TestTheRefundsOfOnePaymentComeInPages(t *testing.T) {
	_, base := start(t, payprov.Config{})
	one, other := paid(t, base, "10000"), paid(t, base, "10000")
	var made []string
	for i := range 23 {
		re := post(t, base+"/v1/refunds", "", "payment_intent", one, "amount", fmt.Sprint(100+i))
		made = append([]string{re.ID}, made...)
		post(t, base+"/v1/refunds", "", "payment_intent", other, "amount", "1")
	}
	var listed []string
	pages, after := 0, ""
	for more := true; more; pages++ {
		page := get(t, base+"/v1/refunds?limit=10&payment_intent="+one+after)
		var ids []string
		ids, more = listOf(t, page)
		listed = append(listed, ids...)
		after = "&starting_after=" + ids[len(ids)-1]
	}
	if !slices.Equal(listed, made) || pages != 3 {
		t.Errorf("%d refunds in %d pages, want these 23 in 3, newest first", len(listed), pages)
	}
}
