package support_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	"waitroom/internal/refunds"
	"waitroom/internal/support"
)

const price = orderstest.PriceMinor

// counter is a hall with paid orders, and where their refunds are asked for.
type counter struct {
	*orderstest.Hall
	support.Desk
	t *testing.T
}

// open lets as much be asked of one order as that many seats cost.
func open(t *testing.T, seats int64) *counter {
	t.Helper()
	return &counter{orderstest.NewHall(t, pgtest.New(t), 40), support.Desk{
		Install: "here", LimitMinor: seats * price, StartsPerS: 5,
		ProviderAmount: func(minor int64, _ string) (int64, error) { return minor, nil },
	}, t}
}

// sold is a paid order.
type sold struct {
	id, payment uuid.UUID
	customer    string
	lines       []string
	seats       []int64
}

func (c *counter) sold(customer string, n int) sold {
	c.t.Helper()
	o := sold{id: c.Order(c.t, customer, n), payment: uuid.New(), customer: customer}
	c.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', $4, 'EUR', $4, 'on_order', now())`, o.payment, o.id, "pi_"+customer, int64(n)*price)
	c.exec(`UPDATE orders SET status = 'paid', payment_id = $2, paid_at = now() WHERE id = $1`, o.id, o.payment)
	rows, err := c.Pool.Query(c.t.Context(), `SELECT s.guid, s.id FROM order_lines l JOIN seats s ON s.id = l.seat_id WHERE l.order_id = $1 ORDER BY s.pos`, o.id)
	if err != nil {
		c.t.Fatal(err)
	}
	var guid string
	var seat int64
	if _, err = pgx.ForEachRow(rows, []any{&guid, &seat}, func() error {
		o.lines, o.seats = append(o.lines, guid), append(o.seats, seat)
		return nil
	}); err != nil {
		c.t.Fatal(err)
	}
	return o
}

func (c *counter) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.Pool.Exec(c.t.Context(), sql, args...); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
}

// wants is the order's customer asking for one of its lines.
func (o sold) wants(line int) support.Wanted {
	return support.Wanted{Organiser: "house", Order: o.id, Line: o.lines[line], Customer: o.customer, By: "agent"}
}

func (c *counter) ask(w support.Wanted) support.Answer {
	c.t.Helper()
	a, err := c.Ask(c.t.Context(), c.Pool, w)
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// want asks, and fails unless the answer is that.
func (c *counter) want(w support.Wanted, word support.Word, reason support.Reason) support.Answer {
	c.t.Helper()
	a := c.ask(w)
	if a.Word != word || a.Reason != reason {
		c.t.Errorf("%s of %s: %s %q, want %s %q", w.Line, w.Customer, a.Word, a.Reason, word, reason)
	}
	return a
}

func (c *counter) decide(d support.Deciding, want support.Decision) support.Answer {
	c.t.Helper()
	is, a, err := c.Decide(c.t.Context(), c.Pool, d)
	if err != nil || is != want {
		c.t.Fatalf("decision %q, %v; want %q", is, err, want)
	}
	return a
}

func (c *counter) operations(o sold) int {
	c.t.Helper()
	return c.Count(c.t, `SELECT count(*) FROM refund_operations WHERE order_id = $1`, o.id)
}

// hear has the provider tell of a refund of an order's payment.
func (c *counter) hear(o sold, t refunds.Told) {
	c.t.Helper()
	t.Provider, t.ProviderPayment, t.Currency = "stripe", "pi_"+o.customer, "EUR"
	err := pg.InTx(c.t.Context(), c.Pool, func(tx pgx.Tx) error { _, err := refunds.Heard(c.t.Context(), tx, t); return err })
	if err != nil {
		c.t.Fatal(err)
	}
}

// gaveUp puts an order's operation before a person, as the outlet does.
func (c *counter) gaveUp(id string, doubt bool) {
	c.t.Helper()
	c.exec(`UPDATE refund_operations SET sends = 1, first_sent_at = now(), give_up_at = now() - interval '1 second' WHERE id = $1`, id)
	if doubt {
		c.exec(`INSERT INTO refund_calls (epoch, operation, kind, verb) VALUES (1, $1, 'first', 'create')`, id)
		c.exec(`UPDATE refund_operations SET status = 'submitted', call = (SELECT max(id) FROM refund_calls WHERE operation = $1) WHERE id = $1`, id)
		c.exec(`UPDATE refund_operations SET status = 'unknown', doubt = true, call = NULL WHERE id = $1`, id)
	}
	if _, err := (refunds.Ledger{Pool: c.Pool}).GiveUp(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}
