package orders_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
)

// break makes applying anything fail until mended: telling of it is refused.
func (h *till) breakOutbox(t testing.TB) (mend func()) {
	t.Helper()
	_, err := h.Pool.Exec(t.Context(), `ALTER TABLE notices ADD CONSTRAINT broken CHECK (kind <> 'order.paid') NOT VALID`)
	must(t, err)
	return func() {
		t.Helper()
		_, err := h.Pool.Exec(t.Context(), `ALTER TABLE notices DROP CONSTRAINT broken`)
		must(t, err)
	}
}

// A notice that fails after its row exists is an error to the provider and has no
// effect; sent again, it is applied, once, also by fifty copies at the same instant.
func TestANoticeThatFailedIsAppliedWhenItIsSentAgain(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	n := success(order, "pi_1")
	mend := h.breakOutbox(t)
	for range 2 {
		if outcome, err := h.in.Receive(t.Context(), body(t, n)); err == nil {
			t.Fatalf("it failed, and the provider is told %q", outcome)
		}
	}
	kept := h.Count(t, `SELECT count(*) FROM payments`)
	if status, outcome, tries := h.row(t, n); status != "waiting" || outcome != "faulted" || tries != 2 || kept != 0 || h.Status(t, order) != "pending" {
		t.Fatalf("after two faults: %s, %s, %d tries, %d payments, the order %s; want waiting, faulted, 2, 0, pending",
			status, outcome, tries, kept, h.Status(t, order))
	}
	mend()
	var alike atomic.Int32
	together(50, func(int) {
		outcome, err := h.in.Receive(t.Context(), body(t, n))
		if err == nil && outcome == orders.Paid {
			alike.Add(1)
		} else {
			t.Errorf("outcome %q: %v", outcome, err)
		}
	})
	if status, _, tries := h.row(t, n); status != "applied" || tries != 3 || alike.Load() != 50 {
		t.Errorf("%s after %d tries, %d alike; want applied, 3, 50", status, tries, alike.Load())
	}
}

// The provider gives up: a notice that failed is taken up again by ourselves.
func TestANoticeThatFailedIsTakenUpAgain(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	n := success(order, "pi_1")
	mend := h.breakOutbox(t)
	if _, err := h.in.Receive(t.Context(), body(t, n)); err == nil {
		t.Fatal("it failed, and the provider is told that it is safe")
	}
	h.due(t, n)
	if tried, err := h.in.RetryWaiting(t.Context()); tried != 1 || err == nil {
		t.Fatalf("%d tried (%v), want 1 and its fault", tried, err)
	}
	mend()
	h.due(t, n)
	h.retry(t, 1)
	if s := h.Status(t, order); s != "paid" {
		t.Errorf("the order is %s, want paid", s)
	}
}

// One that fails for ten minutes becomes a person's, with its money.
func TestANoticeThatKeepsFailingBecomesAPersons(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	n := success(order, "pi_1")
	defer h.breakOutbox(t)()
	if _, err := h.in.Receive(t.Context(), body(t, n)); err == nil {
		t.Fatal("it failed, and the provider is told that it is safe")
	}
	_, err := h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '10 minutes'`)
	must(t, err)
	h.due(t, n)
	if tried, err := h.in.RetryWaiting(t.Context()); tried != 1 || err == nil {
		t.Fatalf("%d tried (%v), want 1 and its fault", tried, err)
	}
	var detail string
	h.Scan(t, `SELECT detail FROM human_list WHERE subject = 'pi_1'`, nil, &detail)
	if want := fmt.Sprintf("stripe captured 2500 EUR for order %s, which could not be found or not be paid", order); detail != want {
		t.Errorf("the list says %q, want %q", detail, want)
	}
}

// A telling of refunds that keeps failing becomes a person's under its own name: no
// money was captured by it.
func TestATellingOfRefundsThatKeepsFailingIsNoCapture(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	h.receive(t, success(order, "pi_1"), orders.Paid)
	_, err := h.Pool.Exec(t.Context(), `ALTER TABLE payments ADD CONSTRAINT broken CHECK (told_refunded_minor = 0)`)
	must(t, err)
	n := says(orders.SaysRefunded, order, "pi_1", 0)
	n.Kind = "charge.refunded"
	n.Refund = refunds.Told{Provider: "stripe", ProviderPayment: "pi_1", SumMinor: 500, Currency: orderstest.Currency}
	if _, err := h.in.Receive(t.Context(), body(t, n)); err == nil {
		t.Fatal("it failed, and the provider is told that it is safe")
	}
	_, err = h.Pool.Exec(t.Context(), `UPDATE provider_notices SET received_at = now() - interval '10 minutes', next_try_at = now() WHERE notice_id = $1`, n.ID)
	must(t, err)
	if tried, err := h.in.RetryWaiting(t.Context()); tried != 1 || err == nil {
		t.Fatalf("%d tried (%v), want 1 and its fault", tried, err)
	}
	var kind, detail string
	h.Scan(t, `SELECT kind, detail FROM human_list`, nil, &kind, &detail)
	if want := "a charge.refunded of stripe about refunds of pi_1 that could not be applied: " + n.ID; kind != "unreadable" || detail != want {
		t.Errorf("the list says %s, %q; want unreadable, %q", kind, detail, want)
	}
}

// A worker that stands still while it holds a notice loses it after its lease:
// the database ends a transaction that idles, and another worker goes on.
func TestANoticeOutlivesAWorkerThatStandsStill(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	n := success(order, "pi_1")
	mend := h.breakOutbox(t)
	if _, err := h.in.Receive(t.Context(), body(t, n)); err == nil {
		t.Fatal("it failed, and the provider is told that it is safe")
	}
	mend()
	h.due(t, n)
	still := pgtest.Open(t, h.Pool.Config().ConnString(), pgtest.Limits(pg.Limits{Conns: 1, Idle: time.Second}))
	tx, err := still.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // ended by the server
	var held string
	must(t, tx.QueryRow(t.Context(), `SELECT notice_id FROM provider_notices FOR UPDATE`).Scan(&held))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for tried := 0; tried == 0; <-again.C {
		if tried, err = h.in.RetryWaiting(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec(t.Context(), `SELECT 1`); err == nil || h.Status(t, order) != "paid" {
		t.Errorf("the one that stood still may go on (%v), the order is %s; want neither", err, h.Status(t, order))
	}
}
