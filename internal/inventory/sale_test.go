package inventory

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// sale is an event of a test: numbered seats first, then units of the tier
// Standing.
type sale struct {
	t     testing.TB
	pool  *pgxpool.Pool
	event string
	seats []int64 // ids of the numbered ones, by pos
	takes atomic.Int64
}

// openSale puts an event on sale. set is SQL for its settings: "order_limit = 2".
func openSale(t testing.TB, pool *pgxpool.Pool, numbered, general int, set string) *sale {
	t.Helper()
	s := &sale{t: t, pool: pool, event: fmt.Sprintf("hall-%d", time.Now().UnixNano())}
	s.exec(`INSERT INTO events (id, title, currency, opens_at, release_rate) VALUES ($1, 'Hall', 'EUR', now(), 50)`, s.event)
	s.exec(`INSERT INTO price_tiers (event_id, id, amount_minor) VALUES ($1, 'Front', 5000), ($1, 'Standing', 2500)`, s.event)
	s.exec(`INSERT INTO seats (event_id, pos, guid, kind, section, price_tier)
		SELECT $1, i, 'seat-' || i, CASE WHEN i < $2 THEN 'numbered' ELSE 'general' END,
		  CASE WHEN i < $2 THEN 'Stalls' ELSE 'Floor' END, CASE WHEN i < $2 THEN 'Front' ELSE 'Standing' END
		FROM generate_series(0, $2::int + $3::int - 1) i`, s.event, numbered, general)
	if set != "" {
		s.exec(`UPDATE events SET `+set+` WHERE id = $1`, s.event)
	}
	s.exec(`ANALYZE seats`)
	rows, _ := pool.Query(t.Context(), `SELECT id FROM seats WHERE event_id = $1 AND kind = 'numbered' ORDER BY pos`, s.event)
	var err error
	if s.seats, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.audit)
	return s
}

func (s *sale) exec(sql string, args ...any) {
	s.t.Helper()
	err := pg.InTx(context.WithoutCancel(s.t.Context()), s.pool, func(tx pgx.Tx) error {
		if err := pg.Longer(s.t.Context(), tx, time.Minute); err != nil {
			return err
		}
		_, err := tx.Exec(s.t.Context(), sql, args...)
		return err
	})
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *sale) count(sql string, args ...any) (n int) {
	s.t.Helper()
	if err := s.pool.QueryRow(context.WithoutCancel(s.t.Context()), sql, args...).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// audit holds what every test must leave behind against the raw rows.
func (s *sale) audit() {
	for what, sql := range map[string]string{
		"seats on an ended order": `SELECT count(*) FROM seats s JOIN orders o ON o.id = s.order_id
			WHERE o.event_id = $1 AND o.status IN ('expired', 'cancelled')`,
		"live orders that lack seats": `SELECT count(*) FROM orders o WHERE o.event_id = $1 AND o.status IN ('pending', 'paid')
			AND seat_count - given_back <> (SELECT count(*) FROM seats s JOIN order_lines l ON l.seat_id = s.id AND l.order_id = o.id WHERE s.order_id = o.id)`,
		"orders whose lines do not add up": `SELECT count(*) FROM orders o WHERE o.event_id = $1
			AND (seat_count, amount_minor) <> (SELECT count(*), sum(l.amount_minor) FROM order_lines l WHERE l.order_id = o.id)`,
		"accounts counted wrong": `SELECT count(*) FROM buyers b WHERE b.event_id = $1 AND held <>
			(SELECT coalesce(sum(seat_count - given_back), 0) FROM orders o WHERE o.event_id = b.event_id AND o.account = b.account AND status IN ('pending', 'paid'))`,
		"seats in two live orders": `SELECT count(*) FROM (SELECT l.seat_id FROM order_lines l JOIN orders o ON o.id = l.order_id
			WHERE o.event_id = $1 AND o.status IN ('pending', 'paid') AND l.given_back_by IS NULL GROUP BY l.seat_id HAVING count(*) > 1) doubled`,
		"ended orders that did not return each seat once": `SELECT count(*) FROM orders o WHERE o.event_id = $1 AND o.status IN ('expired', 'cancelled')
			AND seat_count <> (SELECT count(*) FROM seat_returns r WHERE r.order_id = o.id AND r.cause = o.status || ':' || o.id)`,
		"presale codes counted wrong": `SELECT count(*) FROM presale_codes c WHERE c.event_id = $1 AND (used, seats_used) <>
			(SELECT count(*), coalesce(sum(seat_count), 0) FROM orders o WHERE o.event_id = c.event_id AND o.code = c.hash AND status IN ('pending', 'paid'))`,
		"handovers from order to order": `SELECT count(*) FROM seat_changes WHERE event_id = $1 AND from_order IS NOT NULL AND to_order IS NOT NULL`,
		"ends that were not told once each": `SELECT count(*) FROM orders o WHERE o.event_id = $1 AND o.status IN ('expired', 'cancelled')
			AND 2 <> (SELECT count(*) FROM notices n WHERE n.subject = o.id::text AND n.version = o.version AND n.kind IN ('order.' || o.status, 'tickets.returned'))`,
		"orders shorter than promised": `SELECT count(*) FROM orders o JOIN events e ON e.id = o.event_id WHERE e.id = $1 AND extended_at IS NULL
			AND NOT (pay_by >= o.created_at + e.pay_within) AND status = 'pending' AND o.holder <> 'moved'`,
	} {
		if n := s.count(sql, s.event); n != 0 {
			s.t.Errorf("%d %s, want none", n, what)
		}
	}
}

// attempt is one that a pass of its own makes, with the highest quota.
func (s *sale) attempt(account, key string, seats ...int64) Attempt {
	take := s.takes.Add(1)
	return Attempt{
		Event: s.event, Account: account, Holder: account, Epoch: 1, Place: take, Take: take, Quota: 100,
		Key: key, BodyHash: sha256.Sum256(fmt.Append(nil, seats)), Seats: seats,
	}
}

func (s *sale) standing(account, key string, quantity int) Attempt {
	a := s.attempt(account, key)
	a.Tier, a.Quantity, a.BodyHash = "Standing", quantity, sha256.Sum256(fmt.Append(nil, quantity))
	return a
}

// logOf writes to the test's own output: what a claimer meets is seen when a
// test fails.
func logOf(t testing.TB) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }

