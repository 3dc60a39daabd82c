package webhooks

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// SetState makes an endpoint active, draining or disabled. No attempt begins after
// the commit that ends active: the statement that takes a delivery asks for it,
// and waits for this lock. Back from disabled nothing is held against it any
// more, neither its failures nor what it asked to wait for, and its deliveries go on.
func SetState(ctx context.Context, pool *pgxpool.Pool, id string, to State, w Asker) (Changed, error) {
	if !slices.Contains(States(), to) {
		return Changed{}, &Flaw{"state", "active, draining or disabled"}
	}
	return change(ctx, pool, id, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		if e.State == to {
			return Changed{Answer: Unchanged, Endpoint: e}, nil
		}
		was := map[string]any{"state": e.State, "reason": e.Reason}
		err := tx.QueryRow(ctx, `
			UPDATE endpoints SET state = $2, reason = CASE WHEN $2 <> 'active' THEN 'asked' END, version = version + 1,
			  failures = CASE WHEN state = 'disabled' THEN 0 ELSE failures END,
			  failing_since = CASE WHEN state = 'disabled' THEN NULL ELSE failing_since END
			WHERE id = $1 AND state = $3 RETURNING state, coalesce(reason, ''), version, failures, failing_since`,
			e.ID, to, e.State).Scan(&e.State, &e.Reason, &e.Version, &e.Failures, &e.FailingSince)
		if err == nil && was["state"] == Disabled && to == Active {
			err = wake(ctx, tx, e.ID)
		}
		if err != nil {
			return Changed{}, err
		}
		return Changed{Answer: Done, Endpoint: e},
			w.did(ctx, tx, e.ID, "state", was, map[string]any{"state": e.State, "reason": e.Reason})
	})
}

// wake ends an endpoint's rest. Its caller holds the endpoint, so no attempt is
// taken meanwhile.
func wake(ctx context.Context, tx pgx.Tx, endpoint string) error {
	if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, allWaiting); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		WITH awake AS (UPDATE endpoints SET next_start_at = '-infinity' WHERE id = $1)
		UPDATE deliveries SET due_at = now() WHERE endpoint_id = $1 AND status = 'waiting' AND due_at > now()`, endpoint)
	if err != nil {
		return fmt.Errorf("end its rest: %w", err)
	}
	return nil
}

// Delete ends an endpoint for good: what waits for it is dead in the same
// instant, an attempt that is under way ends, and its key is forgotten. Its row,
// its deliveries and its record stay.
func Delete(ctx context.Context, pool *pgxpool.Pool, id string, w Asker) (Changed, error) {
	return change(ctx, pool, id, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		nobodys := make([]byte, 32)
		rand.Read(nobodys) //nolint:errcheck // it never fails
		err := tx.QueryRow(ctx, `
			UPDATE endpoints SET deleted_at = now(), state = 'disabled', reason = coalesce(reason, 'asked'), version = version + 1,
			  secret = $2, old_secret = NULL, old_secret_until = NULL
			WHERE id = $1 AND deleted_at IS NULL RETURNING state, reason, version, deleted_at`, e.ID, nobodys).
			Scan(&e.State, &e.Reason, &e.Version, &e.DeletedAt)
		if err != nil {
			return Changed{}, err
		}
		e.OldSecretUntil = nil
		ended, err := endWaiting(ctx, tx, e.ID)
		if err != nil {
			return Changed{}, err
		}
		return Changed{Answer: Done, Endpoint: e, Ended: ended},
			w.did(ctx, tx, e.ID, "deleted", nil, map[string]any{"ended": ended})
	})
}

// allWaiting is how long a change of all that waits may take to be written; whoever
// asks may have less patience. 100,000 take some seconds.
const allWaiting = "10min"

func endWaiting(ctx context.Context, tx pgx.Tx, endpoint string) (int, error) {
	if _, err := tx.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, allWaiting); err != nil {
		return 0, err
	}
	tag, err := tx.Exec(ctx, `
		UPDATE deliveries SET status = 'dead', reason = 'endpoint_deleted', ended_at = now()
		WHERE endpoint_id = $1 AND status = 'waiting'`, endpoint)
	if err != nil {
		return 0, fmt.Errorf("end its deliveries: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
