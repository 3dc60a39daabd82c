package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Past is one change of an endpoint: who, when, what it was and what it became.
// A secret is never in it.
type Past struct {
	ID       int64
	At       time.Time
	By       string // a key's name, or courier
	Did      string
	Old, New json.RawMessage // null: there was none
}

// History is what was changed of an endpoint, also of one that was deleted; the
// newest first, before that one if it is not 0.
func History(ctx context.Context, pool *pgxpool.Pool, organiser, id string, before int64, most int) (all []Past, found bool, err error) {
	if _, found, err = find(ctx, pool, organiser, id, ""); err != nil || !found {
		return nil, found, err
	}
	rows, err := pool.Query(ctx, `
		SELECT id, at, by, did, coalesce(old, 'null'), coalesce(new, 'null') FROM endpoint_changes
		WHERE endpoint_id = $1 AND ($2::bigint = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, id, before, most)
	if err != nil {
		return nil, true, fmt.Errorf("history of endpoint %s: %w", id, err)
	}
	all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Past])
	if err != nil {
		return nil, true, fmt.Errorf("history of endpoint %s: %w", id, err)
	}
	return all, true, nil
}
