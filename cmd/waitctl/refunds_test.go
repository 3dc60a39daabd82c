package main

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"waitroom/internal/orders/orderstest"
)

// What an operator sees of refunds, and the one thing that they can do.
func TestRefundsAreSeenAndPushed(t *testing.T) {
	w := newWaitctl(t)
	w.want(0, "nothing waits", "refunds", "forecast")
	h := orderstest.NewHall(t, w.pool, 2)
	order, payment := h.Order(t, "ann", 1), uuid.New()
	id := fmt.Sprintf("refund:%s:%s", order, payment)
	for _, sql := range []string{
		`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, refund_pending_minor, stands, captured_at)
		 SELECT split_part($1, ':', 3)::uuid, split_part($1, ':', 2)::uuid, 'stripe', 'pi_1', 'captured', 2500, 'EUR', 2500, 2500, 'to_refund', now()`,
		`INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request)
		 SELECT $1, split_part($1, ':', 2)::uuid, split_part($1, ':', 3)::uuid, 'late', 2500, 'EUR', 'x'`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql, id); err != nil {
			t.Fatal(err)
		}
	}
	w.want(0, id, "refunds", "list")
	w.want(0, "1 wait, 1 of them for their turn", "refunds", "forecast")
	w.want(2, "is not a person's", "refunds", "push", id, "--why", "again")
	if _, err := w.pool.Exec(t.Context(), `UPDATE refund_operations SET status = 'manual'`); err != nil {
		t.Fatal(err)
	}
	w.want(0, id, "refunds", "list", "--status", "manual")
	w.want(0, "its turn comes", "refunds", "push", id, "--why", "the provider is well again", "--by", "mia")
	w.want(0, "mia (waitctl)", "refunds", "show", id)
	w.want(2, "there is no operation", "refunds", "show", "refund:x:y")
	w.want(2, "there is no operation", "refunds", "push", "refund:x:y", "--why", "again")
	if n := w.count(`SELECT count(*) FROM refund_operations WHERE status = 'queued' AND pushed AND pushes = 1`); n != 1 {
		t.Errorf("%d operations were pushed, want 1", n)
	}
}

// The provider has told that the first operation's money went back after all: what
// follows it is not pushed, and waitctl says so.
func TestAPushThatIsRefusedIsNotToldAsDone(t *testing.T) {
	w := newWaitctl(t)
	h := orderstest.NewHall(t, w.pool, 2)
	order, payment := h.Order(t, "ann", 1), uuid.New()
	id := fmt.Sprintf("refund:%s:%s", order, payment)
	for _, sql := range []string{
		`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, refund_pending_minor, stands, captured_at)
		 SELECT split_part($1, ':', 3)::uuid, split_part($1, ':', 2)::uuid, 'stripe', 'pi_1', 'captured', 2500, 'EUR', 2500, 2500, 'to_refund', now()`,
		`INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request, status, ended_at)
		 SELECT $1, split_part($1, ':', 2)::uuid, split_part($1, ':', 3)::uuid, 'late', 2500, 'EUR', 'x', 'rejected', now()`,
		`INSERT INTO refund_operations (id, parent, order_id, payment_id, reason, amount_minor, currency, request, status)
		 SELECT $1 || '#2', $1, split_part($1, ':', 2)::uuid, split_part($1, ':', 3)::uuid, 'late', 2500, 'EUR', 'x', 'manual'`,
		`INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
		 SELECT 'stripe', 're_1', split_part($1, ':', 3)::uuid, $1, 2500, 'EUR', 'succeeded'`,
	} {
		if _, err := w.pool.Exec(t.Context(), sql, id); err != nil {
			t.Fatal(err)
		}
	}
	w.want(2, "", "refunds", "push", id+"#2", "--why", "again", "--by", "mia")
	if n := w.count(`SELECT count(*) FROM refund_operations WHERE pushed`); n != 0 {
		t.Errorf("%d pushed, want none", n)
	}
}
