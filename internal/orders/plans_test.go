package orders_test

import (
	"fmt"
	"testing"

	"waitroom/internal/orders"
	"waitroom/internal/pgtest"
)

// Plans are made while there are no payments, and kept: with many thousands of
// them that are long settled, neither a notice nor a look reads them through.
func TestSettledPaymentsSlowNothingDown(t *testing.T) {
	const settled = 20_000
	h, b := open(t, 10), newBooks()
	for _, table := range []string{"payments", "provider_notices"} {
		_, err := h.Pool.Exec(t.Context(), `ALTER TABLE `+table+` SET (autovacuum_enabled = off)`)
		must(t, err)
	}
	order, _ := h.cart(t, b, "anna")
	own := pgtest.Open(t, h.Pool.Config().ConnString(), pgtest.Conns(1))
	h.in.Pool = own
	s := h.sweeper(b)
	s.Pool, s.InFlight = own, 1
	for i := range 7 { // plans are made, and kept
		early := fmt.Sprint("early-", i)
		h.receive(t, success(h.Order(t, early, 1), "pi_"+early), orders.Paid)
		h.receive(t, says(orders.SaysFailed, order, "pi_none", 0), orders.PaymentFailed)
		sweep(t, s, 0)
	}
	h.receive(t, success(order, "pi_first"), orders.Paid)
	for from := 0; from < settled; from += settled / 10 { // a slow machine has a statement's time for each part
		_, err := h.Pool.Exec(t.Context(), `
			INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency)
			SELECT gen_random_uuid(), $1, 'stripe', 'pi_old_' || $2::int + n, 'cancelled', 2500, 'EUR' FROM generate_series(1, $3::int) n`,
			order, from, settled/10)
		must(t, err)
		_, err = h.Pool.Exec(t.Context(), `
			INSERT INTO provider_notices (provider, notice_id, kind, body, status, done_at)
			SELECT 'stripe', 'evt_old_' || $1::int + n, 'payment_intent.succeeded', '{}', 'applied', now() FROM generate_series(1, $2::int) n`,
			from, settled/10)
		must(t, err)
	}
	other, _ := h.cart(t, b, "ben")
	before := h.tuples(t)
	h.receive(t, says(orders.SaysFailed, other, "pi_none", 0), orders.PaymentFailed)
	h.receive(t, success(other, "pi_second"), orders.Paid)
	sweep(t, s, 2) // the carts' own payments are cancelled
	_, err := own.Exec(t.Context(), `SELECT pg_stat_force_next_flush()`)
	must(t, err)
	read := h.tuples(t) - before
	t.Logf("%d rows read", read)
	if read > settled/10 {
		t.Errorf("two notices and a look read %d rows of payments and notices, of %d settled ones of each", read, settled)
	}
}

// tuples is how many rows of payments and notices were read so far, by whatever way.
func (h *till) tuples(t testing.TB) int {
	t.Helper()
	return h.Count(t, `SELECT coalesce(sum(idx_tup_read), 0)::int + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables
		  WHERE relname IN ('payments', 'provider_notices'))::int
		FROM pg_stat_user_indexes WHERE relname IN ('payments', 'provider_notices')`)
}
