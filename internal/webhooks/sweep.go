package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// sweptAtOnce bounds one sweep; there is another a second later.
const sweptAtOnce = 500

// Swept is what a sweep found.
type Swept struct {
	Lost int // attempts whose courier did not end them
	Dead int // deliveries that waited for nobody
}

// Sweep ends what nobody will end. Any number may sweep.
func (c *Courier) Sweep(ctx context.Context) (s Swept, err error) {
	var errLost, errDead error
	s.Lost, errLost = c.writeOff(ctx)
	s.Dead, errDead = c.giveUp(ctx)
	return s, errors.Join(errLost, errDead)
}

// writeOff ends attempts whose lease is over: their courier was killed, or cut off
// from Postgres. They may have been sent, and count; the delivery goes on by its
// schedule, under the same id.
func (c *Courier) writeOff(ctx context.Context) (lost int, err error) {
	rows, err := c.Pool.Query(ctx, `
		SELECT d.id, d.endpoint_id, d.go, d.attempts, d.courier, p.max_attempts, p.backoff_base, p.dispatch_gap, p.min_interval
		FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id
		WHERE d.status = 'sending' AND d.leased_until < now()
		ORDER BY d.leased_until LIMIT $1`, sweptAtOnce)
	if err != nil {
		return 0, fmt.Errorf("leases: %w", err)
	}
	errands, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Errand, err error) {
		return e, row.Scan(&e.Delivery, &e.Endpoint, &e.Go, &e.Attempt, &e.Courier, &e.MaxAttempts, &e.BackoffBase, &e.DispatchGap, &e.MinInterval)
	})
	if err != nil {
		return 0, fmt.Errorf("leases: %w", err)
	}
	var held error
	passed := map[string]bool{} // whose row is somebody's; it is not in the others' way
	for _, e := range errands {
		if passed[e.Endpoint] {
			continue
		}
		s, err := c.settle(ctx, e, Outcome{Lost: true, Error: "lost: its courier did not say how it ended; it may have arrived"})
		held, passed[e.Endpoint] = errors.Join(held, err), err != nil
		if err == nil && s.Ended != LeaseLost { // else somebody ended it just now
			lost++
		}
	}
	return lost, held
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
