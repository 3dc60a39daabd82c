package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Health is how an endpoint does.
type Health struct {
	Endpoint
	Waiting, Sending, Dead int64
	OldestWaiting          *time.Time // when the first notice that waits for it became true
	NextStartAt            *time.Time // held back until then, by its limits or as it asked; nil: it is not
	LastSuccess            *time.Time
	LastFailure            *Failure // nil: there was none
}

// Failure is an attempt that failed.
type Failure struct {
	At     time.Time
	Status int    // 0: no answer came
	Error  string // as the ledger has it
}

// HealthOf is how each endpoint does that was not deleted: one, or all of the
// organiser's if id is empty.
func HealthOf(ctx context.Context, pool *pgxpool.Pool, organiser, id string) ([]Health, error) {
	rows, err := pool.Query(ctx, `
		SELECT `+columns+`, w.n, s.n, x.n, (SELECT n.at FROM notices n WHERE n.id = w.oldest), CASE WHEN `+heldBack+` THEN e.next_start_at END, good.at, bad.at, bad.status, bad.error
		FROM endpoints e,
		  LATERAL (SELECT count(*) AS n, min(d.notice_id) AS oldest FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'waiting') w,
		  LATERAL (SELECT count(*) AS n FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'sending') s,
		  LATERAL (SELECT count(*) AS n FROM deliveries d WHERE d.endpoint_id = e.id AND d.status = 'dead') x
		  LEFT JOIN LATERAL (SELECT a.finished_at AS at FROM delivery_attempts a
		           WHERE a.endpoint_id = e.id AND a.status BETWEEN 200 AND 299
		           ORDER BY a.started_at DESC, a.id DESC LIMIT 1) good ON true
		  LEFT JOIN LATERAL (SELECT a.finished_at AS at, coalesce(a.status, 0) AS status, a.error FROM delivery_attempts a
		           WHERE a.endpoint_id = e.id AND a.finished_at IS NOT NULL AND (a.status IS NULL OR a.status NOT BETWEEN 200 AND 299)
		           ORDER BY a.started_at DESC, a.id DESC LIMIT 1) bad ON true
		WHERE ($1 = '' OR e.organiser = $1) AND ($2 = '' OR e.id = $2) AND e.deleted_at IS NULL
		ORDER BY e.organiser, e.created_at, e.id`, organiser, id)
	if err != nil {
		return nil, fmt.Errorf("health of endpoints: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanHealth)
	if err != nil {
		return nil, fmt.Errorf("health of endpoints: %w", err)
	}
	return all, nil
}

func scanHealth(row pgx.CollectableRow) (h Health, err error) {
	e := &h.Endpoint
	var failed *time.Time
	var status *int
	var said *string
	err = row.Scan(&e.ID, &e.Organiser, &e.URL, &e.Kinds, &e.MaxAttempts, &e.BackoffBase, &e.DispatchGap, &e.MinInterval,
		&e.PerMinute, &e.InFlight, &e.State, &e.Reason, &e.Version, &e.OldSecretUntil,
		&e.Failures, &e.FailingSince, &e.CreatedAt, &e.DeletedAt,
		&h.Waiting, &h.Sending, &h.Dead, &h.OldestWaiting, &h.NextStartAt, &h.LastSuccess, &failed, &status, &said)
	if failed != nil {
		h.LastFailure = &Failure{*failed, *status, *said}
	}
	return h, err
}

// Figures are what is told of all endpoints together.
type Figures struct {
	Endpoints  map[State]int  // that were not deleted
	Failing    int            // active, and at least one attempt failed since the last success
	Deliveries map[string]int // waiting, sending, dead
	// Late is how long the delivery waits that nothing holds but a courier's
	// slowness: its endpoint is active and does not fail, neither its limits nor its own wish
	// hold it back, and it is due. 0: there is none.
	Late time.Duration
	// Held is the age of the oldest notice that waits for an endpoint that is not
	// active. 0: there is none.
	Held time.Duration
}

// ReadFigures reads them. What was delivered is not counted: it grows for ever.
func ReadFigures(ctx context.Context, pool *pgxpool.Pool) (Figures, error) {
	f := Figures{Endpoints: map[State]int{}, Deliveries: map[string]int{}}
	var active, draining, disabled, waiting, sending, dead int
	var late, held float64
	err := pool.QueryRow(ctx, `
		WITH live AS MATERIALIZED (
		  SELECT id, state, failures, next_start_at, in_flight, `+heldBack+` AS held FROM endpoints WHERE deleted_at IS NULL
		), oldest AS MATERIALIZED (
		  SELECT l.state, greatest(d.due_at, CASE WHEN l.next_start_at <= now() THEN l.next_start_at END) AS since, d.notice_id, l.failures = 0 AND NOT l.held AND d.due_at <= now()
		    AND (SELECT count(*) FROM deliveries s WHERE s.endpoint_id = l.id AND s.status = 'sending') < l.in_flight AS free
		  FROM live l, LATERAL (
		    SELECT d.due_at, d.notice_id FROM deliveries d WHERE d.endpoint_id = l.id AND d.status = 'waiting' ORDER BY d.due_at, d.id LIMIT 1
		  ) d
		)
		SELECT count(*) FILTER (WHERE state = 'active'), count(*) FILTER (WHERE state = 'draining'), count(*) FILTER (WHERE state = 'disabled'),
		  count(*) FILTER (WHERE state = 'active' AND failures > 0),
		  (SELECT count(*) FROM deliveries WHERE status = 'waiting'),
		  (SELECT count(*) FROM deliveries WHERE status = 'sending'),
		  (SELECT count(*) FROM deliveries WHERE status = 'dead'),
		  coalesce((SELECT extract(epoch FROM now() - min(since)) FROM oldest WHERE state = 'active' AND free), 0)::float8,
		  coalesce((SELECT extract(epoch FROM now() - min(n.at)) FROM oldest o JOIN notices n ON n.id = o.notice_id WHERE o.state <> 'active'), 0)::float8
		FROM live`).Scan(&active, &draining, &disabled, &f.Failing, &waiting, &sending, &dead, &late, &held)
	if err != nil {
		return f, fmt.Errorf("figures of webhooks: %w", err)
	}
	f.Endpoints[Active], f.Endpoints[Draining], f.Endpoints[Disabled] = active, draining, disabled
	f.Deliveries["waiting"], f.Deliveries["sending"], f.Deliveries["dead"] = waiting, sending, dead
	f.Late, f.Held = time.Duration(late*float64(time.Second)), time.Duration(held*float64(time.Second))
	return f, nil
}
