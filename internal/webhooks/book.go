package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// writers write successes down at the same time. What comes while both are at it
	// is written together, up to writtenAtOnce.
	writers       = 2
	writtenAtOnce = 200
)

// book is where a courier's successes are written down. A commit takes as long for
// many as for one, so that how fast deliveries end does not hang on how soon
// Postgres answers.
type book struct {
	pool *pgxpool.Pool
	ends chan end
}

// end is a success that is to be written down.
type end struct {
	Errand
	Outcome
	written chan<- written // told once; nil: its caller waits itself
}

type written struct {
	Settled
	err error
}

func newBook(pool *pgxpool.Pool) *book { return &book{pool: pool} }

// open has successes gathered until shut is called, which waits for the last.
func (b *book) open(ctx context.Context) (shut func()) {
	ends := make(chan end)
	b.ends = ends
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for first := range ends {
				b.write(ctx, gather(first, ends))
			}
		})
	}
	return func() {
		close(ends)
		all.Wait()
		b.ends = nil
	}
}

// gather takes what waits, without waiting.
func gather(first end, ends <-chan end) []end {
	all := []end{first}
	for len(all) < writtenAtOnce {
		select {
		case next, more := <-ends:
			if !more {
				return all
			}
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}

func (b *book) write(ctx context.Context, all []end) {
	become, err := settleDelivered(ctx, b.pool, all)
	for i, e := range all {
		if err != nil {
			e.written <- written{err: err}
			continue
		}
		e.written <- become[i]
	}
}

// delivered writes one success down, with others where the book is open.
func (b *book) delivered(ctx context.Context, e end) (Settled, error) {
	if b.ends == nil {
		become, err := settleDelivered(ctx, b.pool, []end{e})
		if err != nil {
			return Settled{}, err
		}
		return become[0].Settled, become[0].err
	}
	told := make(chan written, 1)
	e.written = told
	b.ends <- e
	w := <-told
	return w.Settled, w.err
}

// settleDelivered ends attempts that were a success, each if it is still its
// courier's, and says what became of each. It touches no endpoint that is well, for
// its row is what takings lock. (What has a courier is being sent.) The failures of one
// that was not are over with the delivery, if its receiver is the one that was sent to:
// what is taken next begins a new row of them. Where somebody holds such a row nothing
// is written, errHeld is said, and the others do not wait.
func settleDelivered(ctx context.Context, pool *pgxpool.Pool, all []end) ([]written, error) {
	become := make([]written, len(all))
	var endpoints, urls, couriers, faults []string
	var deliveries []int64
	var gos, numbers, statuses []int
	var answers [][]byte
	for i, e := range all {
		become[i].Ended = LeaseLost
		endpoints, urls = append(endpoints, e.Endpoint), append(urls, e.URL)
		deliveries, gos, numbers = append(deliveries, e.Delivery), append(gos, e.Go), append(numbers, e.Attempt)
		couriers, faults = append(couriers, e.Courier), append(faults, e.Error)
		statuses, answers = append(statuses, e.Outcome.Status), append(answers, e.answer())
	}
	rows, err := pool.Query(ctx, `
		WITH failing AS MATERIALIZED (
		  SELECT id, url FROM endpoints WHERE id = ANY($1) AND failures > 0 ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
		), free AS MATERIALIZED (
		  SELECT t.nth, t.endpoint, t.delivery, t.go, t.attempt, t.courier, t.status, t.error, t.answer, coalesce(f.url = t.url, false) AS clears
		  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::int[], $5::int[], $6::text[], $7::int[], $8::text[], $9::bytea[])
		    WITH ORDINALITY AS t (endpoint, url, delivery, go, attempt, courier, status, error, answer, nth)
		  JOIN endpoints p ON p.id = t.endpoint LEFT JOIN failing f ON f.id = p.id
		  WHERE p.failures = 0 OR f.id IS NOT NULL
		), ended AS (
		  UPDATE delivery_attempts a SET finished_at = greatest(a.started_at, clock_timestamp()), status = t.status, error = t.error, answer = t.answer
		  FROM free t
		  WHERE a.delivery_id = t.delivery AND a.go = t.go AND a.attempt_no = t.attempt AND a.courier = t.courier AND a.finished_at IS NULL
		  RETURNING t.nth, t.endpoint, t.clears, a.delivery_id, a.go, a.attempt_no, a.courier, a.finished_at
		), delivered AS (
		  UPDATE deliveries d SET status = 'delivered', ended_at = e.finished_at, courier = NULL, leased_until = NULL
		  FROM ended e, notices n
		  WHERE d.id = e.delivery_id AND d.courier = e.courier AND d.go = e.go AND d.attempts = e.attempt_no AND n.id = d.notice_id
		  RETURNING e.nth, e.endpoint, e.clears, extract(epoch FROM e.finished_at - n.at)::float8 AS took
		), well AS (
		  UPDATE endpoints p SET failures = 0, failing_since = NULL
		  FROM (SELECT DISTINCT endpoint FROM delivered WHERE clears) d WHERE p.id = d.endpoint
		)
		SELECT nth, false, took FROM delivered
		UNION ALL
		SELECT nth, true, 0 FROM generate_series(1, cardinality($1)) AS nth WHERE nth NOT IN (SELECT nth FROM free)`,
		endpoints, urls, deliveries, gos, numbers, couriers, statuses, faults, answers)
	if err != nil {
		return nil, fmt.Errorf("settle %d deliveries: %w", len(all), err)
	}
	var nth int
	var held bool
	var took float64
	_, err = pgx.ForEachRow(rows, []any{&nth, &held, &took}, func() error {
		if become[nth-1] = (written{Settled: Settled{Ended: Delivered, Took: time.Duration(took * float64(time.Second))}}); held {
			become[nth-1] = written{err: errHeld}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("settle %d deliveries: %w", len(all), err)
	}
	return become, nil // of the guards the sweep alone changes any: it ends attempts
}
