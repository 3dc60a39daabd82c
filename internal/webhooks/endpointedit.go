package webhooks

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Edit sets all settings of an endpoint that is still at the version at which they
// were read; 0: at whatever version it is. What is so already changes nothing.
// Attempts that begin from now on go by the new ones. Another URL is another
// receiver: what the one before failed at, or asked to wait for, is not held
// against it, and what waits is due.
func Edit(ctx context.Context, pool *pgxpool.Pool, id string, version int64, s Settings, loopback bool, w Asker) (Changed, error) {
	if flaw := s.Check(loopback); flaw != nil {
		return Changed{}, flaw
	}
	s = s.tidy()
	return change(ctx, pool, id, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		if version != 0 && version != e.Version {
			return Changed{Answer: Edited, Endpoint: e}, nil
		}
		was, is := deltas(e.record(), s.record())
		if len(is) == 0 {
			return Changed{Answer: Unchanged, Endpoint: e}, nil
		}
		err := tx.QueryRow(ctx, `
			UPDATE endpoints SET url = $3, kinds = $4, max_attempts = $5, backoff_base = $6, dispatch_gap = $7, min_interval = $8,
			  per_minute = $9, in_flight = $10, version = version + 1,
			  failures = CASE WHEN url = $3 THEN failures ELSE 0 END, failing_since = CASE WHEN url = $3 THEN failing_since END
			WHERE id = $1 AND version = $2 RETURNING version, failures, failing_since`, e.ID, e.Version,
			s.URL, s.Kinds, s.MaxAttempts, s.BackoffBase, s.DispatchGap, s.MinInterval, s.PerMinute, s.InFlight).
			Scan(&e.Version, &e.Failures, &e.FailingSince)
		if err == nil && s.URL != e.URL {
			err = wake(ctx, tx, e.ID)
		}
		if err != nil {
			return Changed{}, err
		}
		e.Settings = s
		return Changed{Answer: Done, Endpoint: e}, w.did(ctx, tx, e.ID, "edited", was, is)
	})
}
