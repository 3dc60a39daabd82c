package inventory

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// FreeHeld puts a block of up to n of the seats that the house holds back on sale,
// the first of the hall first, and says how many; withdrawn ones stay off. The next
// recount shows them: they go to whoever is at the door, and a sale that was
// exhausted opens again. However large the block, nobody is let in any faster for
// it: what is let in in a step is bounded by the rate in force.
func FreeHeld(ctx context.Context, pool *pgxpool.Pool, event string, n int) (int64, error) {
	return FreeBlock(ctx, pool, Asker{}, event, n)
}

// FreeBlock is FreeHeld as an organiser wishes it, once under its name.
func FreeBlock(ctx context.Context, pool *pgxpool.Pool, who Asker, event string, n int) (int64, error) {
	freed, err := once(ctx, pool, who, func(tx pgx.Tx) (int64, bool, error) {
		freed, err := freeBlock(ctx, tx, event, n)
		return freed, freed > 0, err
	})
	if err != nil {
		return 0, fmt.Errorf("free held seats of %s: %w", event, err)
	}
	return freed, nil
}

func freeBlock(ctx context.Context, tx pgx.Tx, event string, n int) (freed int64, err error) {
	tag, err := tx.Exec(ctx, `
		WITH held AS MATERIALIZED (
		  SELECT s.id FROM seats s JOIN events e ON e.id = s.event_id
		  WHERE s.event_id = $1 AND s.held_back AND s.withdrawn_at IS NULL AND e.control <> 'closed'
		  ORDER BY s.id LIMIT $2 FOR UPDATE OF s)
		UPDATE seats s SET held_back = false FROM held
		WHERE s.id = held.id AND s.held_back`, event, n)
	return tag.RowsAffected(), err
}
