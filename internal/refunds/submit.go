package refunds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNotTaken: the database refused a call (its row was locked for too long, say).
// There is no call, and the outlet is ours as before.
var ErrNotTaken = errors.New("refunds: call not taken")

// Submit commits a call before a byte of it leaves, over the connection that
// holds the lock: one round trip says that the outlet is ours, reserves a start
// under our epoch, writes the call down and marks the operation. ok is false
// when the operation changed since it was read; then there is no call. wait is
// how long until the database's quota allows the start. Once the wait of a take-over
// is over, so are the calls of those before, and the limit that is kept is our own.
func (r *Reign) Submit(ctx context.Context, j Job, v Verb) (call int64, wait time.Duration, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var seconds float64
	err = r.conn.QueryRow(ctx, `
		WITH job AS (
		  SELECT id FROM refund_operations
		  WHERE id = $2 AND status = $3 AND sends = $4 AND looks = $5 AND look_after = $6 AND pushes = $7 AND late_looks = $13
		    AND call IS NULL AND next_at <= clock_timestamp() FOR NO KEY UPDATE),
		quota AS (
		  UPDATE outlet_quota SET
		    next_start = least(greatest(next_start, clock_timestamp()), clock_timestamp() + call_limit + $11::interval) + $10::interval,
		    call_limit = CASE WHEN taken_at + call_limit <= clock_timestamp() THEN $12::interval ELSE call_limit END
		  WHERE epoch = $1 AND EXISTS (SELECT FROM job) RETURNING next_start - $10::interval - clock_timestamp() AS wait),
		call AS (
		  INSERT INTO refund_calls (epoch, operation, kind, verb)
		  SELECT $1, job.id, $8, $9 FROM job, quota RETURNING id),
		marked AS (
		  UPDATE refund_operations f SET call = call.id, resend = false,
		    status = CASE WHEN $9 = 'create' THEN 'submitted' ELSE f.status END,
		    sends = f.sends + CASE WHEN $9 = 'create' THEN 1 ELSE 0 END,
		    looks = f.looks + CASE WHEN $9 = 'list' AND f.look_after = '' THEN 1 ELSE 0 END,
		    late_looks = f.late_looks + CASE WHEN $8 = 'late' THEN 1 ELSE 0 END,
		    first_sent_at = CASE WHEN $9 = 'create' THEN coalesce(f.first_sent_at, clock_timestamp()) ELSE f.first_sent_at END
		  FROM call WHERE f.id = $2 RETURNING call.id)
		SELECT marked.id, extract(epoch FROM quota.wait)::float8 FROM marked, quota`,
		r.Epoch, j.Ask.Operation, j.Status, j.Sends, j.Looks, j.LookAfter, j.Pushes, j.Kind(v), v,
		r.limits.Apart, r.ahead(), r.limits.Call, j.LateLooks).Scan(&call, &seconds)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, false, r.why(ctx)
	}
	var no *pgconn.PgError
	if errors.As(err, &no) && no.SeverityUnlocalized == "ERROR" { // an answer: nothing of the statement stands
		return 0, 0, false, fmt.Errorf("%w: %s: %w", ErrNotTaken, j.Ask.Operation, err)
	}
	if err != nil {
		return 0, 0, false, fmt.Errorf("submit %s: %w", j.Ask.Operation, err)
	}
	return call, time.Duration(seconds * float64(time.Second)), true, nil
}

// why a call was not taken. The quota's row changes hands with the lock alone,
// so what is read now is what the statement saw.
func (r *Reign) why(ctx context.Context) error {
	var ours bool
	err := r.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM outlet_quota WHERE epoch = $1)`, r.Epoch).Scan(&ours)
	if err == nil && !ours {
		err = ErrLost
	}
	return wrap("submit", err)
}
