package orders_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
)

// priced makes a paid order whose lines cost that, and returns its payment and
// its lines' seats.
func (h *till) priced(t testing.TB, lines ...int64) (order, payment uuid.UUID, seats []int64) {
	t.Helper()
	order = h.Order(t, "anna", len(lines))
	_, err := h.Pool.Exec(t.Context(), `
		UPDATE order_lines l SET amount_minor = p.amount
		FROM (SELECT seat_id, row_number() OVER (ORDER BY seat_id) AS n FROM order_lines WHERE order_id = $1) s
		JOIN unnest($2::bigint[]) WITH ORDINALITY AS p (amount, n) USING (n)
		WHERE l.order_id = $1 AND l.seat_id = s.seat_id`, order, lines)
	must(t, err)
	_, err = h.Pool.Exec(t.Context(), `UPDATE orders SET amount_minor = (SELECT sum(amount_minor) FROM order_lines WHERE order_id = $1) WHERE id = $1`, order)
	must(t, err)
	var total int64
	h.Scan(t, `SELECT amount_minor, (SELECT array_agg(seat_id ORDER BY seat_id) FROM order_lines WHERE order_id = $1) FROM orders WHERE id = $1`,
		[]any{order}, &total, &seats)
	h.receive(t, says(orders.SaysCaptured, order, "pi_1", total), orders.Paid)
	return order, h.paymentID(t, "pi_1"), seats
}

// tally is a till whose tests write refunds of amounts that no order has: what
// is held against them is the payment's own row.
func tally(t *testing.T, seats int) *till {
	t.Helper()
	pool := pgtest.New(t)
	h := &till{Hall: orderstest.NewHall(t, pool, seats)}
	h.in = orders.Inbox{Pool: pool, Install: "here", Read: read}
	return h
}

// owe asks for the refund of one line, of an amount of the caller's.
func (h *till) owe(t testing.TB, order, payment uuid.UUID, seat, amountMinor int64) error {
	t.Helper()
	return pg.InTx(t.Context(), h.Pool, func(tx pgx.Tx) error {
		_, err := refunds.Owe(t.Context(), tx, refunds.Operation{
			Install: "here", Event: h.Event, Order: order, Payment: payment, Seat: &seat, Reason: refunds.Requested,
			ProviderPayment: "pi_1", AmountMinor: amountMinor, ProviderAmount: amountMinor, Currency: orderstest.Currency,
		})
		return err
	})
}

// The refund of a duplicate charge leaves the ticket valid: the order stays paid,
// keeps its seats, and what was paid for it, net, is its price.
func TestADuplicatesRefundLeavesTheTicketValid(t *testing.T) {
	h := open(t, 1)
	order := h.Order(t, "anna", 1)
	h.receive(t, success(order, "pi_1"), orders.Paid)
	h.receive(t, success(order, "pi_2"), orders.PaidTwice)
	var operation string
	h.Scan(t, `SELECT id FROM refund_operations`, nil, &operation)
	must(t, pg.InTx(t.Context(), h.Pool, func(tx pgx.Tx) error {
		heard, err := refunds.Heard(t.Context(), tx, refunds.Told{
			Provider: "stripe", ProviderPayment: "pi_2", ProviderRefund: "re_1", Operation: operation,
			Status: "succeeded", AmountMinor: orderstest.PriceMinor, Currency: orderstest.Currency,
		})
		if heard != refunds.HeardConfirmed {
			t.Errorf("the refund is %s, want confirmed", heard)
		}
		return err
	}))
	net := h.Count(t, `SELECT sum(captured_minor - refunded_minor) FROM payments WHERE order_id = $1`, order)
	held := h.Count(t, `SELECT count(*) FROM seats WHERE order_id = $1`, order)
	if s := h.Status(t, order); s != "paid" || held != 1 || net != orderstest.PriceMinor {
		t.Errorf("the order is %s with %d seats and %d paid for it; want paid, 1, %d", s, held, net, orderstest.PriceMinor)
	}
}

// Captured 10000, two refunds of 7000 at once: one is accepted.
func TestTwoRefundsAtOnceNeverExceedTheMoney(t *testing.T) {
	h := tally(t, 2)
	order, payment, seats := h.priced(t, 7000, 3000)
	var accepted atomic.Int32
	together(2, func(i int) {
		if h.owe(t, order, payment, seats[i], 7000) == nil {
			accepted.Add(1)
		}
	})
	if pending := h.Count(t, `SELECT refund_pending_minor FROM payments`); accepted.Load() != 1 || pending != 7000 {
		t.Errorf("%d accepted, %d pending; want 1 and 7000", accepted.Load(), pending)
	}
}

// 2599 captured: 2500 goes back, then 99; not one cent more.
func TestRefundsEndAtTheLastCent(t *testing.T) {
	h := tally(t, 3)
	order, payment, seats := h.priced(t, 2500, 98, 1)
	for i, amount := range []int64{2500, 99} {
		if err := h.owe(t, order, payment, seats[i], amount); err != nil {
			t.Errorf("%d of 2599: %v", amount, err)
		}
	}
	if err := h.owe(t, order, payment, seats[2], 1); err == nil {
		t.Error("one cent more than came goes back")
	}
	if pending := h.Count(t, `SELECT refund_pending_minor FROM payments`); pending != 2599 {
		t.Errorf("%d pending, want 2599", pending)
	}
}

// Ten lines of 2390 less 25 %, to the cent on each line: their refunds add up to
// exactly what was paid.
func TestRefundsOfAllLinesAddUpToThePayment(t *testing.T) {
	h := open(t, 10)
	order, _, seats := h.priced(t, 1793, 1792, 1793, 1792, 1793, 1792, 1793, 1792, 1793, 1792)
	for _, seat := range seats {
		must(t, pg.InTx(t.Context(), h.Pool, func(tx pgx.Tx) error {
			_, asking, err := refunds.Request(t.Context(), tx, refunds.Requesting{
				Install: "here", Order: order, Seat: seat, By: "desk",
				ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil },
			})
			if asking != refunds.Accepted {
				t.Errorf("line %d: %s", seat, asking)
			}
			return err
		}))
	}
	pending := h.Count(t, `SELECT refund_pending_minor FROM payments`)
	told := h.Count(t, `SELECT sum(amount_minor) FROM refund_operations`)
	if pending != 17925 || told != 17925 {
		t.Errorf("%d pending, %d in operations; want 17925 each", pending, told)
	}
}
