package ticket

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Revocation is a ticket that opens nothing any more.
type Revocation struct {
	No     int64 // from 1, without a gap, in the order that readers get them
	Ticket string
	Seat   string // its guid
	At     time.Time
}

// numberedAtOnce bounds what one reader of the feed numbers.
const numberedAtOnce = 5000

// Revocations are those of an event after that number, in order, and at most so
// many. Whoever goes on from the last number that they got misses none: a
// revocation gets its number once it is committed, by whoever reads next, and all
// before it have theirs by then.
func Revocations(ctx context.Context, pool *pgxpool.Pool, event string, after int64, most int) ([]Revocation, error) {
	if err := number(ctx, pool, event); err != nil {
		return nil, fmt.Errorf("revocations of %s: %w", event, err)
	}
	rows, err := pool.Query(ctx, `
		SELECT r.no, s.pos, s.guid, r.order_id, r.claimed_at, r.at FROM code_revocations r JOIN seats s ON s.id = r.seat_id
		WHERE r.event_id = $1 AND r.no > $2 ORDER BY r.no LIMIT $3`, event, after, most)
	if err != nil {
		return nil, fmt.Errorf("revocations of %s: %w", event, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Revocation, err error) {
		var t Ticket
		var order uuid.UUID
		var takenAt time.Time
		err = row.Scan(&r.No, &t.Seat, &r.Seat, &order, &takenAt, &r.At)
		t.Generation = Generation(order, takenAt)
		r.Ticket = t.ID()
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("revocations of %s: %w", event, err)
	}
	return list, nil
}

// number gives what was committed without a number the next ones. Whoever does holds
// the event's count, so that two never do so at once, and no refund waits for it.
func number(ctx context.Context, pool *pgxpool.Pool, event string) error {
	var due bool
	err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM code_revocations WHERE event_id = $1 AND no IS NULL)`, event).Scan(&due)
	if err != nil || !due {
		return err
	}
	return pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		var b pgx.Batch
		b.Queue(`INSERT INTO code_revocation_counts (event_id) VALUES ($1) ON CONFLICT DO NOTHING`, event)
		b.Queue(`SELECT FROM code_revocation_counts WHERE event_id = $1 FOR NO KEY UPDATE`, event)
		b.Queue(`
			WITH due AS (
			  SELECT id, row_number() OVER (ORDER BY id) AS nth FROM (
			    SELECT id FROM code_revocations WHERE event_id = $1 AND no IS NULL ORDER BY id LIMIT $2) d
			), numbered AS (
			  UPDATE code_revocations r SET no = c.last + d.nth
			  FROM due d, code_revocation_counts c WHERE r.id = d.id AND r.no IS NULL AND c.event_id = $1
			  RETURNING r.id
			)
			UPDATE code_revocation_counts SET last = last + (SELECT count(*) FROM numbered) WHERE event_id = $1`, event, numberedAtOnce)
		return tx.SendBatch(ctx, &b).Close()
	})
}
