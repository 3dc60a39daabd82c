package inventory

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Withdrawal is what became of seats that were to be taken off sale, by guid.
type Withdrawal struct {
	Off     []string `json:"off"`     // not sold any more
	InCart  []string `json:"in_cart"` // somebody has to pay for it first: off once it comes back
	Sold    []string `json:"sold"`    // refused: Move exchanges it for another
	Unknown []string `json:"unknown"` // the hall has no such seat
}

// Withdraw takes seats off sale: a broken one, or one whose view is blocked. Free
// ones, and those that are held back, are off at once, and FreeHeld does not put
// them back; one in a cart when its order gives it back.
//
// An order may be paid at the same instant. Then its seat is sold, and stays
// withdrawn: Withdrawn says so, and Move gives its buyer another.
func Withdraw(ctx context.Context, pool *pgxpool.Pool, who Asker, event string, guids []string) (Withdrawal, error) {
	w, err := once(ctx, pool, who, func(tx pgx.Tx) (w Withdrawal, yes bool, err error) {
		// A statement of its own: whoever waits here for a claim has to see its order.
		_, err = tx.Exec(ctx, `
			SELECT FROM seats WHERE event_id = $1 AND guid = ANY($2) ORDER BY id FOR NO KEY UPDATE`, event, guids)
		if err != nil {
			return w, false, err
		}
		err = tx.QueryRow(ctx, `
			WITH seen AS MATERIALIZED (
			  SELECT s.id, s.guid, CASE WHEN s.order_id IS NULL THEN 'off' WHEN o.status = 'pending' THEN 'in_cart' ELSE 'sold' END AS state
			  FROM seats s LEFT JOIN orders o ON o.id = s.order_id
			  WHERE s.event_id = $1 AND s.guid = ANY($2)
			), off AS (
			  UPDATE seats s SET withdrawn_at = coalesce(s.withdrawn_at, now()), held_back = s.order_id IS NULL
			  FROM seen WHERE s.id = seen.id AND seen.state <> 'sold'
			)
			SELECT coalesce(array_agg(guid ORDER BY id) FILTER (WHERE state = 'off'), '{}'),
			  coalesce(array_agg(guid ORDER BY id) FILTER (WHERE state = 'in_cart'), '{}'),
			  coalesce(array_agg(guid ORDER BY id) FILTER (WHERE state = 'sold'), '{}'),
			  ARRAY(SELECT DISTINCT g FROM unnest($2::text[]) g WHERE g NOT IN (SELECT guid FROM seen) ORDER BY g)
			FROM seen`, event, guids).Scan(&w.Off, &w.InCart, &w.Sold, &w.Unknown)
		return w, len(w.Off)+len(w.InCart) > 0, err
	})
	if err != nil {
		return Withdrawal{}, fmt.Errorf("withdraw seats of %s: %w", event, err)
	}
	return w, nil
}

// Restore puts withdrawn seats back on sale, those too that the house held back
// before, and says which: one in a cart, or sold, is as it was.
func Restore(ctx context.Context, pool *pgxpool.Pool, who Asker, event string, guids []string) (restored []string, err error) {
	restored, err = once(ctx, pool, who, func(tx pgx.Tx) (back []string, yes bool, err error) {
		err = tx.QueryRow(ctx, `
			WITH locked AS MATERIALIZED (
			  SELECT s.id FROM seats s JOIN events e ON e.id = s.event_id
			  WHERE s.event_id = $1 AND s.guid = ANY($2) AND s.withdrawn_at IS NOT NULL AND e.control <> 'closed'
			  ORDER BY s.id FOR NO KEY UPDATE OF s
			), back AS (
			  UPDATE seats s SET withdrawn_at = NULL, held_back = false FROM locked k WHERE s.id = k.id
			  RETURNING s.id, s.guid
			)
			SELECT coalesce(array_agg(guid ORDER BY id), '{}') FROM back`, event, guids).Scan(&back)
		return back, len(back) > 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("restore seats of %s: %w", event, err)
	}
	return restored, nil
}

// Withdrawn are the seats of an event that are withdrawn, as they stand now. Those
// that are sold are for a person to move.
func Withdrawn(ctx context.Context, pool *pgxpool.Pool, event string) (Withdrawal, error) {
	var w Withdrawal
	err := pool.QueryRow(ctx, `
		SELECT coalesce(array_agg(s.guid ORDER BY s.pos) FILTER (WHERE o.id IS NULL), '{}'),
		  coalesce(array_agg(s.guid ORDER BY s.pos) FILTER (WHERE o.status = 'pending'), '{}'),
		  coalesce(array_agg(s.guid ORDER BY s.pos) FILTER (WHERE o.status = 'paid'), '{}')
		FROM seats s LEFT JOIN orders o ON o.id = s.order_id
		WHERE s.event_id = $1 AND s.withdrawn_at IS NOT NULL`, event).Scan(&w.Off, &w.InCart, &w.Sold)
	if err != nil {
		return Withdrawal{}, fmt.Errorf("withdrawn seats of %s: %w", event, err)
	}
	w.Unknown = []string{}
	return w, nil
}
