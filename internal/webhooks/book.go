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
	settled, err := settleDelivered(ctx, b.pool, all)
	for i, e := range all {
		if err != nil {
			e.written <- written{err: err}
			continue
		}
		e.written <- written{Settled: settled[i]}
	}
}

// delivered writes one success down, with others where the book is open.
func (b *book) delivered(ctx context.Context, e end) (Settled, error) {
	if b.ends == nil {
		settled, err := settleDelivered(ctx, b.pool, []end{e})
		if err != nil {
			return Settled{}, err
		}
		return settled[0], nil
	}
	told := make(chan written, 1)
	e.written = told
	b.ends <- e
	w := <-told
	return w.Settled, w.err
}

// settleDelivered ends attempts that were a success, each if it is still its
// courier's, and says what became of each. It touches no endpoint that is well, for
// its row is what takings lock. (What has a courier is being sent.) The failures of one that was not are over before the
// delivery is: what is taken next begins a new row of them.
func settleDelivered(ctx context.Context, pool *pgxpool.Pool, all []end) ([]Settled, error) {
	type key struct {
		delivery    int64
		go_, number int
	}
	settled := make([]Settled, len(all))
	at := map[key]int{}
	var endpoints, couriers, faults []string
	var deliveries []int64
	var gos, numbers, statuses []int
	var answers [][]byte
	for i, e := range all {
		settled[i].Ended = LeaseLost
		at[key{e.Delivery, e.Go, e.Attempt}] = i
		endpoints, couriers, faults = append(endpoints, e.Endpoint), append(couriers, e.Courier), append(faults, e.Error)
		deliveries, gos, numbers = append(deliveries, e.Delivery), append(gos, e.Go), append(numbers, e.Attempt)
		statuses, answers = append(statuses, e.Outcome.Status), append(answers, e.answer())
	}
	var b pgx.Batch // both statements, or neither
	b.Queue(`
		UPDATE endpoints p SET failures = 0, failing_since = NULL
		FROM (SELECT id FROM endpoints WHERE id = ANY($1) AND failures > 0 ORDER BY id FOR NO KEY UPDATE) failed
		WHERE p.id = failed.id`, endpoints)
	b.Queue(`
		WITH ended AS (
		  UPDATE delivery_attempts a SET finished_at = greatest(a.started_at, clock_timestamp()), status = t.status, error = t.error, answer = t.answer
		  FROM unnest($1::bigint[], $2::int[], $3::int[], $4::text[], $5::int[], $6::text[], $7::bytea[])
		    AS t (delivery, go, attempt, courier, status, error, answer)
		  WHERE a.delivery_id = t.delivery AND a.go = t.go AND a.attempt_no = t.attempt AND a.courier = t.courier AND a.finished_at IS NULL
		  RETURNING a.delivery_id, a.go, a.attempt_no, a.courier, a.finished_at
		)
		UPDATE deliveries d SET status = 'delivered', ended_at = e.finished_at, courier = NULL, leased_until = NULL
		FROM ended e, notices n
		WHERE d.id = e.delivery_id AND d.courier = e.courier AND d.go = e.go AND d.attempts = e.attempt_no AND n.id = d.notice_id
		RETURNING d.id, d.go, d.attempts, extract(epoch FROM e.finished_at - n.at)::float8`,
		deliveries, gos, numbers, couriers, statuses, faults, answers).Query(func(rows pgx.Rows) error {
		var k key
		var took float64
		_, err := pgx.ForEachRow(rows, []any{&k.delivery, &k.go_, &k.number, &took}, func() error {
			settled[at[k]] = Settled{Ended: Delivered, Took: time.Duration(took * float64(time.Second))}
			return nil
		})
		return err
	})
	if err := pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("settle %d deliveries: %w", len(all), err)
	}
	return settled, nil // of the guards the sweep alone changes any: it ends attempts
}