// claimer is one that works until the test ends.
func (s *sale) claimer(sizes Sizes) *Claimer {
	return runClaimer(s.t, s.pool, sizes)
}

func runClaimer(t testing.TB, pool *pgxpool.Pool, sizes Sizes) *Claimer {
	c := NewClaimer(pool, sizes, logOf(t), prometheus.NewRegistry())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(context.WithoutCancel(t.Context()))
	}()
	t.Cleanup(func() { c.Stop(); <-done })
	return c
}

var usual = Sizes{Queue: 4096, Workers: 4, Batch: 64}

// at asks for all attempts at the same instant, each of the claimer that its
// position gives it, and returns the answers in their order.
func at(t testing.TB, claimers []*Claimer, attempts []Attempt) []Answer {
	answers := make([]Answer, len(attempts))
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i, a := range attempts {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			answers[i] = claimers[i%len(claimers)].Claim(t.Context(), a)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
	return answers
}

// tally counts answers by outcome, and by limit where there is one.
func tally(answers []Answer) map[string]int {
	n := map[string]int{}
	for _, a := range answers {
		if a.Outcome == OverLimit {
			n[string(a.Outcome)+" "+string(a.Limit)]++
		} else {
			n[string(a.Outcome)]++
		}
	}
	return n
}

func wantTally(t testing.TB, answers []Answer, want map[string]int) {
	t.Helper()
	if got := tally(answers); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers %v, want %v", got, want)
	}
}

// faults counts what a claimer met, by code.
func faults(t testing.TB, c *Claimer, code string) float64 {
	return counterOf(t, c.meter.faults.WithLabelValues(code))
}

func counterOf(t testing.TB, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

// end ends an account's pending orders.
func (s *sale) end(account string, cause Cause) (ended []Ended) {
	s.t.Helper()
	rows, _ := s.pool.Query(s.t.Context(), `SELECT id FROM orders WHERE event_id = $1 AND account = $2 AND status = 'pending'`, s.event, account)
	orders, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err == nil {
		err = pg.InTx(s.t.Context(), s.pool, func(tx pgx.Tx) (err error) {
			ended, err = End(s.t.Context(), tx, orders, cause)
			return err
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return ended
}

// lapse moves the end of an account's pending orders into the past.
func (s *sale) lapse(account string) {
	s.exec(`UPDATE orders SET pay_by = now() - interval '1 ms', holder = 'moved'
		WHERE event_id = $1 AND account LIKE $2 AND status = 'pending'`, s.event, account)
}

// pay marks an account's pending orders as paid, as far as seats care.
func (s *sale) pay(account string) {
	s.exec(`WITH p AS (
		  INSERT INTO payments (id, order_id, provider, status, amount_minor, currency, captured_minor, stands, captured_at)
		  SELECT gen_random_uuid(), id, 'test', 'captured', amount_minor, currency, amount_minor, 'on_order', now()
		  FROM orders WHERE event_id = $1 AND account LIKE $2 AND status = 'pending' RETURNING id, order_id)
		UPDATE orders o SET status = 'paid', payment_id = p.id, paid_at = now(), version = version + 1
		FROM p WHERE o.id = p.order_id`, s.event, account)
}

func noMetrics() *prometheus.Registry { return prometheus.NewRegistry() }

// inHand is an attempt as a worker has it.
func (s *sale) inHand(a Attempt, answer *Answer) *asked {
	return &asked{
		Attempt: a, order: uuid.Must(uuid.NewV7()), came: time.Now(), until: time.Now().Add(time.Minute),
		tell: func(told Answer) { *answer = told },
	}
}

// until waits for a count to be reached.
func (s *sale) until(what, sql string, want int, args ...any) {
	s.t.Helper()
	deadline, tick := time.After(10*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		if s.count(sql, args...) >= want {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("%s: not within 10 s", what)
		}
	}
}

// patientPool waits for a lock long enough for Postgres to find out that it is
// a deadlock.
func patientPool(t testing.TB, conns int) *pgxpool.Pool {
	return pgtest.New(t, pgtest.Limits(pg.Limits{Conns: conns, Lock: 5 * time.Second, Statement: 10 * time.Second}))
}
