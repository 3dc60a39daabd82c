package inventory

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Sizes bound a claimer.
type Sizes struct {
	Queue   int // attempts that may wait; one more is answered busy
	Workers int // batches under way at once, each on a connection of its own
	Batch   int // attempts in a batch

	Patience Patience
}

// Validate refuses sizes that nothing could work with.
func (s Sizes) Validate() error {
	if s.Queue < 1 || s.Queue > 1_000_000 || s.Workers < 1 || s.Workers > 64 || s.Batch < 1 || s.Batch > 1000 {
		return fmt.Errorf("queue %d, workers %d, batch %d: want 1 to 1,000,000, to 64 and to 1,000", s.Queue, s.Workers, s.Batch)
	}
	if p := s.Patience; p.Target < 0 || p.Target > time.Minute || p.Interval < 0 || p.Interval > time.Minute || p.Target > 0 && p.Interval == 0 {
		return fmt.Errorf("a target of %s over %s: want 0 to 1m, and an interval with a target", p.Target, p.Interval)
	}
	return nil
}

// Claimer claims seats in natural batches: what comes in while a batch is under
// way is the next one. No timer: waiting for more would only cost time.
type Claimer struct {
	pool  *pgxpool.Pool
	sizes Sizes
	queue *queue
	log   *slog.Logger
	meter *meter
	halls halls
}

// NewClaimer makes a claimer; Run sets it to work. The pool has a connection
// for each worker, and one for the reports.
func NewClaimer(pool *pgxpool.Pool, sizes Sizes, log *slog.Logger, metrics prometheus.Registerer) *Claimer {
	q := newQueue(sizes.Queue, sizes.Workers)
	return &Claimer{pool: pool, sizes: sizes, queue: q, log: log, meter: newMeter(metrics, q)}
}

// Submit hands an attempt in. The answer is told once, by another goroutine or,
// when the attempt is bad or there is no room for it, at once: where the queue is
// full, the event that has the most in it has no room. After until nobody waits
// for it: an attempt that is still in the queue then is dropped.
func (c *Claimer) Submit(a Attempt, until time.Time, tell func(Answer)) {
	in := &asked{Attempt: a, came: time.Now(), until: until, tell: tell}
	var err error
	if err = a.Validate(); err == nil {
		in.order, err = uuid.NewV7()
	}
	if err != nil {
		c.log.Error("bad attempt", "event", a.Event, "attempt", a.Key, "error", err)
		c.answer(in, Answer{Outcome: Failed})
	} else if without := c.queue.push(in); without != nil {
		c.meter.full.Inc()
		c.answer(without, Answer{Outcome: Busy})
	}
}

// Claim hands an attempt in and waits for its answer, until ctx ends: then the
// attempt may be granted or not.
func (c *Claimer) Claim(ctx context.Context, a Attempt) Answer {
	until, bounded := ctx.Deadline()
	if !bounded {
		until = time.Now().Add(time.Minute)
	}
	told := make(chan Answer, 1)
	c.Submit(a, until, func(answer Answer) { told <- answer })
	select {
	case answer := <-told:
		return answer
	case <-ctx.Done():
		return Answer{Outcome: Unknown}
	}
}

// Stop takes no more attempts. Run answers those that it has, and returns.
func (c *Claimer) Stop() { c.queue.close() }

// Run works until Stop. ctx bounds the work in hand, not its acceptance: a
// context that ends in the middle of a claim costs a connection and an answer.
func (c *Claimer) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range c.sizes.Workers {
		workers.Go(func() {
			for c.batch(ctx) {
			}
		})
	}
	workers.Wait()
}

// batch serves the next batch; false, there will be none. Nothing was done for
// those who have waited too long: they are answered first.
func (c *Claimer) batch(ctx context.Context) bool {
	batch, late := c.queue.take(c.sizes.Batch, c.sizes.Patience)
	for _, a := range late {
		c.meter.shed.Inc()
		c.answer(a, Answer{Outcome: Busy})
	}
	if len(batch) > 0 {
		c.meter.batch.Observe(float64(len(batch)))
		c.serve(ctx, batch)
		c.queue.served(batch)
	}
	return len(batch)+len(late) > 0
}
