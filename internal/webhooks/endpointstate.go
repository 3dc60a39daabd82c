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
		if err == nil && was["state"] == Disabled { // draining sends none of it, and active may follow
			err = wake(ctx, tx, e.ID)
		}
		if err != nil {
			return Changed{}, err
		}
		return Changed{Answer: Done, Endpoint: e},
			w.did(ctx, tx, e.ID, "state", was, map[string]any{"state": e.State, "reason": e.Reason})
	})
}

// atOnce bounds how many deliveries one transaction moves that holds their endpoint:
// the first of them with the change itself, the rest by sweeps. So a change takes no
// longer where many wait, and is in nobody's way.
const atOnce = 1000

// wake ends an endpoint's rest, and makes what waits for its next attempt due. Its
// caller holds the endpoint, so no attempt is taken meanwhile.
func wake(ctx context.Context, tx pgx.Tx, endpoint string) error {
	_, err := tx.Exec(ctx, `UPDATE endpoints SET next_start_at = '-infinity', woken_at = clock_timestamp() WHERE id = $1`, endpoint)
	if err == nil {
		err = wakeSome(ctx, tx, endpoint)
	}
	if err != nil {
		return fmt.Errorf("end its rest: %w", err)
	}
	return nil
}

// wakeSome goes on with it. What failed since then waits as long as it should.
func wakeSome(ctx context.Context, tx pgx.Tx, endpoint string) error {
	_, err := tx.Exec(ctx, `
		WITH few AS MATERIALIZED (
		  SELECT d.id FROM endpoints p JOIN deliveries d ON d.endpoint_id = p.id
		  WHERE p.id = $1 AND d.status = 'waiting' AND d.due_at > now() AND NOT EXISTS (
		    SELECT FROM delivery_attempts a
		    WHERE a.delivery_id = d.id AND a.go = d.go AND a.attempt_no = d.attempts AND a.finished_at >= p.woken_at)
		  ORDER BY d.due_at, d.id LIMIT $2
		), due AS (
		  UPDATE deliveries d SET due_at = now() FROM few WHERE d.id = few.id
		)
		UPDATE endpoints SET woken_at = NULL WHERE id = $1 AND (SELECT count(*) FROM few) < $2`, endpoint, atOnce)
	return err
}

// Delete ends an endpoint for good: no attempt begins any more, what waits for it is
// dead, an attempt that is under way ends, and its key is forgotten. Its row, its
// deliveries and its record stay.
func Delete(ctx context.Context, pool *pgxpool.Pool, id string, w Asker) (Changed, error) {
	return change(ctx, pool, id, w, func(tx pgx.Tx, e Endpoint) (Changed, error) {
		nobodys := make([]byte, 32)
		rand.Read(nobodys) //nolint:errcheck // it never fails
		err := tx.QueryRow(ctx, `
			UPDATE endpoints SET deleted_at = now(), state = 'disabled', reason = coalesce(reason, 'asked'), version = version + 1, woken_at = NULL,
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

// endWaiting ends the first of what waits for a deleted endpoint, and says how much that
// is: nothing takes the rest, which sweeps end.
func endWaiting(ctx context.Context, tx pgx.Tx, endpoint string) (waiting int, err error) {
	err = tx.QueryRow(ctx, `
		WITH few AS MATERIALIZED (
		  SELECT id FROM deliveries WHERE endpoint_id = $1 AND status = 'waiting' ORDER BY due_at, id LIMIT $2
		), ended AS (
		  UPDATE deliveries d SET status = 'dead', reason = 'endpoint_deleted', ended_at = now() FROM few WHERE d.id = few.id
		)
		SELECT count(*) FROM deliveries WHERE endpoint_id = $1 AND status = 'waiting'`, endpoint, atOnce).Scan(&waiting)
	if err != nil {
		return 0, fmt.Errorf("end its deliveries: %w", err)
	}
	return waiting, nil
}
