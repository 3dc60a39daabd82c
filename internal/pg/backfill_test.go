package pg_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver that the migrations come by
	"github.com/pressly/goose/v3"

	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
	schema "waitroom/sql"
)

// before is a database as it was at an earlier version of the schema.
type before struct {
	*orderstest.Hall
	t   *testing.T
	url string
}

func at(t *testing.T, version int64) before {
	t.Helper()
	b := before{&orderstest.Hall{}, t, pgtest.URL(t)}
	b.Pool = pgtest.Open(t, b.url)
	b.exec(`DROP SCHEMA public CASCADE`)
	b.exec(`CREATE SCHEMA public`)
	db, err := sql.Open("pgx", b.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is left to do
	dir, err := schema.Dir()
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	b.Hall = orderstest.NewHall(t, b.Pool, 40)
	return b
}

func (b before) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.Pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// paid is an order that was paid, and its seats.
func (b before) paid(holder string, n int) (order uuid.UUID, seats []int64) {
	b.t.Helper()
	order = b.Order(b.t, holder, n)
	payment := uuid.New()
	b.exec(`INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
		VALUES ($1, $2, 'stripe', $3, 'captured', $4, 'EUR', $4, 'on_order', now())`, payment, order, "pi_"+holder, n*orderstest.PriceMinor)
	b.exec(`UPDATE orders SET status = 'paid', payment_id = $2, paid_at = now(), version = 2 WHERE id = $1`, order, payment)
	b.exec(`INSERT INTO notices (kind, event_id, subject, version, body) VALUES ('order.paid', $1, $2, 2, '{}')`, b.Event, order.String())
	rows, err := b.Pool.Query(b.t.Context(), `SELECT seat_id FROM order_lines WHERE order_id = $1 ORDER BY 1`, order)
	if err != nil {
		b.t.Fatal(err)
	}
	if seats, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		b.t.Fatal(err)
	}
	return order, seats
}

// refund is an operation of a line that went through these states; one that
// follows another is its nth.
func (b before) refund(order uuid.UUID, seat int64, nth int, states ...string) (id string) {
	b.t.Helper()
	id = fmt.Sprintf("refund:%s:%d", order, seat)
	var parent *string
	if nth > 1 {
		first := id
		parent, id = &first, fmt.Sprintf("%s#%d", id, nth)
	}
	b.exec(`INSERT INTO refund_operations (id, order_id, payment_id, seat_id, parent, reason, amount_minor, currency, request)
		SELECT $1, o.id, o.payment_id, $3, $4, 'requested', $5, 'EUR', 'x' FROM orders o WHERE o.id = $2`, id, order, seat, parent, orderstest.PriceMinor)
	b.exec(`INSERT INTO notices (kind, event_id, subject, version, body) VALUES ('refund.queued', $1, $2, 1, '{}')`, b.Event, id)
	for _, state := range states {
		ended := slices.Contains([]string{"confirmed", "rejected", "failed_later"}, state)
		b.exec(`UPDATE refund_operations SET status = $2, provider_refund_id = CASE WHEN $2 = 'rejected' THEN NULL ELSE 're_' || id END,
			ended_at = CASE WHEN $3 THEN now() END WHERE id = $1`, id, state, ended)
	}
	b.exec(`UPDATE payments p SET
		refunded_minor = coalesce((SELECT sum(amount_minor) FROM refund_operations f WHERE f.payment_id = p.id AND f.status = 'confirmed'), 0),
		refund_pending_minor = coalesce((SELECT sum(amount_minor) FROM refund_operations f WHERE f.payment_id = p.id AND f.ended_at IS NULL), 0)`)
	return id
}

// Lines that were refunded before a refund gave its seat back give it back with
// the upgrade: each once, whichever of its operations went through, and whether
// or not the money was lost later; what was refused or is on its way gives
// nothing. Orders, buyers, returns and notices say so; and nothing of it is done
// again by another upgrade.
func TestTheUpgradeGivesBackWhatWasRefundedBefore(t *testing.T) {
	b := at(t, 10)
	ann, annSeats := b.paid("ann", 4)
	b.refund(ann, annSeats[0], 1, "confirmed")
	b.refund(ann, annSeats[1], 1, "confirmed", "failed_later")
	b.refund(ann, annSeats[2], 1, "manual", "rejected")
	b.refund(ann, annSeats[3], 1)
	ben, benSeats := b.paid("ben", 2)
	first := b.refund(ben, benSeats[0], 1, "confirmed", "failed_later")
	b.refund(ben, benSeats[0], 2, "confirmed")
	b.refund(ben, benSeats[1], 1, "manual", "rejected")
	second := b.refund(ben, benSeats[1], 2, "confirmed")
	cleo, _ := b.paid("cleo", 1)
	b.Order(t, "dora", 1)

	for range 2 {
		if err := pg.Migrate(t.Context(), b.url); err != nil {
			t.Fatal(err)
		}
	}
	b.Pool = pgtest.Open(t, b.url) // what was prepared before is of the old columns
	if err := pg.Fit(t.Context(), b.Pool); err != nil {
		t.Error(err)
	}
	for order, want := range map[uuid.UUID]string{
		ann:  "2 given back, version 3, told once with 2 seats, 2 returned, 2 held by ann",
		ben:  "2 given back, version 3, told once with 2 seats, 2 returned, 0 held by ben",
		cleo: "0 given back, version 2, 0 returned, 1 held by cleo",
	} {
		var got string
		b.Scan(t, `SELECT o.given_back || ' given back, version ' || o.version
			|| coalesce((SELECT ', told once with ' || jsonb_array_length(max(n.body::text)::jsonb -> 'seats') || ' seats' FROM notices n
			     WHERE n.subject = o.id::text AND n.kind = 'tickets.returned' AND n.version = o.version HAVING count(*) = 1), '')
			|| ', ' || (SELECT count(*) FROM seat_returns r WHERE r.order_id = o.id) || ' returned, '
			|| (SELECT held FROM buyers y WHERE y.event_id = o.event_id AND y.account = o.account) || ' held by ' || o.account
			FROM orders o WHERE o.id = $1`, []any{order}, &got)
		if got != want {
			t.Errorf("the order is %s\nwant %s", got, want)
		}
	}
	var by []string
	b.Scan(t, `SELECT array_agg(given_back_by ORDER BY seat_id) FROM order_lines WHERE order_id = $1`, []any{ben}, &by)
	if want := []string{first, second}; !slices.Equal(by, want) {
		t.Errorf("ben's lines were given back by %v, want %v", by, want)
	}
	if n := b.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NULL`); n != 40-4-2-1-1+4 {
		t.Errorf("%d seats are free, want 36", n)
	}
	orderstest.Judge(t, b.Pool)
	b.audit("p3_a_live_order_holds_its_seats", "p6_a_refunded_line_gave_its_seat_back_once", "p6_every_seat_is_somewhere", "p6_the_buyers_count_is_right")
}

// audit asks some of the operator's checks.
func (b before) audit(checks ...string) {
	b.t.Helper()
	dir, err := schema.Audits()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, check := range checks {
		query, err := fs.ReadFile(dir, check+".sql")
		if err != nil {
			b.t.Fatal(err)
		}
		var counted, violations int
		var examples []string
		b.Scan(b.t, string(query), []any{b.Event}, &counted, &violations, &examples)
		if counted == 0 || violations > 0 {
			b.t.Errorf("%s: %d of %d break it: %v", check, violations, counted, examples)
		}
	}
}
