package inventory

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

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
	s := openSale(t, pgtest.New(t, pgtest.Conns(24)), 0, 2, "")
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
	pool := pgtest.New(t, pgtest.Conns(12))
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

// Units are found by their own index, in its order: no sort of the hall, and
// near sold-out nothing is read that is not free.
func TestTheLastUnitIsFoundAsFastAsTheFirst(t *testing.T) {
	s := openSale(t, pgtest.New(t), 500, 20000, "order_limit = 100, account_limit = 10000")
	first := s.explainGrant(s.crowd(8, 2))
	s.exec(`INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ($1, 'block', 0, 20000)`, s.event)
	s.exec(`INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
		VALUES ('00000000-0000-0000-0000-000000000001', $1, 'block', 'block', 1, 0, 1000, 'k', sha256(''), 19900, 19900*2500, 'EUR', now() + '1 day')`, s.event)
	s.exec(`UPDATE buyers SET held = 19900`)
	s.exec(`INSERT INTO order_lines SELECT '00000000-0000-0000-0000-000000000001', id, 2500 FROM seats WHERE kind = 'general' ORDER BY pos LIMIT 19900`)
	s.exec(`UPDATE seats SET order_id = l.order_id, claimed_at = now() FROM order_lines l WHERE id = l.seat_id`)
	if _, err := s.pool.Exec(t.Context(), `VACUUM ANALYZE seats`); err != nil {
		t.Fatal(err)
	}
	last := s.explainGrant(s.crowd(8, 2))
	for what, plan := range map[string]string{"full": first, "near sold-out": last} {
		if !strings.Contains(plan, "Index Scan using seats_free on seats") {
			t.Errorf("%s: units are not found by seats_free:\n%s", what, plan)
		}
		if regexp.MustCompile(`Seq Scan on (seats|orders|buyers)`).MatchString(plan) {
			t.Errorf("%s: a table is read whole:\n%s", what, plan)
		}
		// Of the hall 16 units are read, and the statement sorts no more.
		for _, rows := range regexp.MustCompile(`Index Scan using seats_free on seats.*actual rows=(\d+)`).FindAllStringSubmatch(plan, -1) {
			if rows[1] != "16" {
				t.Errorf("%s: %s units were read for 16:\n%s", what, rows[1], plan)
			}
		}
	}
}

// explainGrant is the plan that a claimer's connection uses, as it ran.
func (s *sale) explainGrant(attempts []Attempt) string {
	s.t.Helper()
	var batch []*asked
	for i := range attempts {
		batch = append(batch, s.inHand(attempts[i], new(Answer)))
	}
	tx, err := s.pool.Begin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer tx.Rollback(s.t.Context())
	var b pgx.Batch
	makeAccounts(&b, batch)
	lockAccounts(&b, batch, nil)
	if err := tx.SendBatch(s.t.Context(), &b).Close(); err != nil {
		s.t.Fatal(err)
	}
	b = pgx.Batch{}
	grant(&b, batch, new([]int))
	rows, err := tx.Query(s.t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) "+b.QueuedQueries[0].SQL, b.QueuedQueries[0].Arguments...)
	if err != nil {
		s.t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
