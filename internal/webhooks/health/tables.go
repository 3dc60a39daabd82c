package health

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"
)

// fromTables reads what the courier wrote: each endpoint's own terms into t, and
// the attempts that have ended, of deliveries begun since their endpoint was
// last edited, or taken back into service; all in microseconds, of one moment.
func fromTables(ctx context.Context, db *sql.DB, t *terms) ([]row, error) {
	const us = int64(time.Second / time.Microsecond)
	if t.slack > math.MaxInt64/us {
		return nil, unusable{"WEBHOOK_ADMIT_SLACK_S is longer than any time"}
	}
	t.slack *= us
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // read only
	if t.endpoints, err = endpointsOf(ctx, tx); err != nil {
		return nil, fmt.Errorf("endpoints: %w", err)
	}
	rows, err := attemptsOf(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("attempts: %w", err)
	}
	return rows, nil
}

func endpointsOf(ctx context.Context, tx *sql.Tx) (map[string]endpoint, error) {
	found, err := tx.QueryContext(ctx, `
		SELECT id, state, max_attempts,
		  trunc(date_part('epoch', backoff_base)::numeric * 1e6)::bigint,
		  trunc(date_part('epoch', dispatch_gap)::numeric * 1e6)::bigint
		FROM endpoints`)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // read only
	all := map[string]endpoint{}
	for found.Next() {
		var id, state string
		var e endpoint
		if err := found.Scan(&id, &state, &e.most, &e.base, &e.greatest); err != nil {
			return nil, err
		}
		e.active = state == "active"
		all[id] = e
	}
	return all, found.Err()
}

func attemptsOf(ctx context.Context, tx *sql.Tx) ([]row, error) {
	found, err := tx.QueryContext(ctx, `
		SELECT a.id::text, a.endpoint_id, concat(a.delivery_id, '.', a.go), a.attempt_no, a.started_at, a.finished_at, a.status
		FROM delivery_attempts a
		WHERE a.finished_at IS NOT NULL AND NOT EXISTS (
		  SELECT FROM delivery_attempts first, endpoint_changes c
		  WHERE (first.delivery_id, first.go) = (a.delivery_id, a.go)
		    AND c.endpoint_id = a.endpoint_id AND (c.did IN ('added', 'edited')
		      OR (c.did, c.old ->> 'state') = ('state', 'disabled'))
		    AND c.at >= first.started_at
		)
		ORDER BY a.started_at, a.id`)
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // read only
	var all []row
	for found.Next() {
		var r row
		var start, finish time.Time
		var status sql.NullInt64
		if err := found.Scan(&r.id, &r.endpoint, &r.delivery, &r.no, &start, &finish, &status); err != nil {
			return nil, err
		}
		r.start, r.finish, r.status = start.UnixMicro(), finish.UnixMicro(), -1
		if status.Valid {
			r.status = status.Int64
		}
		all = append(all, r)
	}
	return all, found.Err()
}
