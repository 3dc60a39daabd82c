package refunds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
)

// late is money of 1000 that came for an order of its own.
func late(t *testing.T, h *orderstest.Hall, holder string) refunds.Operation {
	t.Helper()
	o := refunds.Operation{
		Install: "here", Event: h.Event, Order: h.Order(t, holder, 1), Payment: uuid.New(), Reason: refunds.Late,
		ProviderPayment: "pi_" + holder, AmountMinor: 1000, ProviderAmount: 1000, Currency: "EUR",
	}
	_, err := h.Pool.Exec(t.Context(), `
		INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', 1000, 'EUR', 1000, 'to_refund', now())`, o.Payment, o.Order, o.ProviderPayment)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func owe(t *testing.T, pool *pgxpool.Pool, o refunds.Operation) (inserted bool, err error) {
	t.Helper()
	err = pg.InTx(t.Context(), pool, func(tx pgx.Tx) (err error) {
		inserted, err = refunds.Owe(t.Context(), tx, o)
		return err
	})
	return inserted, err
}

// ledger is what an operation's payment has pending, and the rows and bytes that
// stand for it.
func ledger(t *testing.T, pool *pgxpool.Pool, o refunds.Operation) (pending, rows int64, request string) {
	t.Helper()
	err := pool.QueryRow(t.Context(), `
		SELECT p.refund_pending_minor, count(f.id), coalesce(max(convert_from(f.request, 'UTF8')), '')
		FROM payments p LEFT JOIN refund_operations f ON f.payment_id = p.id
		WHERE p.id = $1 GROUP BY p.id`, o.Payment).Scan(&pending, &rows, &request)
	if err != nil {
		t.Fatal(err)
	}
	return pending, rows, request
}

// However often a refund is found to be owed, it is one row with one request, and
// its money is pending once.
func TestARefundIsOwedOnce(t *testing.T) {
	h := orderstest.NewHall(t, pgtest.New(t), 4)
	o := late(t, h, "ann")
	for i := range 3 {
		if inserted, err := owe(t, h.Pool, o); err != nil || inserted != (i == 0) {
			t.Errorf("time %d: inserted %t, %v; want it once", i+1, inserted, err)
		}
	}
	pending, rows, request := ledger(t, h.Pool, o)
	if pending != 1000 || rows != 1 {
		t.Errorf("%d pending in %d rows, want 1000 in 1", pending, rows)
	}
	for _, says := range []string{"amount=1000", "payment_intent=pi_ann", o.Order.String(), o.Payment.String()} {
		if !strings.Contains(request, says) {
			t.Errorf("the request %q does not say %s", request, says)
		}
	}
	if want := "refund:" + o.Order.String() + ":" + o.Payment.String(); o.ID() != want {
		t.Errorf("the operation is %s, want %s", o.ID(), want)
	}
}

// Fifty find the same refund owed at the same moment: still one.
func TestFiftyOweOneRefund(t *testing.T) {
	h := orderstest.NewHall(t, pgtest.New(t), 4)
	o := late(t, h, "ann")
	answers := make(chan error, 50)
	for range cap(answers) {
		go func() { _, err := owe(t, h.Pool, o); answers <- err }()
	}
	for range cap(answers) {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if pending, rows, _ := ledger(t, h.Pool, o); pending != 1000 || rows != 1 {
		t.Errorf("%d pending in %d rows, want 1000 in 1", pending, rows)
	}
}

// No more goes back than came, whatever the caller believes; and what is rolled
// back is not owed.
func TestNoMoreGoesBackThanCame(t *testing.T) {
	h := orderstest.NewHall(t, pgtest.New(t), 4)
	o := late(t, h, "ann")
	o.AmountMinor++
	if inserted, err := owe(t, h.Pool, o); err == nil {
		t.Errorf("1001 of 1000 is owed (inserted %t)", inserted)
	}
	o.AmountMinor--
	errChanged := errors.New("changed our mind")
	err := pg.InTx(t.Context(), h.Pool, func(tx pgx.Tx) error {
		_, err := refunds.Owe(t.Context(), tx, o)
		return errors.Join(err, errChanged)
	})
	if !errors.Is(err, errChanged) {
		t.Fatal(err)
	}
	if pending, rows, _ := ledger(t, h.Pool, o); pending != 0 || rows != 0 {
		t.Errorf("%d pending in %d rows, want nothing", pending, rows)
	}
}
