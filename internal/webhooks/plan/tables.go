package plan

import (
	"context"
	"database/sql"
	"fmt"
	"math"
)

// second is one in the unit of the tables.
const second = 1_000_000

// FromTables reads the courier's own ledger, in microseconds, in one snapshot.
// There an attempt says which delivery it is of, so the one before it is that
// delivery's; where a delivery begins by the rules is then held against where it
// did. An endpoint's attempts count from its last edit on: the terms that stand
// there now say nothing of what was begun under others; and from when a person last took
// it back into service, who makes due what waits. What is under way is not in the ledger
// yet.
func FromTables(ctx context.Context, db *sql.DB, c Contract) (f Facts, err error) {
	if c.Slack > math.MaxInt64/second {
		return Facts{}, fmt.Errorf("%w: the slack is longer than any time", ErrContract)
	}
	c.Slack *= second
	f = Facts{Contract: c, Unit: "us"}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return Facts{}, err
	}
	defer tx.Rollback() //nolint:errcheck // read only
	if f.Endpoints, err = endpointRows(ctx, tx); err != nil {
		return Facts{}, fmt.Errorf("endpoints: %w", err)
	}
	if f.Attempts, err = attemptRows(ctx, tx); err != nil {
		return Facts{}, fmt.Errorf("attempts: %w", err)
	}
	return f, nil
}

func endpointRows(ctx context.Context, tx *sql.Tx) (all []Endpoint, err error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT id, state, max_attempts,
		  (extract(epoch FROM backoff_base) * 1000000)::bigint,
		  (extract(epoch FROM dispatch_gap) * 1000000)::bigint
		FROM endpoints ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read only
	for rows.Next() {
		var e Endpoint
		if err := rows.Scan(&e.ID, &e.State, &e.MaxAttempts, &e.BackoffBase, &e.Gap); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

func attemptRows(ctx context.Context, tx *sql.Tx) (all []Attempt, err error) {
	rows, err := tx.QueryContext(ctx, `
		WITH edited AS (
		  SELECT endpoint_id, max(at) AS at FROM endpoint_changes
		  WHERE did IN ('added', 'edited') OR did = 'state' AND old->>'state' = 'disabled'
		  GROUP BY endpoint_id
		), begun AS (
		  SELECT delivery_id, go, min(started_at) AS at FROM delivery_attempts
		  GROUP BY delivery_id, go
		)
		SELECT a.id, a.endpoint_id, a.delivery_id || '.' || a.go, a.attempt_no,
		  (extract(epoch FROM a.started_at) * 1000000)::bigint,
		  (extract(epoch FROM a.finished_at) * 1000000)::bigint,
		  coalesce(a.status, -1)
		FROM delivery_attempts a
		JOIN begun b USING (delivery_id, go)
		LEFT JOIN edited e ON e.endpoint_id = a.endpoint_id
		WHERE a.finished_at IS NOT NULL AND b.at > coalesce(e.at, '-infinity')
		ORDER BY a.started_at, a.id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // read only
	for rows.Next() {
		var a Attempt
		if err := rows.Scan(&a.ID, &a.Endpoint, &a.Delivery, &a.No, &a.Start, &a.Finish, &a.Status); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}
