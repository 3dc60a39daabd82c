package inventory

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/notice"
	"waitroom/internal/pg"
)

// TellStock tells of every event whose stock is exhausted, or is not any more,
// since that was last told, and says how many. Exhausted is an event whose sale has
// opened, that has seats, none of them free, and none that an unpaid order may give
// back; it is open again as soon as one is free, however that came. One statement sees both and
// moves what was told; its notices have a subject and a count of their own
// ("{event}/stock"), for the settings' versions do not move with the stock.
//
// Of any number of callers one is at work: two that looked at different moments
// could tell in the wrong order.
func TellStock(ctx context.Context, pool *pgxpool.Pool) (told int, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		var ours bool
		err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtext('waitroom stock'))`).Scan(&ours)
		if err != nil || !ours {
			return err
		}
		notices, err := stockMoves(ctx, tx)
		told = len(notices)
		if err != nil {
			return err
		}
		return notice.Write(ctx, tx, notices...)
	})
	if err != nil {
		return 0, fmt.Errorf("tell stock: %w", err)
	}
	return told, nil
}

func stockMoves(ctx context.Context, tx pgx.Tx) ([]notice.Notice, error) {
	rows, err := tx.Query(ctx, `
		WITH stock AS MATERIALIZED (
		  SELECT e.id,
		    NOT EXISTS (SELECT FROM seats s WHERE s.event_id = e.id AND s.order_id IS NULL AND NOT s.held_back AND s.claimed_at IS NULL) AS gone,
		    EXISTS (SELECT FROM orders o WHERE o.event_id = e.id AND o.status = 'pending' AND o.ended_at IS NULL) AS pending
		  FROM events e WHERE e.control <> 'closed' AND e.opens_at <= now() AND EXISTS (SELECT FROM seats s WHERE s.event_id = e.id)
		)
		INSERT INTO stock_told AS t (event_id, exhausted, told)
		SELECT id, gone, 1 FROM stock LEFT JOIN stock_told b ON b.event_id = id
		WHERE CASE WHEN coalesce(b.exhausted, false) THEN NOT gone ELSE gone AND NOT pending END
		ON CONFLICT (event_id) DO UPDATE SET exhausted = excluded.exhausted, told = t.told + 1
		  WHERE t.exhausted <> excluded.exhausted
		RETURNING t.event_id, t.exhausted, t.told`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (n notice.Notice, err error) {
		var exhausted bool
		if err := row.Scan(&n.Event, &exhausted, &n.Version); err != nil {
			return n, err
		}
		n.Kind, n.Subject, n.Body = "event.reopened", n.Event+"/stock", map[string]any{"event": n.Event}
		if exhausted {
			n.Kind = "event.exhausted"
		}
		return n, nil
	})
}
