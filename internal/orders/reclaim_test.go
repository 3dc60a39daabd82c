package orders_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	schema "waitroom/sql"
)

// lapse lets an order's time run out and ends it.
func (h *till) lapse(t testing.TB, order uuid.UUID) {
	t.Helper()
	h.Lapse(t, order)
	h.expire(t, 1)
}

// A success after the order's end, told three times at once, where late money
// takes the seats again: one paid order on its old seats, no refund, and the
// evidence says that they were back in between.
func TestLateMoneyReclaimsFreeSeatsOnce(t *testing.T) {
	h := open(t, 4)
	h.Late(t, "reclaim")
	order := h.Order(t, "anna", 3)
	h.lapse(t, order)
	same := says(orders.SaysCaptured, order, "pi_1", 3*orderstest.PriceMinor)
	var reclaimed, repeat atomic.Int32
	together(3, func(i int) {
		n := same
		if i == 2 {
			n.ID += "-other"
		}
		switch outcome, err := h.in.Receive(t.Context(), body(t, n)); {
		case err != nil:
			t.Error(err)
		case outcome == orders.Reclaimed:
			reclaimed.Add(1)
		case outcome == orders.AlreadyPaid:
			repeat.Add(1)
		}
	})
	if reclaimed.Load()+repeat.Load() != 3 || reclaimed.Load() < 1 {
		t.Errorf("%d reclaimed, %d repeats, want 3 in all and the first of them reclaimed", reclaimed.Load(), repeat.Load())
	}
	if n := h.Count(t, `SELECT count(*) FROM seats WHERE order_id = $1`, order); n != 3 || h.Status(t, order) != "paid" {
		t.Errorf("the order is %s and holds %d seats, want paid and 3", h.Status(t, order), n)
	}
	if n := h.Count(t, `SELECT count(*) FROM refund_operations`); n != 0 {
		t.Errorf("%d refunds, want none", n)
	}
	var path string
	h.Scan(t, `SELECT string_agg(to_status, ' ' ORDER BY id) FROM order_changes
		WHERE order_id = $1 AND from_status IS DISTINCT FROM to_status`, []any{order}, &path)
	moves := h.Count(t, `SELECT count(*) FROM seat_changes WHERE $1 IN (from_order, to_order)`, order)
	if path != "pending expired paid" || moves != 9 {
		t.Errorf("evidence: the order went %q, its seats moved %d times; want pending expired paid, 9", path, moves)
	}
	h.receive(t, says(orders.SaysCaptured, order, "pi_2", 3*orderstest.PriceMinor), orders.PaidTwice)
	h.audited(t)
}

// audited holds the house's own audit against the hall. That deadlines move only
// forward is none of it: tests move them back.
func (h *till) audited(t testing.TB) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), h.Pool.Config().ConnString())
	must(t, err)
	defer db.Close(t.Context()) //nolint:errcheck // a test's connection
	queries, err := schema.Audits()
	must(t, err)
	r := audit.Run(t.Context(), audit.Sources{DB: db, Queries: queries, Event: h.Event})
	for _, c := range r.Checks {
		if c.Violations > 0 && c.Name != "a deadline moves for two reasons" {
			t.Errorf("audit: %s, %s: broken %d times: %v", c.Promise, c.Name, c.Violations, c.Examples)
		}
	}
	if r.Checked["P3"] == 0 || r.Checked["P4"] == 0 || r.Checked["P6"] == 0 || r.Checked["P13"] == 0 {
		t.Errorf("audit: something was not judged: %v", r.Checked)
	}
}

