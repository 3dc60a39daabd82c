package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// Errand is one attempt of a delivery, in a courier's hands.
type Errand struct {
	Delivery    int64
	Endpoint    string
	Go, Attempt int
	Courier     string // whose it is

	URL     string
	Keys    [][]byte // that sign now
	Failing bool     // its endpoint's last attempt failed
	Message
	Schedule

	taken time.Time // by this process's clock: what is left of its lease
}

const (
	// endpointsAtOnce bounds what one taking locks, of those that are well and of the
	// failing.
	endpointsAtOnce = 64
	// An endpoint's rate is kept in steps of 100 ms: so many of its minute's
	// attempts may begin at once, one at least.
	stepsOfAMinute = 600
)

// heldBack: an endpoint's rate, or the rest that it asked for, has its next start yet
// to come. A rate moves that by a minute at most: where it is further ahead, and the
// rate put it there, the clock was set back since, and the endpoint is free.
const heldBack = `(next_start_at > now() AND (next_start_at <> paced_until OR next_start_at <= now() + interval '1 minute'))`

// unserved orders endpoints that are free by when they were last served; those of
// before the clock was set back come first, once.
const unserved = `CASE WHEN p.next_start_at > now() THEN '-infinity' ELSE p.next_start_at END`

// take takes up to most attempts of what is due, of many endpoints a few each: the
// first of each before the second of any, and whose was not served for longest
// before the others, so that nobody's backlog is in another's way. What it takes is in the ledger, and is this courier's, when it returns.
//
// An endpoint is taken from while it is active, not deleted, past its next start
// and below its attempts under way; its row is locked first, and read again by the
// statement that takes: what was committed before the lock is seen, and whoever
// commits later finds these attempts begun. A row that somebody else holds is left
// for the next time. Each attempt moves the next start by its share of a minute,
// from now on: time that was not used is not made up for.
//
// An endpoint whose last attempt failed is failing. It is taken from once at a time,
// and only while no more than a courier's share for such are under way, so that
// receivers that do not answer leave the rest to those that do.
func (c *Courier) take(ctx context.Context, most int) (errands []Errand, err error) {
	taken := time.Now()
	err = pg.InTx(ctx, c.Pool, func(tx pgx.Tx) error {
		due, err := c.lockDue(ctx, tx)
		if err != nil || len(due) == 0 {
			return err
		}
		errands, err = c.begin(ctx, tx, due, most)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take deliveries: %w", err)
	}
	for i := range errands {
		errands[i].taken, errands[i].Courier = taken, c.Name
	}
	return errands, nil
}

// lockDue locks endpoints that something is due for: those that are well, and of the
// failing as many as there is room for, so that neither are in the others' way.
func (c *Courier) lockDue(ctx context.Context, tx pgx.Tx) ([]string, error) {
	due, err := lockWhere(ctx, tx, `p.failures = 0`, endpointsAtOnce)
	if err != nil {
		return nil, err
	}
	var room int
	err = tx.QueryRow(ctx, `
		SELECT $1 - count(*) FROM deliveries d JOIN endpoints p ON p.id = d.endpoint_id
		WHERE d.status = 'sending' AND d.courier = $2 AND p.failures > 0`, c.FailingInFlight, c.Name).Scan(&room)
	if err != nil || room <= 0 {
		return due, err
	}
	failing, err := lockWhere(ctx, tx, `p.failures > 0`, min(room, endpointsAtOnce))
	return append(due, failing...), err
}

// lockWhere locks the longest unserved first. An endpoint that has as many under way
// as it bears is passed over, or those would be in the way of all others; whether it
// still has room is asked again under the lock.
func lockWhere(ctx context.Context, tx pgx.Tx, is string, most int) ([]string, error) {
	rows, err := tx.Query(ctx, `
		SELECT p.id FROM endpoints p
		WHERE p.state = 'active' AND p.deleted_at IS NULL AND NOT `+heldBack+` AND `+is+`
		  AND EXISTS (SELECT FROM deliveries d WHERE d.endpoint_id = p.id AND d.status = 'waiting' AND d.due_at <= now())
		  AND p.in_flight > (SELECT count(*) FROM deliveries d WHERE d.endpoint_id = p.id AND d.status = 'sending')
		ORDER BY `+unserved+`, p.id LIMIT $1
		FOR NO KEY UPDATE OF p SKIP LOCKED`, most)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// begin guards the update by the status that was read: by the word itself, the
// index of all that waits would look like a way to find one row.
func (c *Courier) begin(ctx context.Context, tx pgx.Tx, endpoints []string, most int) ([]Errand, error) {
	rows, err := tx.Query(ctx, `
		WITH room AS MATERIALIZED (
		  SELECT p.id, `+unserved+` AS served_at, clock_timestamp() AS at, least(CASE WHEN p.failures > 0 THEN 1 ELSE greatest(1, p.per_minute / $5) END, p.in_flight - (
		    SELECT count(*) FROM deliveries d WHERE d.endpoint_id = p.id AND d.status = 'sending')) AS room
		  FROM endpoints p
		  WHERE p.id = ANY($1) AND p.state = 'active' AND p.deleted_at IS NULL AND NOT `+heldBack+`
		), due AS (
		  SELECT d.id, d.status, r.at FROM room r CROSS JOIN LATERAL (
		    SELECT d.id, d.status, d.due_at, row_number() OVER (ORDER BY d.due_at, d.id) AS nth
		    FROM deliveries d WHERE d.endpoint_id = r.id AND d.status = 'waiting' AND d.due_at <= now()
		    ORDER BY d.due_at, d.id LIMIT greatest(0, r.room)
		  ) d ORDER BY d.nth, r.served_at, d.due_at, d.id LIMIT $2
		), taken AS (
		  UPDATE deliveries d SET status = 'sending', attempts = d.attempts + 1, courier = $3, leased_until = due.at + $4::interval
		  FROM due WHERE d.id = due.id AND d.status = due.status
		  RETURNING d.id, d.notice_id, d.endpoint_id, d.go, d.attempts, due.at
		), begun AS (
		  INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at)
		  SELECT id, endpoint_id, go, attempts, $3, at FROM taken
		), moved AS (
		  UPDATE endpoints p SET next_start_at = t.at + t.n * interval '1 minute' / p.per_minute,
		    paced_until = t.at + t.n * interval '1 minute' / p.per_minute
		  FROM (SELECT endpoint_id, max(at) AS at, count(*) AS n FROM taken GROUP BY endpoint_id) t WHERE p.id = t.endpoint_id
		)
		SELECT t.id, p.id, t.go, t.attempts, p.failures > 0, p.url, p.secret, CASE WHEN p.old_secret_until > now() THEN p.old_secret END,
		  n.id, n.kind, coalesce(n.event_id, ''), n.subject, n.version, n.at, n.body,
		  p.max_attempts, p.backoff_base, p.dispatch_gap, p.min_interval
		FROM taken t JOIN endpoints p ON p.id = t.endpoint_id JOIN notices n ON n.id = t.notice_id
		ORDER BY t.id`, endpoints, most, c.Name, c.Lease, stepsOfAMinute)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Errand, err error) {
		var key, old []byte
		err = row.Scan(&e.Delivery, &e.Endpoint, &e.Go, &e.Attempt, &e.Failing, &e.URL, &key, &old,
			&e.ID, &e.Kind, &e.Event, &e.Subject, &e.Version, &e.At, &e.Body,
			&e.MaxAttempts, &e.BackoffBase, &e.DispatchGap, &e.MinInterval)
		if e.Keys = [][]byte{key}; old != nil {
			e.Keys = append(e.Keys, old)
		}
		return e, err
	})
}
