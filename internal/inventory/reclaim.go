package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Late is what an event does with money that comes after its order has expired.
type Late string

// The policies.
const (
	LateRefund  Late = "refund"  // it goes back
	LateReclaim Late = "reclaim" // it takes the same seats again if all are free, else it goes back
)

// LockToReclaim locks the account, and the presale code, of an order that late money might take seats
// for again: whoever may Reclaim has to hold it before the order. False: the
// order's event gives late money back, and nothing was locked.
func LockToReclaim(ctx context.Context, tx pgx.Tx, order uuid.UUID) (bool, error) {
	tag, err := tx.Exec(ctx, `
		SELECT FROM orders o JOIN events e ON e.id = o.event_id
		JOIN buyers b ON b.event_id = o.event_id AND b.account = o.account
		WHERE o.id = $1 AND e.late = 'reclaim' FOR NO KEY UPDATE OF b`, order)
	if err != nil {
		return false, fmt.Errorf("lock the account of order %s: %w", order, err)
	}
	if tag.RowsAffected() == 0 {
		return false, nil
	}
	var b pgx.Batch
	lockCodes(&b, nil, order)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return false, fmt.Errorf("lock the code of order %s: %w", order, err)
	}
	return true, nil
}

// Reclaim takes the seats of an expired order again, for money that came too
// late, and pays it: all of them or none. The seats have to be free, the account,
// the pass, if it was made with one, and the code to have room, and the sale to go on,
// as for a claim. 0: nothing was changed. Else it is the order's new version.
//
// The caller holds the account (LockToReclaim) and then the order.
func Reclaim(ctx context.Context, tx pgx.Tx, order, payment uuid.UUID) (version int64, err error) {
	var whole int
	// As in End, an order whose seats were not all taken is a division by zero.
	err = tx.QueryRow(ctx, `
		WITH seen AS MATERIALIZED (
		  SELECT s.id FROM order_lines l JOIN seats s ON s.id = l.seat_id
		  WHERE l.order_id = $1 AND s.order_id IS NULL AND NOT s.held_back
		  ORDER BY s.id FOR NO KEY UPDATE OF s
		), reclaimed AS (
		  UPDATE orders o SET status = 'paid', payment_id = $2, paid_at = now(), reclaimed_at = now(),
		    ended_at = NULL, version = o.version + 1
		  FROM events e, buyers b
		  WHERE o.id = $1 AND o.status = 'expired' AND e.id = o.event_id
		    AND e.late = 'reclaim' AND e.epoch = o.epoch AND e.control IN ('run', 'paused')
		    AND (e.closes_at IS NULL OR statement_timestamp() < e.closes_at)
		    AND b.event_id = o.event_id AND b.account = o.account AND b.held + o.seat_count <= e.account_limit
		    AND (SELECT count(*) FROM seen) = o.seat_count
		    AND (o.take = 0 OR o.seat_count + (SELECT coalesce(sum(r.seat_count - r.given_back), 0) FROM orders r
		      WHERE r.event_id = o.event_id AND r.account = o.account AND r.epoch = o.epoch AND r.take = o.take
		        AND r.status IN ('pending', 'paid'))
		      <= coalesce((SELECT p.quota FROM passes p
		        WHERE p.event_id = o.event_id AND p.epoch = o.epoch AND p.take = o.take), 0))
		    AND (o.code IS NULL OR EXISTS (SELECT FROM presale_codes c WHERE c.event_id = o.event_id AND c.hash = o.code
		      AND c.used < c.uses AND c.seats_used + o.seat_count <= c.seats))
		    AND (e.tier_limits IS NULL OR NOT EXISTS (
		      SELECT FROM (
		        SELECT s.price_tier AS tier, count(*) AS n FROM order_lines l JOIN seats s ON s.id = l.seat_id
		        WHERE l.order_id = o.id GROUP BY s.price_tier) p
		      CROSS JOIN (SELECT o.event_id, o.account) a
		      WHERE e.tier_limits ? p.tier AND p.n + (`+heldOfTier+`) > (e.tier_limits ->> p.tier)::int))
		  RETURNING o.id, o.event_id, o.account, o.code, o.seat_count, o.version, e.account_limit
		), taken AS (
		  UPDATE seats s SET order_id = r.id, claimed_at = clock_timestamp()
		  FROM seen, reclaimed r WHERE s.id = seen.id AND s.order_id IS NULL AND NOT s.held_back
		  RETURNING s.id
		), counted AS (
		  UPDATE buyers b SET held = b.held + r.seat_count, seat_limit = r.account_limit
		  FROM reclaimed r WHERE b.event_id = r.event_id AND b.account = r.account
		), spent AS (
		  UPDATE presale_codes c SET used = c.used + 1, seats_used = c.seats_used + r.seat_count
		  FROM reclaimed r WHERE c.event_id = r.event_id AND c.hash = r.code
		)
		SELECT r.version, 1 / ((SELECT count(*) FROM taken) = r.seat_count)::int FROM reclaimed r`,
		order, payment).Scan(&version, &whole)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reclaim order %s: %w", order, err)
	}
	return version, nil
}
