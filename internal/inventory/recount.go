package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Count is an event's seats at one instant. Free, Pending, Sold and HeldBack
// add up to all of them.
type Count struct {
	Free, Pending, Sold, HeldBack int64

	Kept     int64 // of the free ones: sold, at this instant, to presale codes alone
	Due      int64 // seats of pending orders whose time is over within theta
	Expired  int64 // orders that expired,
	PaidLate int64 // and that were paid within the last theta of their time

	Sections []SectionCount // by section and tier
	// Bitmap is two bits a seat, by pos, low bits first: 0 free, 1 in a cart,
	// 2 gone (sold or held back), 3 kept.
	Bitmap []byte
	Plan   string    // hash of the seat map; "" has no seats yet
	First  int64     // the least id of a seat: the same plan imported again has other ids
	At     time.Time // by the database's clock
}

// SectionCount is the seats of one tier in one section. Kept are not among Free.
type SectionCount struct {
	Section, Tier                       string
	Free, Pending, Sold, HeldBack, Kept int64
}

// Recount counts an event's seats. Once a second and event; nobody's request
// counts rows.
func Recount(ctx context.Context, pool *pgxpool.Pool, event string, theta time.Duration) (n Count, err error) {
	var b pgx.Batch
	// IN, and not a join: it is hashed whatever the planner knows of orders; and
	// OFFSET 0 has it asked once a seat and not in each column.
	b.Queue(`
		SELECT section, price_tier,
		  count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1),
		  count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE state = 3), count(*) FILTER (WHERE state = 4),
		  array_agg(pos) FILTER (WHERE state = 1), array_agg(pos) FILTER (WHERE state IN (2, 3)),
		  array_agg(pos) FILTER (WHERE state = 4), max(pos), min(id)
		FROM (
		  SELECT section, price_tier, pos, id, CASE WHEN held_back THEN 3
		    WHEN order_id IS NULL THEN CASE WHEN price_tier = ANY (ARRAY(`+keptNow("tiers")+`))
		      OR kind <> 'general' AND section = ANY (ARRAY(`+keptNow("sections")+`)) THEN 4 ELSE 0 END
		    WHEN order_id IN (SELECT id FROM orders WHERE event_id = $1 AND status = 'pending' AND ended_at IS NULL)
		    THEN 1 ELSE 2 END AS state
		  FROM seats WHERE event_id = $1 OFFSET 0
		) s
		GROUP BY section, price_tier ORDER BY section, price_tier`, event).Query(n.sections)
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

// keptNow are the tiers, or the sections of numbered seats, that are sold to codes
// alone at this instant: those of which a claim without a code is refused (kept).
func keptNow(part string) string {
	return `SELECT jsonb_array_elements_text(k.` + part + `) FROM events e, jsonb_to_recordset(e.presales) AS k (tiers jsonb, sections jsonb, until timestamptz)
		WHERE e.id = $1 AND (k.until IS NULL OR now() < k.until)`
}

func (n *Count) sections(rows pgx.Rows) error {
	var s SectionCount
	var carts, gone, kept []int32
	var last int32
	var first int64
	_, err := pgx.ForEachRow(rows, []any{
		&s.Section, &s.Tier, &s.Free, &s.Pending, &s.Sold, &s.HeldBack, &s.Kept, &carts, &gone, &kept, &last, &first,
	}, func() error {
		n.Sections = append(n.Sections, s)
		n.Free, n.Pending, n.Sold, n.HeldBack = n.Free+s.Free+s.Kept, n.Pending+s.Pending, n.Sold+s.Sold, n.HeldBack+s.HeldBack
		n.Kept += s.Kept
		if n.First == 0 || first < n.First {
			n.First = first
		}
		if need := int(last)/4 + 1; need > len(n.Bitmap) {
			n.Bitmap = append(n.Bitmap, make([]byte, need-len(n.Bitmap))...)
		}
		n.mark(carts, 1)
		n.mark(gone, 2)
		n.mark(kept, 3)
		carts, gone, kept = nil, nil, nil
		return nil
	})
	return err
}

func (n *Count) mark(positions []int32, state byte) {
	for _, pos := range positions {
		n.Bitmap[pos/4] |= state << (pos % 4 * 2)
	}
}
