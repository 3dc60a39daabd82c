package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// sweptAtOnce bounds one step of a sweep, and stepsAtOnce its steps; there is another
// sweep a second later.
const (
	sweptAtOnce = 500
	stepsAtOnce = 20
)

// Swept is what a sweep found.
type Swept struct {
	Lost int // attempts whose courier did not end them
	Dead int // deliveries that waited for nobody
}

// Sweep ends what nobody will end. Any number may sweep.
func (c *Courier) Sweep(ctx context.Context) (s Swept, err error) {
	var errLost, errDead error
	s.Lost, errLost = c.writeOff(ctx)
	for range stepsAtOnce {
		var n int
		n, errDead = c.giveUp(ctx)
		if s.Dead += n; n < sweptAtOnce {
			break
		}
	}
	return s, errors.Join(errLost, errDead, c.wakeRest(ctx))
}

// wakeRest makes due what the changes that woke an endpoint left to do, the first to be
// woken first.
func (c *Courier) wakeRest(ctx context.Context) error {
	for more, steps := true, 0; more && steps < stepsAtOnce; steps++ {
		err := pg.InTx(ctx, c.Pool, func(tx pgx.Tx) error {
			var endpoint string
			err := tx.QueryRow(ctx, `
				SELECT id FROM endpoints WHERE woken_at IS NOT NULL
				ORDER BY woken_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`).Scan(&endpoint)
			if more = err == nil; more {
				return wakeSome(ctx, tx, endpoint)
			}
			return err
		})
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("wake an endpoint: %w", err)
		}
	}
	return nil
}

// writeOff ends attempts whose lease is over: their courier was killed, or cut off
// from Postgres. They may have been sent, and count; the delivery goes on by its
// schedule, under the same id.
func (c *Courier) writeOff(ctx context.Context) (lost int, err error) {
	rows, err := c.Pool.Query(ctx, `
		SELECT d.id, d.endpoint_id, d.go, d.attempts, d.courier, coalesce(edited.url, p.url), p.max_attempts, p.backoff_base, p.dispatch_gap, p.min_interval
		FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id
		  JOIN delivery_attempts a ON a.delivery_id = d.id AND a.go = d.go AND a.attempt_no = d.attempts
		  LEFT JOIN LATERAL ( -- where it was sent to, if that is another address now
		    SELECT h.old->>'url' AS url FROM endpoint_changes h
		    WHERE h.endpoint_id = d.endpoint_id AND h.did = 'edited' AND h.old ? 'url' AND h.at > a.started_at ORDER BY h.id LIMIT 1
		  ) edited ON true
		WHERE d.status = 'sending' AND d.leased_until < now()
		ORDER BY d.leased_until LIMIT $1`, sweptAtOnce)
	if err != nil {
		return 0, fmt.Errorf("leases: %w", err)
	}
	errands, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Errand, err error) {
		return e, row.Scan(&e.Delivery, &e.Endpoint, &e.Go, &e.Attempt, &e.Courier, &e.URL, &e.MaxAttempts, &e.BackoffBase, &e.DispatchGap, &e.MinInterval)
	})
	if err != nil {
		return 0, fmt.Errorf("leases: %w", err)
	}
	var failed error
	passed := map[string]bool{} // whose row is somebody's; it is not in the others' way
	for _, e := range errands {
		if passed[e.Endpoint] {
			continue
		}
		s, err := c.settle(ctx, e, Outcome{Lost: true, Error: "lost: its courier did not say how it ended; it may have arrived"})
		if passed[e.Endpoint] = err != nil; !errors.Is(err, errHeld) {
			failed = errors.Join(failed, err)
		}
		if err == nil && s.Ended != LeaseLost { // else somebody ended it just now
			lost++
		}
	}
	return lost, failed
}

// giveUp puts on the dead-letter list what waits for an endpoint that was deleted,
// or for one that is disabled and has been for too long. An endpoint that somebody
// changes at this moment is left for the next sweep.
func (c *Courier) giveUp(ctx context.Context) (int, error) {
	tag, err := c.Pool.Exec(ctx, `
		WITH disabled AS MATERIALIZED (
		  SELECT id, deleted_at FROM endpoints WHERE state = 'disabled' FOR NO KEY UPDATE SKIP LOCKED
		), few AS MATERIALIZED (
		  SELECT d.id, CASE WHEN p.deleted_at IS NULL THEN 'too_old' ELSE 'endpoint_deleted' END AS reason
		  FROM disabled p CROSS JOIN LATERAL (
		    SELECT d.id FROM deliveries d
		    WHERE d.endpoint_id = p.id AND d.status = 'waiting' AND (p.deleted_at IS NOT NULL OR d.due_at < now() - $1::interval)
		    ORDER BY d.due_at, d.id LIMIT $2
		  ) d LIMIT $2
		)
		UPDATE deliveries d SET status = 'dead', reason = few.reason, ended_at = now()
		FROM few WHERE d.id = few.id AND d.status = 'waiting'`, c.Terms.WaitAtMost, sweptAtOnce)
	if err != nil {
		return 0, fmt.Errorf("deliveries that wait for nobody: %w", err)
	}
	return int(tag.RowsAffected()), nil
}