// What stands in the way of taking the seats again: then nothing is taken, and
// the money goes back once.
func TestLateMoneyGoesBackWhere(t *testing.T) {
	sql := func(statement string) func(*testing.T, *till, uuid.UUID) {
		return func(t *testing.T, h *till, _ uuid.UUID) {
			_, err := h.Pool.Exec(t.Context(), statement)
			must(t, err)
		}
	}
	for name, prepare := range map[string]func(*testing.T, *till, uuid.UUID){
		"one of its seats is another's":  func(t *testing.T, h *till, _ uuid.UUID) { h.Order(t, "ben", 1) },
		"one of its seats is held back":  sql(`UPDATE seats SET held_back = true WHERE pos = 1`),
		"the account's limit is reached": sql(`UPDATE events SET order_limit = 1, account_limit = 1`),
		"the pass buys no more":          sql(`UPDATE orders SET take = 7 WHERE status = 'expired'`), // a pass that nobody was given
		"the sale is closed":             sql(`UPDATE events SET control = 'closed'`),
		"the sale has run out":           sql(`UPDATE events SET opens_at = now() - interval '2 hours', closes_at = now() - interval '1 second'`),
		"the line was started anew":      sql(`UPDATE events SET epoch = 2`),
		"the event gives money back":     sql(`UPDATE events SET late = 'refund'`),
		"the policy has changed since":   sql(`UPDATE events SET late = 'refund', version = version + 1`),
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, 3)
			h.Late(t, "reclaim")
			order := h.Order(t, "anna", 2)
			h.lapse(t, order)
			prepare(t, h, order)
			held := h.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NOT NULL`)
			for range 2 {
				h.receive(t, says(orders.SaysCaptured, order, "pi_1", 2*orderstest.PriceMinor), orders.PaidTooLate)
			}
			after := h.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NOT NULL`)
			owed := h.Count(t, `SELECT count(*) FROM refund_operations WHERE reason = 'late'`)
			if after != held || owed != 1 || h.Status(t, order) != "expired" {
				t.Errorf("%d seats held (before %d), %d refunds, the order %s; want as before, 1, expired", after, held, owed, h.Status(t, order))
			}
		})
	}
}

// An order that its buyer gave back is not taken again, whatever the policy.
func TestLateMoneyForACancelledOrderGoesBack(t *testing.T) {
	h := open(t, 1)
	h.Late(t, "reclaim")
	order := h.Order(t, "anna", 1)
	if got, err := orders.Cancel(t.Context(), h.Pool, order, "anna"); err != nil || got != orders.Cancelled {
		t.Fatalf("%s, %v", got, err)
	}
	h.receive(t, success(order, "pi_1"), orders.PaidTooLate)
}

// Two expired orders of the same seats, both paid at once: one of them takes the
// seats again, whole, and the other's money goes back.
func TestTwoReclaimsShareNoSeat(t *testing.T) {
	const rounds = 25
	h := open(t, 2)
	h.Late(t, "reclaim")
	for i := range rounds {
		first := h.Order(t, fmt.Sprint("anna-", i), 2)
		h.lapse(t, first)
		second := h.Order(t, fmt.Sprint("ben-", i), 2)
		h.lapse(t, second)
		var won, lost atomic.Int32
		together(2, func(which int) {
			order := []uuid.UUID{first, second}[which]
			switch outcome, err := h.in.Receive(t.Context(), body(t, says(orders.SaysCaptured, order, "pi_"+order.String(), 2*orderstest.PriceMinor))); {
			case err != nil:
				t.Error(err)
			case outcome == orders.Reclaimed:
				won.Add(1)
			case outcome == orders.PaidTooLate:
				lost.Add(1)
			}
		})
		if won.Load() != 1 || lost.Load() != 1 {
			t.Fatalf("round %d: %d took the seats, %d got money back; want 1 and 1", i, won.Load(), lost.Load())
		}
		h.seats(t, 2)
	}
}

// Money and the end of time at the same instant, where late money takes the
// seats again: the order is paid either way, and never twice.
func TestReclaimAndExpiryAtOneInstant(t *testing.T) {
	const rounds = 40
	h := open(t, rounds)
	h.Late(t, "reclaim")
	var paid, reclaimed int
	for i, holder := range orderstest.Holders(rounds) {
		order := h.Order(t, holder, 1)
		h.Lapse(t, order)
		var outcome orders.Outcome
		together(2, func(who int) {
			var err error
			if who == 0 {
				outcome, err = h.in.Receive(t.Context(), body(t, success(order, "pi_"+holder)))
			} else {
				_, err = orders.ExpireDue(t.Context(), h.Pool, 200)
			}
			if err != nil {
				t.Error(err)
			}
		})
		switch outcome {
		case orders.Paid:
			paid++
		case orders.Reclaimed:
			reclaimed++
		default:
			t.Fatalf("round %d: %s", i, outcome)
		}
	}
	t.Logf("%d paid, %d reclaimed, of %d", paid, reclaimed, rounds)
}

// seats puts n more on sale.
func (h *till) seats(t testing.TB, n int) {
	t.Helper()
	_, err := h.Pool.Exec(t.Context(), `
		INSERT INTO seats (event_id, pos, guid, kind, section, price_tier)
		SELECT $1, m.pos + n, 'seat-' || m.pos + n, 'numbered', 'Stalls', 'A'
		FROM (SELECT max(pos) AS pos FROM seats WHERE event_id = $1) m, generate_series(1, $2::int) n`, h.Event, n)
	must(t, err)
}
