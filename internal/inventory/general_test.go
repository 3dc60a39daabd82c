package inventory

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

func (s *sale) crowd(n, quantity int) (attempts []Attempt) {
	for i := range n {
		attempts = append(attempts, s.standing(fmt.Sprint("fan-", i), "k", quantity))
	}
	return attempts
}

// Many claimers of one worker each: as many transactions at once, all leaving
// out what the others lock.
func (s *sale) claimers(n int) (claimers []*Claimer) {
	for range n {
		claimers = append(claimers, s.claimer(Sizes{Queue: 100, Workers: 1, Batch: 64}))
	}
	return claimers
}

func TestTwoUnitsTwentyWhoWantTwo(t *testing.T) {
	s := openSale(t, patientPool(t, 24), 0, 2, "")
	answers := at(t, s.claimers(20), s.crowd(20, 2))
	wantTally(t, answers, map[string]int{"claimed": 1, "sold_out": 19})
	for _, a := range answers {
		if a.Outcome == SoldOut && a.Left != 0 {
			t.Errorf("sold out with %d left, want 0", a.Left)
		}
	}
}

// Carts 11 and 12 of ten units are refused when they claim, not when they pay.
func TestTenUnitsTwelveCarts(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 10, "")
	wantTally(t, at(t, []*Claimer{s.claimer(usual)}, s.crowd(12, 1)), map[string]int{"claimed": 10, "sold_out": 2})
}

// Everybody gets some where there is enough for everybody, however much is
// locked by others at the time.
func TestNoFalseSoldOut(t *testing.T) {
	pool := patientPool(t, 12)
	s := openSale(t, pool, 0, 60, "")
	claimers := s.claimers(7)
	wantTally(t, at(t, claimers, s.crowd(20, 3)), map[string]int{"claimed": 20})
	for range 20 {
		s := openSale(t, pool, 0, 10, "")
		wantTally(t, at(t, claimers[:5], s.crowd(5, 2)), map[string]int{"claimed": 5})
	}
	// Who wants more than is left does not keep the rest from the others.
	s = openSale(t, pool, 0, 5, "")
	attempts := append(s.crowd(1, 3), s.standing("big", "k", 3), s.standing("one", "k", 1), s.standing("two", "k", 1))
	batch := make([]*asked, len(attempts))
	answers := make([]Answer, len(attempts))
	for i, a := range attempts {
		batch[i] = s.inHand(a, &answers[i])
	}
	NewClaimer(s.pool, usual, logOf(t), noMetrics()).serve(t.Context(), batch)
	wantTally(t, answers, map[string]int{"claimed": 3, "sold_out": 1})
	if answers[1].Left >= 3 {
		t.Errorf("sold out for 3 with %d left", answers[1].Left)
	}
}

// Sixty-four workers at once, all leaving out what the others lock, at a stock that
// is just enough, and at one that is not: nobody is told "sold out" before it is.
func TestNoFalseSoldOutWithSixtyFourWorkers(t *testing.T) {
	pool := pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 66, Lock: 10 * time.Second, Statement: 20 * time.Second}))
	s := openSale(t, pool, 0, 192, "")
	c := s.claimer(Sizes{Queue: 1000, Workers: 64, Batch: 1})
	wantTally(t, at(t, []*Claimer{c}, s.crowd(96, 2)), map[string]int{"claimed": 96})
	s = openSale(t, pool, 0, 10, "")
	wantTally(t, at(t, []*Claimer{c}, s.crowd(5, 2)), map[string]int{"claimed": 5})
	s = openSale(t, pool, 0, 21, "")
	answers := at(t, []*Claimer{c}, s.crowd(64, 2))
	wantTally(t, answers, map[string]int{"claimed": 10, "sold_out": 54})
	for _, a := range answers {
		if a.Outcome == SoldOut && a.Left > 1 {
			t.Fatalf("sold out for 2 with %d left", a.Left)
		}
	}
}

