// Package orderstest makes halls with orders in them, and judges a database by
// its raw rows. It shares no code with what it judges.
package orderstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PriceMinor is what each seat of a hall costs, in its Currency.
const (
	PriceMinor = 2500
	Currency   = "EUR"
)

// Hall is an event with numbered seats and no line before it.
type Hall struct {
	Pool  *pgxpool.Pool
	Event string
}

// NewHall puts an event with that many seats on sale.
func NewHall(t testing.TB, pool *pgxpool.Pool, seats int) *Hall {
	t.Helper()
	h := &Hall{Pool: pool, Event: "hall-" + uuid.NewString()[:8]}
	h.exec(t, `INSERT INTO events (id, title, currency, opens_at, release_rate)
		VALUES ($1, 'Hall', $2, now(), 50)`, h.Event, Currency)
	h.exec(t, `INSERT INTO price_tiers (event_id, id, amount_minor) VALUES ($1, 'A', $2)`, h.Event, PriceMinor)
	h.exec(t, `INSERT INTO seats (event_id, pos, guid, kind, section, price_tier)
		SELECT $1, n, 'seat-' || n, 'numbered', 'Stalls', 'A' FROM generate_series(0, $2::int - 1) n`, h.Event, seats)
	return h
}

// Late sets what late money does: refund or reclaim.
func (h *Hall) Late(t testing.TB, policy string) {
	t.Helper()
	h.exec(t, `UPDATE events SET late = $2 WHERE id = $1`, h.Event, policy)
}

// Order takes n free seats for a holder who has none yet, to be paid within
// the event's ten minutes, and returns the pending order.
func (h *Hall) Order(t testing.TB, holder string, n int) uuid.UUID {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	h.OrderAs(t, id, holder, n)
	return id
}

// OrderAs is Order under an id that somebody heard of before.
func (h *Hall) OrderAs(t testing.TB, id uuid.UUID, holder string, n int) {
	t.Helper()
	h.exec(t, `INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, $2, $3, 100)
		ON CONFLICT (event_id, account) DO UPDATE SET held = buyers.held + excluded.held`, h.Event, holder, n)
	h.exec(t, `WITH pass AS (
		  INSERT INTO passes (event_id, epoch, take, place, holder, quota, taken_at, expires_at)
		  SELECT $2, 1, coalesce(max(take), 0) + 1, coalesce(max(take), 0), $3, 100, now(), now() + interval '10 minutes'
		  FROM passes WHERE event_id = $2
		  RETURNING take, place)
		INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash,
		  seat_count, amount_minor, currency, pay_by)
		SELECT $1::uuid, $2, $3, $3, 1, place, take, $1::uuid::text, sha256('body'), $4::int, $4::bigint * $5, $6, now() + interval '10 minutes'
		FROM pass`, id, h.Event, holder, n, PriceMinor, Currency)
	h.exec(t, `WITH free AS (
		  SELECT id FROM seats WHERE event_id = $1 AND order_id IS NULL ORDER BY id LIMIT $3 FOR UPDATE),
		taken AS (UPDATE seats s SET order_id = $2, claimed_at = now() FROM free WHERE s.id = free.id RETURNING s.id)
		INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT $2, id, $4 FROM taken`,
		h.Event, id, n, PriceMinor)
}

// Lapse lets the order's time to pay run out, and leaves it pending.
func (h *Hall) Lapse(t testing.TB, orders ...uuid.UUID) {
	t.Helper()
	h.exec(t, `UPDATE orders SET pay_by = now() - interval '1 second' WHERE id = ANY($1)`, orders)
}

// Status is the order's.
func (h *Hall) Status(t testing.TB, order uuid.UUID) (status string) {
	t.Helper()
	h.Scan(t, `SELECT status FROM orders WHERE id = $1`, []any{order}, &status)
	return status
}

// PayBy is when the order's time to pay is over.
func (h *Hall) PayBy(t testing.TB, order uuid.UUID) (at time.Time) {
	t.Helper()
	h.Scan(t, `SELECT pay_by FROM orders WHERE id = $1`, []any{order}, &at)
	return at
}

// Count is the one number that a query tells.
func (h *Hall) Count(t testing.TB, sql string, args ...any) (n int) {
	t.Helper()
	h.Scan(t, sql, args, &n)
	return n
}

// Scan reads one row.
func (h *Hall) Scan(t testing.TB, sql string, args []any, into ...any) {
	t.Helper()
	if err := h.Pool.QueryRow(t.Context(), sql, args...).Scan(into...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *Hall) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.Pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Holders names n different ones.
func Holders(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("holder-%d", i)
	}
	return names
}
