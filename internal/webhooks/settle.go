package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/notice"
	"waitroom/internal/pg"
)

// Ended is what an attempt made of its delivery.
type Ended string

const (
	Delivered Ended = "delivered"
	Failed    Ended = "failed" // it waits for the next attempt
	Dead      Ended = "dead"
	// LeaseLost: the attempt was written off meanwhile, and nothing was changed. It
	// is another's, or waits; what was sent may have arrived.
	LeaseLost Ended = "lease_lost"
)

// Settled is what was written down of an attempt.
type Settled struct {
	Ended     Ended
	Reason    string        // why it is dead
	Took      time.Duration // from the notice to its delivery
	Throttled bool          // the endpoint rests
	Disabled  string        // why this attempt disabled the endpoint; else empty
}

// errHeld: somebody holds the endpoint's row. Nothing is written, and nobody waited
// for it: a connection that did would be one less for all others.
var errHeld = errors.New("its endpoint is being changed")

// settle writes down what an attempt came to, if it is still its courier's.
func (c *Courier) settle(ctx context.Context, e Errand, o Outcome) (s Settled, err error) {
	if c.Terms.Success(o.Status) {
		return c.book.delivered(ctx, end{Errand: e, Outcome: o})
	}
	if s, err = c.failed(ctx, e, o); err != nil {
		return Settled{}, fmt.Errorf("settle delivery %d: %w", e.Delivery, err)
	}
	return s, nil
}

// failed ends the attempt, schedules the next or gives the delivery up, counts it
// against its endpoint and disables that one if it fails for good: in one
// transaction, the endpoint's row first, as whoever changes both does.
//
// Where the endpoint has another URL by now, the failure says nothing of it: it is due
// there at once, and once more even if this was its last attempt.
func (c *Courier) failed(ctx context.Context, e Errand, o Outcome) (s Settled, err error) {
	err = pg.InTx(ctx, c.Pool, func(tx pgx.Tx) error {
		var deleted, moved bool
		err := tx.QueryRow(ctx, `SELECT deleted_at IS NOT NULL, url <> $2 FROM endpoints WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED`,
			e.Endpoint, e.URL).Scan(&deleted, &moved)
		if errors.Is(err, pgx.ErrNoRows) { // endpoints stay: it is held
			return errHeld
		}
		if err != nil {
			return err
		}
		s = Settled{Ended: Failed, Reason: reasonOf(e, o, deleted, moved)}
		if s.Reason != "" {
			s.Ended = Dead
		}
		wait := c.Terms.wait(e.Schedule, e.Attempt+1, o.RetryAfter, c.Chance())
		if moved {
			wait = 0
		}
		finished, err := c.put(ctx, tx, e, o, s.Reason, wait)
		if errors.Is(err, pgx.ErrNoRows) {
			s = Settled{Ended: LeaseLost}
			return nil
		}
		if err != nil || o.Lost || moved { // that we lost an attempt is not its endpoint's fault
			return err
		}
		return c.count(ctx, tx, e, o, finished, &s)
	})
	return s, err
}

// reasonOf is why a delivery whose attempt failed is dead; empty, it is not.
func reasonOf(e Errand, o Outcome, deleted, moved bool) string {
	switch {
	case deleted && (moved || o.Status != http.StatusGone):
		return "endpoint_deleted"
	case moved:
		return ""
	case o.Status == http.StatusGone:
		return "gone"
	case e.Attempt >= e.MaxAttempts:
		return "max_attempts"
	}
	return ""
}

