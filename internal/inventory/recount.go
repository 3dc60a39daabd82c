package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Count is an event's seats at one instant. Free, Pending, Sold and HeldBack
// add up to all of them.
type Count struct {
	Free, Pending, Sold, HeldBack int64

	Due      int64 // seats of pending orders whose time is over within theta
	Expired  int64 // orders that expired,
	PaidLate int64 // and that were paid within the last theta of their time

	Sections []SectionCount // by section and tier
	// Bitmap is two bits a seat, by pos, low bits first: 0 free, 1 in a cart,
	// 2 gone (sold or held back).
	Bitmap []byte
	Plan   string    // hash of the seat map; "" has no seats yet
	At     time.Time // by the database's clock
}

// SectionCount is the seats of one tier in one section.
type SectionCount struct {
	Section, Tier                 string
	Free, Pending, Sold, HeldBack int64
}

// Recount counts an event's seats. Once a second and event; nobody's request
// counts rows.
func Recount(ctx context.Context, pool *pgxpool.Pool, event string, theta time.Duration) (n Count, err error) {
	var b pgx.Batch
	b.Queue(`
		SELECT s.section, s.price_tier,
		  count(*) FILTER (WHERE s.order_id IS NULL AND NOT s.held_back),
		  count(*) FILTER (WHERE o.status = 'pending'),
		  count(*) FILTER (WHERE o.status = 'paid'),
		  count(*) FILTER (WHERE s.held_back),
		  array_agg(s.pos) FILTER (WHERE o.status = 'pending'),
		  array_agg(s.pos) FILTER (WHERE o.status = 'paid' OR s.held_back),
		  max(s.pos)
		FROM seats s LEFT JOIN orders o ON o.id = s.order_id
		WHERE s.event_id = $1
		GROUP BY s.section, s.price_tier ORDER BY s.section, s.price_tier`, event).Query(n.sections)
	b.Queue(`
		SELECT coalesce(sum(seat_count) FILTER (WHERE status = 'pending' AND pay_by <= now() + $2), 0),
		  count(*) FILTER (WHERE status = 'expired'),
		  count(*) FILTER (WHERE status = 'paid' AND paid_at >= pay_by - $2),
		  coalesce((SELECT plan_hash FROM events WHERE id = $1), ''), now()
		FROM orders WHERE event_id = $1`, event, theta).QueryRow(func(row pgx.Row) error {
		return row.Scan(&n.Due, &n.Expired, &n.PaidLate, &n.Plan, &n.At)
	})
	if err := pool.SendBatch(ctx, &b).Close(); err != nil {
		return Count{}, fmt.Errorf("recount %s: %w", event, err)
	}
	return n, nil
}

func (n *Count) sections(rows pgx.Rows) error {
	var s SectionCount
	var carts, gone []int32
	var last int32
	_, err := pgx.ForEachRow(rows, []any{
		&s.Section, &s.Tier, &s.Free, &s.Pending, &s.Sold, &s.HeldBack, &carts, &gone, &last,
	}, func() error {
		n.Sections = append(n.Sections, s)
		n.Free, n.Pending, n.Sold, n.HeldBack = n.Free+s.Free, n.Pending+s.Pending, n.Sold+s.Sold, n.HeldBack+s.HeldBack
		if need := int(last)/4 + 1; need > len(n.Bitmap) {
			n.Bitmap = append(n.Bitmap, make([]byte, need-len(n.Bitmap))...)
		}
		n.mark(carts, 1)
		n.mark(gone, 2)
		carts, gone = nil, nil
		return nil
	})
	return err
}

func (n *Count) mark(positions []int32, state byte) {
	for _, pos := range positions {
		n.Bitmap[pos/4] |= state << (pos % 4 * 2)
	}
}

// Made is an order that was made: which take bought, and how much.
type Made struct {
	Order uuid.UUID
	Take  int64
	Seats int
	At    time.Time
}

// overlap is longer than any claim lasts: an order shows only when its claim
// commits, with the time at which it began.
const overlap = 15 * time.Second

// Claims reads the orders that are made in one epoch of an event, each once. It
// is used by one goroutine.
type Claims struct {
	event string
	epoch int64
	since time.Time
	seen  map[uuid.UUID]time.Time
}

// ClaimsOf starts from the first order.
func ClaimsOf(event string, epoch int64) *Claims {
	return &Claims{event: event, epoch: epoch, seen: map[uuid.UUID]time.Time{}}
}

// Next reads the orders that were made since the last call.
func (c *Claims) Next(ctx context.Context, pool *pgxpool.Pool) (made []Made, err error) {
	rows, err := pool.Query(ctx, `
		SELECT id, take, seat_count, created_at FROM orders
		WHERE event_id = $1 AND epoch = $2 AND created_at >= $3 ORDER BY created_at`, c.event, c.epoch, c.since)
	if err != nil {
		return nil, fmt.Errorf("claims of %s: %w", c.event, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Made])
	if err != nil {
		return nil, fmt.Errorf("claims of %s: %w", c.event, err)
	}
	for _, m := range all {
		if _, seen := c.seen[m.Order]; !seen {
			c.seen[m.Order] = m.At
			made = append(made, m)
		}
	}
	c.forget(all)
	return made, nil
}

// forget moves on to an overlap before the newest order.
func (c *Claims) forget(all []Made) {
	if len(all) == 0 {
		return
	}
	if since := all[len(all)-1].At.Add(-overlap); since.After(c.since) {
		c.since = since
	}
	for id, at := range c.seen {
		if at.Before(c.since) {
			delete(c.seen, id)
		}
	}
}
