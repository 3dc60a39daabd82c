package daemon_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/orders"
	"waitroom/internal/payprov"
)

// exec changes what only time would.
func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.Pool.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// No notice of the provider's ever arrives, and answers are lost: within a
// bounded time every order is paid, or its money is on its way back, or nobody can
// pay it any more. Nothing stays in payment, here or at the provider.
func TestNothingStaysInPaymentWithoutNotices(t *testing.T) {
	s := openDeafShop(t, 5, payprov.Config{})
	prompt, late, gone, lost, cut := s.cart("prompt"), s.cart("late"), s.cart("gone"), s.cart("lost"), s.cart("cut")
	s.decide(s.open(prompt.order, prompt.ticket, "a").body.Payment.CheckoutURL, "pay")
	s.decide(s.open(late.order, late.ticket, "a").body.Payment.CheckoutURL, "pay")
	s.open(gone.order, gone.ticket, "a")
	play := func(script payprov.Script) {
		if err := s.provider.Play(script); err != nil {
			t.Fatal(err)
		}
	}
	play(payprov.Script{Method: "POST", Path: "/v1/payment_intents", Say: payprov.RST, Commit: true})
	if a := s.open(lost.order, lost.ticket, "a"); a.status != 503 || a.body.Code != "payment_unknown" {
		t.Fatalf("a lost answer: %d %s", a.status, a.body.Code)
	}
	cutName := s.open(cut.order, cut.ticket, "a").body.Payment.ID
	// The first cancellation of that one is carried out, and its answer lost.
	var atProvider string
	s.Scan(t, `SELECT provider_payment_id FROM payments WHERE id = $1`, []any{cutName}, &atProvider)
	play(payprov.Script{Method: "POST", Path: "/v1/payment_intents/" + atProvider + "/cancel", Say: payprov.FIN, Commit: true})

	s.Lapse(t, late.order, gone.order, lost.order, cut.order)
	if n, err := orders.ExpireDue(t.Context(), s.Pool, 200); n != 4 || err != nil {
		t.Fatalf("%d orders expired (%v), want 4", n, err)
	}
	come := func() {
		s.exec(`UPDATE payments SET look_at = now() WHERE look_at IS NOT NULL AND looking_until IS NULL`)
	}
	within(t, 30*time.Second, "the prompt one is paid", func() bool {
		s.exec(`UPDATE orders SET pay_by = clock_timestamp() + interval '14 seconds' WHERE id = $1 AND status = 'pending'`, prompt.order)
		come()
		return s.Status(t, prompt.order) == "paid"
	})
	within(t, 30*time.Second, "nothing is in payment", func() bool {
		come()
		return s.Count(t, `SELECT count(*) FROM payments WHERE status IN ('opening', 'open') OR look_at IS NOT NULL`) == 0
	})
	if n := s.Count(t, `SELECT count(*) FROM refund_operations WHERE reason = 'late' AND order_id = $1`, late.order); n != 1 {
		t.Errorf("%d refunds of the late money, want 1", n)
	}
	stands := map[string]int{}
	for _, p := range s.provider.Ledger().Payments {
		stands[p.Status]++
	}
	if stands["succeeded"] != 2 || stands["canceled"] != 3 || len(stands) != 2 {
		t.Errorf("at the provider: %v, want 2 succeeded and 3 canceled", stands)
	}
	metric(t, s.ops, `waitroom_payments_past_end 0`)
	metric(t, s.ops, `waitroom_payments_unknown 0`)
	metric(t, s.ops, `waitroom_payments_asked_total{did="look",outcome="paid"} 1`)
}

// The provider refuses the cancellation of a payment that has just succeeded:
// the money is found, and goes back.
func TestACancellationThatComesTooLateFindsTheMoney(t *testing.T) {
	s := openDeafShop(t, 1, payprov.Config{})
	c := s.cart("anna's secret")
	page := s.open(c.order, c.ticket, "a").body.Payment.CheckoutURL
	s.Lapse(t, c.order)
	expire(t, s.Pool)
	s.decide(page, "pay")
	s.exec(`UPDATE payments SET look_at = now()`)
	within(t, 20*time.Second, "the money is on its way back", func() bool {
		return s.Count(t, `SELECT count(*) FROM refund_operations WHERE reason = 'late'`) == 1
	})
}

// When openings have used up their share of the provider's calls, the next are
// told to come again, and leave nothing behind; who has a payment gets it.
func TestOpeningsKeepToTheirShare(t *testing.T) {
	s := openDeafShop(t, 4, payprov.Config{}, func(c *daemon.PayCallbackConfig) { c.Rate, c.SweepRate = 1.001, 1 })
	first := s.cart("first")
	if a := s.open(first.order, first.ticket, "a"); a.status != 201 {
		t.Fatalf("the first: %d %s", a.status, a.body.Code)
	}
	for i := range 3 {
		c := s.cart(fmt.Sprint("later-", i))
		if a := s.open(c.order, c.ticket, "a"); a.status != 503 || a.body.Code != "payments_throttled" || a.header.Get("Retry-After") != "2" {
			t.Errorf("without a share: %d %s, Retry-After %q; want 503 payments_throttled, 2", a.status, a.body.Code, a.header.Get("Retry-After"))
		}
	}
	if a := s.open(first.order, first.ticket, "a"); a.status != 201 {
		t.Errorf("who has a payment: %d %s, want 201", a.status, a.body.Code)
	}
	if rows, calls := s.Count(t, `SELECT count(*) FROM payments`), len(s.provider.Requests()); rows != 1 || calls != 1 {
		t.Errorf("%d payments were written down, %d calls made; want 1 and 1", rows, calls)
	}
	metric(t, s.ops, `waitroom_payment_openings_total{outcome="throttled"} 3`)
	metric(t, s.ops, `waitroom_provider_share_calls_total{use="open"} 1`)
}

// A process whose share of the provider's calls does not fit beside the others'
// does not start, and says how the sum came about; with a smaller one it does.
func TestSharesThatExceedTheAccountDoNotStart(t *testing.T) {
	s := openDeafShop(t, 1, payprov.Config{}, func(c *daemon.PayCallbackConfig) {
		c.AccountRate, c.Rate, c.SweepRate, c.Replicas = 40, 17, 2, 2
	})
	s.cart("anna's secret")
	refunder := orders.CallShare{Process: "refunder", Replicas: 1, PerSecond: 5, Account: 100}
	if err := orders.DeclareCalls(t.Context(), s.Pool, refunder); err != nil {
		t.Fatalf("34 + 5 of 40: %v", err)
	}
	again := s.config
	again.Rate, again.Logs = 18, io.Discard
	ctx, end := context.WithTimeout(t.Context(), 30*time.Second)
	defer end()
	err := daemon.PayCallback(ctx, again)
	want := "paycallback 2 × 18 + refunder 1 × 5 = 41 calls a second, more than the account's 40 (PROVIDER_ACCOUNT_RATE)"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("41 of 40: %v\nwant %s", err, want)
	}
	if n := s.Count(t, `SELECT calls_per_s::int FROM provider_shares WHERE process = 'paycallback'`); n != 17 {
		t.Errorf("the share that was refused is written down: %d, want 17", n)
	}
}
