package orders_test

import (
	"testing"

	"waitroom/internal/orders"
	"waitroom/internal/pgtest"
)

// Plans are made while there are no payments, and kept: with many thousands of
// them that are long settled, neither a notice nor a look reads them through.
func TestSettledPaymentsSlowNothingDown(t *testing.T) {
	const settled = 20_000
	h, b := open(t, 3), newBooks()
	_, err := h.Pool.Exec(t.Context(), `ALTER TABLE payments SET (autovacuum_enabled = off)`)
	must(t, err)
	order, _ := h.cart(t, b, "anna")
	own := pgtest.Open(t, h.Pool.Config().ConnString(), pgtest.Conns(1))
	h.in.Pool = own
	s := h.sweeper(b)
	s.Pool, s.InFlight = own, 1
	for range 7 { // plans are made, and kept
		h.receive(t, says(orders.SaysFailed, order, "pi_none", 0), orders.PaymentFailed)
		sweep(t, s, 0)
	}
	h.receive(t, success(order, "pi_first"), orders.Paid)
	_, err = h.Pool.Exec(t.Context(), `
		INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency)
		SELECT gen_random_uuid(), $1, 'stripe', 'pi_old_' || n, 'cancelled', 2500, 'EUR' FROM generate_series(1, $2::int) n`, order, settled)
	must(t, err)
	other, _ := h.cart(t, b, "ben")
	before := h.tuples(t)
	h.receive(t, says(orders.SaysFailed, other, "pi_none", 0), orders.PaymentFailed)
	h.receive(t, success(other, "pi_second"), orders.Paid)
	sweep(t, s, 2) // the carts' own payments are cancelled
	_, err = own.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
	must(t, err)
	read := h.tuples(t) - before
	t.Logf("%d rows read", read)
	if read > settled/10 {
		t.Errorf("two notices and a look read %d rows of payments, of %d settled ones", read, settled)
	}
}

// tuples is how many rows of payments were read so far, by whatever way.
func (h *till) tuples(t testing.TB) int {
	t.Helper()
	return h.Count(t, `SELECT coalesce(sum(idx_tup_read), 0)::int + (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'payments')::int
		FROM pg_stat_user_indexes WHERE relname = 'payments'`)
}