// put ends the attempt and moves its delivery: dead for a reason, or due after a wait.
func (c *Courier) put(ctx context.Context, tx pgx.Tx, e Errand, o Outcome, dead string, wait time.Duration) (finished time.Time, err error) {
	err = tx.QueryRow(ctx, `
		WITH ended AS (
		  UPDATE delivery_attempts SET finished_at = greatest(started_at, clock_timestamp()), status = nullif($5, 0), error = $6, answer = $7
		  WHERE delivery_id = $1 AND go = $2 AND attempt_no = $3 AND courier = $4 AND finished_at IS NULL
		  RETURNING finished_at
		)
		UPDATE deliveries d SET status = CASE WHEN $8 = '' THEN 'waiting' ELSE 'dead' END, reason = nullif($8, ''),
		  due_at = CASE WHEN $8 = '' THEN ended.finished_at + $9::interval ELSE d.due_at END,
		  ended_at = CASE WHEN $8 <> '' THEN ended.finished_at END, courier = NULL, leased_until = NULL
		FROM ended
		WHERE d.id = $1 AND d.courier = $4 AND d.go = $2 AND d.attempts = $3
		RETURNING ended.finished_at`,
		e.Delivery, e.Go, e.Attempt, e.Courier, o.Status, o.Error, o.answer(), dead, wait).Scan(&finished)
	return finished, err
}

func (o Outcome) answer() []byte {
	if o.Answer == nil {
		return []byte{}
	}
	return o.Answer
}

// rest is how long nothing at all begins at an endpoint whose receiver said that it
// has too much, or is away. 0: it did not.
func (o Outcome) rest(s Schedule) time.Duration {
	switch o.Status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return max(o.RetryAfter, min(s.BackoffBase, s.DispatchGap))
	}
	return o.RetryAfter
}

// count counts a failure against its endpoint, lets it rest, and disables it.
func (c *Courier) count(ctx context.Context, tx pgx.Tx, e Errand, o Outcome, finished time.Time, s *Settled) error {
	rest := min(o.rest(e.Schedule), longestRetryAfter)
	var failsForGood bool
	err := tx.QueryRow(ctx, `
		UPDATE endpoints SET failures = failures + 1, failing_since = coalesce(failing_since, $2),
		  next_start_at = CASE WHEN $3::interval > '0' THEN greatest(next_start_at, $2 + $3::interval) ELSE next_start_at END
		WHERE id = $1
		RETURNING failures >= $4 AND $2 - failing_since >= $5::interval`,
		e.Endpoint, finished, rest, c.Terms.DisableAfter, c.Terms.DisableFailingFor).Scan(&failsForGood)
	s.Throttled = rest > 0
	switch {
	case err != nil:
		return err
	case o.Status == http.StatusGone:
		return disable(ctx, tx, e.Endpoint, "gone", s)
	case failsForGood:
		return disable(ctx, tx, e.Endpoint, "failing", s)
	}
	return nil
}

// disable takes an endpoint out of service, once, and tells its organiser's others.
// Its deliveries wait for a person to set it active again.
func disable(ctx context.Context, tx pgx.Tx, endpoint, why string, s *Settled) error {
	var organiser string
	var told int64
	var failures int
	var since time.Time
	err := tx.QueryRow(ctx, `
		WITH was AS (
		  SELECT id, state, reason FROM endpoints
		  WHERE id = $1 AND state IN ('active', 'draining') AND deleted_at IS NULL
		), now AS (
		  UPDATE endpoints p SET state = 'disabled', reason = $2, version = p.version + 1, told = p.told + 1
		  FROM was WHERE p.id = was.id
		  RETURNING p.organiser, p.told, p.failures, p.failing_since
		), noted AS (
		  INSERT INTO endpoint_changes (endpoint_id, at, by, did, old, new)
		  SELECT id, clock_timestamp(), 'courier', 'state', jsonb_build_object('state', state, 'reason', reason),
		    jsonb_build_object('state', 'disabled', 'reason', $2::text) FROM was
		)
		SELECT organiser, told, failures, failing_since FROM now`, endpoint, why).Scan(&organiser, &told, &failures, &since)
	if errors.Is(err, pgx.ErrNoRows) { // it is disabled already: told, or asked for
		return nil
	}
	if err != nil {
		return err
	}
	s.Disabled = why
	return notice.Write(ctx, tx, notice.Notice{
		Kind: "endpoint.disabled", Organiser: organiser, Subject: endpoint, Version: told,
		Body: map[string]any{"endpoint": endpoint, "reason": why, "failures": failures, "failing_since": since.UTC()},
	})
}
