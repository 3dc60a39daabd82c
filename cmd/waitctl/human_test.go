package main

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/daemon"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/support"
)

// paid is ann's order of two seats, paid.
func paid(t *testing.T, w waitctl, h *orderstest.Hall) (order, payment uuid.UUID) {
	t.Helper()
	order, payment = h.Order(t, "ann", 2), uuid.New()
	for _, sql := range []string{
		`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		 VALUES ($1, $2, 'stripe', 'pi_1', 'captured', 5000, 'EUR', 5000, 'on_order', now())`,
		`UPDATE orders SET status = 'paid', payment_id = $1, paid_at = now() WHERE id = $2`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql, payment, order); err != nil {
			t.Fatal(err)
		}
	}
	return order, payment
}

// An operator approves, refuses, limits, and works the human list off, all with
// who and why; what they cannot do is refused and says why.
func TestAPersonDecidesAtTheCommandLine(t *testing.T) {
	w := newWaitctl(t)
	h := orderstest.NewHall(t, w.pool, 4)
	order, _ := paid(t, w, h)
	desk := daemon.Asking{Install: "here"}.SupportDesk()
	ask := func(seat int) int64 {
		t.Helper()
		a, err := desk.Ask(t.Context(), w.pool, support.Wanted{
			Organiser: "house", Order: order, Line: fmt.Sprint("seat-", seat), Customer: "ann", By: "agent",
		})
		if err != nil {
			t.Fatal(err)
		}
		return a.Approval
	}
	first, second := fmt.Sprint(ask(0)), fmt.Sprint(ask(1))
	w.want(0, "waits", "refunds", "approvals")
	w.want(0, "is queued", "refunds", "approve", first, "--by", "mia", "--note", "was ill")
	w.want(2, "was decided already", "refunds", "approve", first)
	w.want(0, "refused", "refunds", "refuse", second, "--by", "mia")
	w.want(2, "no approval 99", "refunds", "approve", "99")
	w.want(0, "approved by mia (waitctl)", "refunds", "approvals", "--decided")
	w.want(0, "above 5000 minor units", "refunds", "limit", h.Event, "5000")
	w.want(2, "no event nowhere", "refunds", "limit", "nowhere", "1")
	w.want(2, "want 0 or more", "refunds", "limit", h.Event, "--", "-2")

	if _, err := w.pool.Exec(t.Context(), `UPDATE refund_operations SET sends = 3, first_sent_at = now(), status = 'manual'`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.pool.Exec(t.Context(), `INSERT INTO human_list (kind, subject, operation, order_id, payment_id, detail)
		SELECT 'refund_manual', id, id, order_id, payment_id, 'no end' FROM refund_operations`); err != nil {
		t.Fatal(err)
	}
	w.want(0, "refund_manual", "human", "list")
	w.want(0, "it can be: [take note push refunded not_refunded]", "human", "show", "1")
	w.want(0, "item 1: take", "human", "take", "1", "--by", "mia")
	w.want(0, "item 1: note", "human", "note", "1", "--why", "asked the bank", "--by", "mia")
	w.want(2, "not_now", "human", "resolve", "1", "--why", "tired of it")
	w.want(0, "item 1: push", "human", "push", "1", "--why", "they are well again")
	w.want(2, "not_now", "human", "push", "1", "--why", "once more")
	if _, err := w.pool.Exec(t.Context(), `UPDATE refund_operations SET status = 'manual'`); err != nil {
		t.Fatal(err)
	}
	w.want(2, "refund_missing", "human", "decide", "1", "--as", "refunded", "--why", "found")
	w.want(2, "refunded or not_refunded", "human", "decide", "1", "--as", "lost", "--why", "found")
	w.want(0, "item 1: not_refunded", "human", "decide", "1", "--as", "not_refunded", "--why", "the account is closed")
	w.want(0, "refund_rejected", "human", "list")
	w.want(0, "item 2: renew", "human", "renew", "2", "--why", "another account", "--by", "mia")
	w.want(0, "asked the bank", "human", "show", "1")
	w.want(2, "no item 99", "human", "show", "99")
	if n := w.count(`SELECT count(*) FROM refund_operations WHERE id LIKE '%#2' AND status = 'queued'`); n != 1 {
		t.Errorf("%d renewed operations, want 1", n)
	}
}

// Somebody refunded an order by hand at the provider: an operator gives its seats back
// at the command line, once, and not without saying why.
func TestSeatsOfAnOrderRefundedByHandGoBackAtTheCommandLine(t *testing.T) {
	w := newWaitctl(t)
	h := orderstest.NewHall(t, w.pool, 4)
	order, payment := paid(t, w, h)
	if _, err := w.pool.Exec(t.Context(), `INSERT INTO human_list (kind, subject, order_id, payment_id, detail) VALUES ('refund_by_hand', 're_1', $1, $2, 'by hand')`, order, payment); err != nil {
		t.Fatal(err)
	}
	w.want(2, "not_now", "human", "give-back", "1", "--why", "refunded at the provider")
	if _, err := w.pool.Exec(t.Context(), `INSERT INTO provider_refunds (provider, id, payment_id, amount_minor, currency, status) VALUES ('stripe', 're_1', $1, 5000, 'EUR', 'succeeded')`, payment); err != nil {
		t.Fatal(err)
	}
	w.want(0, "it can be: [take note give_back resolve]", "human", "show", "1")
	w.want(2, "why", "human", "give-back", "1")
	w.want(0, "item 1: give_back", "human", "give-back", "1", "--why", "refunded at the provider", "--by", "mia")
	w.want(2, "not_now", "human", "give-back", "1", "--why", "once more")
	w.want(0, "seats given back: refunded at the provider", "human", "show", "1")
	if n := w.count(`SELECT count(*) FROM seats WHERE order_id IS NULL`); n != 4 {
		t.Errorf("%d seats are free, want 4", n)
	}
}
