package inventory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
)

// Whoever others refer to stays, and nothing refers to what is not there: the database
// refuses it, though it asks once a statement and locks nobody.
func TestNothingRefersToWhatIsNotThere(t *testing.T) {
	h := orderstest.NewHall(t, pgtest.Open(t, pgtest.URL(t)), 4)
	h.Order(t, "ann", 2)
	for name, sql := range map[string]string{
		"an event that goes":       `DELETE FROM events`,
		"a buyer who goes":         `DELETE FROM buyers`,
		"a buyer who is renamed":   `UPDATE buyers SET account = 'ben'`,
		"all buyers":               `TRUNCATE buyers CASCADE`,
		"an order that goes":       `DELETE FROM orders`,
		"an order that is renamed": `UPDATE orders SET id = gen_random_uuid()`,
		"an order of another":      `UPDATE orders SET account = 'ben'`,
		"all orders":               `TRUNCATE orders CASCADE`,
		"a line of another order":  `UPDATE order_lines SET order_id = gen_random_uuid()`,
		"a buyer of no event":      `INSERT INTO buyers (event_id, account, seat_limit) SELECT 'nowhere', account, seat_limit FROM buyers`,
		"an order of no buyer": `INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
			SELECT gen_random_uuid(), event_id, 'nobody', holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by FROM orders`,
		"a line of no order":      `INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT gen_random_uuid(), id, 0 FROM seats`,
		"a line of no seat":       `INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT id, 0, 0 FROM orders`,
		"a seat of no order":      `UPDATE seats SET order_id = gen_random_uuid(), claimed_at = now() WHERE order_id IS NULL`,
		"a new seat of no order":  `INSERT INTO seats (event_id, pos, guid, kind, section, price_tier, order_id, claimed_at) SELECT event_id, 99, 'new', kind, section, price_tier, gen_random_uuid(), now() FROM seats LIMIT 1`,
		"a seat of an order gone": `DELETE FROM seats WHERE order_id IS NOT NULL`,
	} {
		_, err := h.Pool.Exec(t.Context(), sql)
		if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != "23503" {
			t.Errorf("%s: %v; want it refused as a broken reference", name, err)
		}
	}
}

// Whoever wrote a change of one seat down, on a connection, writes that of a whole hall
// down as fast as anybody: a plan that is kept is not one that compares each seat with
// each, which takes minutes.
func TestAHallIsHeldBackOnAConnectionThatHeldBackASeat(t *testing.T) {
	url := pgtest.URL(t)
	h := orderstest.NewHall(t, pgtest.Open(t, url), 1)
	// Without the limits of a pool's statements: a slow machine is no finding.
	ctx, done := context.WithTimeout(t.Context(), 30*time.Second)
	defer done()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // a test's connection
	for _, sql := range []string{
		`INSERT INTO seats (event_id, pos, guid, kind, section, price_tier) SELECT event_id, n, 'seat-' || n, kind, section, price_tier FROM seats, generate_series(1, 19999) n`,
		`UPDATE seats SET held_back = true WHERE pos = 0`, `UPDATE seats SET held_back = NOT held_back`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.Count(t, `SELECT count(*) FROM seat_changes`); n != 20_001 {
		t.Errorf("%d changes are written down, want 20001", n)
	}
}