// Units that somebody locks and lets go are sold all the same.
func TestUnitsThatOthersLetGo(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 2, "")
	other, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), `SELECT FROM seats FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	c := s.claimer(usual)
	told := make(chan Answer, 1)
	go func() { told <- c.Claim(t.Context(), s.standing("a", "k", 2)) }()
	s.until("the claim waits", `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
		AND datname = current_database()`, 1)
	if err := other.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := <-told; a.Outcome != Claimed {
		t.Errorf("%+v, want claimed", a)
	}
}

// Units are found by their own index, in its order: near sold-out nothing is
// read that is not free. That holds for plans that were made before there was
// anything to plan for, as a claimer's are that starts before the sale.
func TestTheLastUnitIsFoundAsFastAsTheFirst(t *testing.T) {
	pool := pgtest.New(t, pgtest.Conns(2))
	early, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer early.Release()
	s := &sale{t: t, pool: pool, event: "not-yet"}
	s.reads(early, append(s.crowd(1, 1), s.attempt("a", "k", 1))...)
	s.endReads(early, uuid.New())

	s = openSale(t, pool, 500, 20000, "order_limit = 100, account_limit = 10000")
	check := func(what string) {
		attempts := s.crowd(8, 2)
		for i := range 8 {
			attempts = append(attempts, s.attempt(fmt.Sprint("named-", i), "k", s.seats[2*i], s.seats[2*i+1]))
		}
		claim, explain := s.reads(early, attempts...)
		t.Logf("%s: rows read to claim 32 seats %v, to explain %v", what, claim, explain)
		// The seats once to lock them, once to change them, once for their
		// lines; nothing of the hall, of the orders, of the accounts besides.
		if claim["seats"] > 3*32 || claim["orders"] > 4*16 || claim["buyers"] > 4*16 {
			t.Errorf("%s: %v rows are read to claim 32 seats", what, claim)
		}
		if explain["seats"] > 2*32 || explain["orders"] > 4*16 {
			t.Errorf("%s: %v rows are read to explain 16 attempts", what, explain)
		}
		if plan := s.plan(attempts); !strings.Contains(plan, "Index Scan using seats_free on seats") ||
			regexp.MustCompile(`Seq Scan on (seats|orders|buyers)`).MatchString(plan) {
			t.Errorf("%s: units are not found by seats_free, or a table is read whole:\n%s", what, plan)
		}
	}
	check("full")
	s.sell(19900)
	check("near sold-out")
	var order uuid.UUID
	if err := pool.QueryRow(t.Context(), `SELECT id FROM orders ORDER BY random() LIMIT 1`).Scan(&order); err != nil {
		t.Fatal(err)
	}
	n := s.endReads(early, order)
	t.Logf("rows read to end an order of 4 seats: %v", n)
	if n["seats"] > 20 || n["orders"] > 20 || n["buyers"] > 20 {
		t.Errorf("%v rows are read to end one order of 4 seats", n)
	}
}

// endReads ends an order, takes it back, and counts the rows that were read.
func (s *sale) endReads(conn *pgxpool.Conn, order uuid.UUID) (read map[string]int) {
	s.t.Helper()
	err := pgx.BeginFunc(s.t.Context(), conn, func(tx pgx.Tx) error {
		before := rowsRead(s.t, tx)
		if _, err := End(s.t.Context(), tx, []uuid.UUID{order}, Cancelled); err != nil {
			return err
		}
		read = since(before, rowsRead(s.t, tx))
		return errBack
	})
	if !errors.Is(err, errBack) {
		s.t.Fatal(err)
	}
	return read
}

// sell makes paid-for orders of four units each, without claiming them.
func (s *sale) sell(units int) {
	s.exec(`INSERT INTO buyers (event_id, account, held, seat_limit) SELECT $1, 'sold-' || i, 4, 4 FROM generate_series(1, $2::int / 4) i`, s.event, units)
	s.exec(`INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
		SELECT gen_random_uuid(), $1, 'sold-' || i, 'sold', 1, i, 10000 + i, 'k', sha256(''), 4, 10000, 'EUR', now() + interval '1 hour'
		FROM generate_series(1, $2::int / 4) i`, s.event, units)
	s.exec(`INSERT INTO order_lines SELECT o.id, s.id, 2500
		FROM (SELECT id, row_number() OVER () - 1 AS nth FROM orders WHERE event_id = $1 AND holder = 'sold') o
		JOIN (SELECT id, row_number() OVER (ORDER BY pos) - 1 AS nth FROM seats WHERE event_id = $1 AND kind = 'general') s ON s.nth / 4 = o.nth`, s.event)
	s.exec(`UPDATE seats SET order_id = l.order_id, claimed_at = now() FROM order_lines l WHERE id = l.seat_id`)
}

// reads claims on a connection, asks why not, takes everything back, and counts
// the rows that the server read for each, by table.
func (s *sale) reads(conn *pgxpool.Conn, attempts ...Attempt) (claimed, why map[string]int) {
	s.t.Helper()
	err := pgx.BeginFunc(s.t.Context(), conn, func(tx pgx.Tx) error {
		batch := s.batch(attempts)
		before := rowsRead(s.t, tx)
		won, err := claim(s.t.Context(), conn, batch)
		if len(won) != len(attempts) && s.event != "not-yet" {
			s.t.Errorf("%d of %d claims were granted", len(won), len(attempts))
		}
		if err != nil {
			return err
		}
		after := rowsRead(s.t, tx)
		claimed = since(before, after)
		if _, err := explain(s.t.Context(), conn, batch); err != nil {
			return err
		}
		why = since(after, rowsRead(s.t, tx))
		return errBack
	})
	if !errors.Is(err, errBack) {
		s.t.Fatal(err)
	}
	return claimed, why
}

var errBack = errors.New("taken back")

// rowsRead counts up: the server hands a session's counts over once a second,
// so earlier transactions may still be in them.
func rowsRead(t testing.TB, tx pgx.Tx) map[string]int {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT relname, seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables
		WHERE relname IN ('seats', 'orders', 'buyers', 'presale_codes')`)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	var table string
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&table, &n}, func() error { read[table] = n; return nil }); err != nil {
		t.Fatal(err)
	}
	return read
}

func since(before, after map[string]int) map[string]int {
	read := maps.Clone(after)
	for table, n := range before {
		read[table] -= n
	}
	return read
}

func (s *sale) batch(attempts []Attempt) (batch []*asked) {
	for _, a := range attempts {
		batch = append(batch, s.inHand(a, new(Answer)))
	}
	return batch
}

// plan is how the claim is done with what is known of the tables now.
func (s *sale) plan(attempts []Attempt) string {
	s.t.Helper()
	var b pgx.Batch
	grant(&b, s.batch(attempts), new([]int))
	rows, err := s.pool.Query(s.t.Context(), "EXPLAIN (COSTS OFF) "+b.QueuedQueries[0].SQL, b.QueuedQueries[0].Arguments...)
	if err != nil {
		s.t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
