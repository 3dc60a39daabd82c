package inventory

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
)

// FreeHeld puts up to n of the seats that the house holds back on sale, the
// first of the hall first, and says how many. The next recount shows them: they
// go to whoever is at the door, and a sale that was exhausted opens again.
func FreeHeld(ctx context.Context, pool *pgxpool.Pool, event string, n int) (freed int64, err error) {
	tag, err := pool.Exec(ctx, `
		WITH held AS MATERIALIZED (
		  SELECT s.id FROM seats s JOIN events e ON e.id = s.event_id
		  WHERE s.event_id = $1 AND s.held_back AND e.control <> 'closed'
		  ORDER BY s.id LIMIT $2 FOR UPDATE OF s)
		UPDATE seats s SET held_back = false FROM held
		WHERE s.id = held.id AND s.held_back`, event, n)
	if err != nil {
		return 0, fmt.Errorf("free held seats of %s: %w", event, err)
	}
	return tag.RowsAffected(), nil
}
