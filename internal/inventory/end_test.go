package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// An order of 3 + 2 seats lapses, with two expirers at work: exactly five come
// back, once.
func TestTwoExpirersReturnEachSeatOnce(t *testing.T) {
	s := openSale(t, pgtest.New(t), 5, 0, "order_limit = 5, account_limit = 5")
	c := s.claimer(usual)
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("a", "k", s.seats...))}, map[string]int{"claimed": 1})
	if ended := s.end("a", Expired); len(ended) != 0 {
		t.Fatalf("%d orders expired before their time, want 0", len(ended))
	}
	s.lapse("a")
	var expirers sync.WaitGroup
	var mu sync.Mutex
	var all []Ended
	for range 2 {
		expirers.Go(func() {
			orders, err := Lapsed(t.Context(), s.pool, 10)
			if err == nil {
				err = pg.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
					ended, err := End(t.Context(), tx, orders, Expired)
					mu.Lock()
					defer mu.Unlock()
					all = append(all, ended...)
					return err
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	expirers.Wait()
	if len(all) != 1 || len(all[0].Seats) != 5 || all[0].Version != 2 {
		t.Errorf("ended %+v, want one order of five seats, version 2", all)
	}
	returned, free := s.count(`SELECT count(*) FROM seat_returns`), s.count(`SELECT count(*) FROM seats WHERE order_id IS NULL`)
	if returned != 5 || free != 5 {
		t.Errorf("%d returns, %d seats free, want 5 and 5", returned, free)
	}
}

// Lapsed holds are had at once, before any expirer ran: by others, by their own
// holder, and whatever it takes together.
func TestLapsedHoldsAreClaimableAtOnce(t *testing.T) {
	s := openSale(t, pgtest.New(t), 6, 4, "")
	c := s.claimer(usual)
	claim := func(a Attempt) Answer { return c.Claim(t.Context(), a) }
	wantTally(t, []Answer{
		claim(s.attempt("a", "k", s.seats[0], s.seats[1])), claim(s.attempt("b", "k", s.seats[2])),
		claim(s.standing("c", "k", 3)), claim(s.standing("d", "k", 1)), claim(s.attempt("e", "k", s.seats[5])),
	}, map[string]int{"claimed": 5})
	wantTally(t, []Answer{claim(s.attempt("x", "k", s.seats[0], s.seats[2])), claim(s.standing("y", "k", 1))},
		map[string]int{"taken": 1, "sold_out": 1})
	s.lapse("%")
	wantTally(t, []Answer{
		claim(s.attempt("x", "k2", s.seats[0], s.seats[2], s.seats[3])),
		claim(s.standing("y", "k2", 4)),
		claim(s.attempt("e", "k2", s.seats[4])), // own pending order, lapsed
	}, map[string]int{"claimed": 3})
	if n := s.count(`SELECT count(*) FROM orders WHERE status = 'expired'`); n != 5 {
		t.Errorf("%d orders expired, want 5", n)
	}
}

// All of a hall lapses, and a crowd that wants it comes at once.
func TestACrowdTakesALapsedHall(t *testing.T) {
	s := openSale(t, patientPool(t, 14), 0, 60, "")
	claimers := s.claimers(6)
	first := s.crowd(30, 2)
	wantTally(t, at(t, claimers, first), map[string]int{"claimed": 30})
	s.lapse("%")
	second := s.crowd(40, 2)
	for i := range second {
		second[i].Account += "-again"
	}
	wantTally(t, at(t, claimers, second), map[string]int{"claimed": 30, "sold_out": 10})
}

// Claims, claims that end lapsed orders, expirers and buyers who cancel, all on
// the same few seats: nobody waits in a circle.
func TestEndAndClaimNeverDeadlock(t *testing.T) {
	s := openSale(t, patientPool(t, 24), 12, 12, "order_limit = 4, account_limit = 8")
	small := Sizes{Queue: 100, Workers: 2, Batch: 4}
	claimers := []*Claimer{s.claimer(small), s.claimer(small), s.claimer(small)}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var all sync.WaitGroup
	answers := make([][]Answer, 16)
	for i := range answers {
		rnd := rand.New(rand.NewPCG(7, uint64(i)))
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				account, key := fmt.Sprint("fan-", rnd.IntN(40)), fmt.Sprint("k-", i, "-", n)
				a := s.standing(account, key, 1+rnd.IntN(3))
				if rnd.IntN(3) > 0 {
					a = s.attempt(account, key)
					for _, p := range rnd.Perm(12)[:1+rnd.IntN(4)] {
						a.Seats = append(a.Seats, s.seats[p])
					}
				}
				answers[i] = append(answers[i], claimers[n%3].Claim(t.Context(), a))
			}
		})
	}
	all.Go(func() {
		for ctx.Err() == nil {
			s.exec(`UPDATE orders SET pay_by = now(), holder = 'moved' WHERE id IN (
				SELECT id FROM orders WHERE status = 'pending' ORDER BY random() LIMIT 1)`)
		}
	})
	ended := 0
	for i, cause := range []Cause{Expired, Cancelled} {
		rnd := rand.New(rand.NewPCG(8, uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil {
				n, err := s.endSome(ctx, cause, rnd)
				if ctx.Err() == nil && err != nil {
					t.Errorf("%s: %v", cause, err)
				}
				if cause == Cancelled {
					ended += n
				}
			}
		})
	}
	all.Wait()
	total := map[string]int{}
	for _, a := range answers {
		for outcome, n := range tally(a) {
			total[outcome] += n
		}
	}
	t.Logf("%v, %d cancelled, %d expired", total, ended, s.count(`SELECT count(*) FROM orders WHERE status = 'expired'`))
	for _, c := range claimers {
		if d := faults(t, c, "40P01"); d != 0 {
			t.Errorf("%v deadlocks, want 0", d)
		}
	}
	for outcome := range total {
		if strings.Contains("failed unknown", outcome) {
			t.Errorf("%d %s, want none", total[outcome], outcome)
		}
	}
}

func (s *sale) endSome(ctx context.Context, cause Cause, rnd *rand.Rand) (n int, err error) {
	rows, _ := s.pool.Query(ctx, `SELECT id FROM orders WHERE status = 'pending' AND ($1 = 'cancelled' OR pay_by <= now())`, cause)
	orders, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(orders) == 0 {
		return 0, err
	}
	rnd.Shuffle(len(orders), func(i, j int) { orders[i], orders[j] = orders[j], orders[i] })
	if cause == Cancelled {
		orders = orders[:1]
	}
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		ended, err := End(ctx, tx, orders, cause)
		n = len(ended)
		return err
	})
	return n, err
}

// What was paid stays paid, whoever wants to end it.
func TestAPaidOrderDoesNotEnd(t *testing.T) {
	s := openSale(t, pgtest.New(t), 2, 0, "")
	c := s.claimer(usual)
	first := c.Claim(t.Context(), s.attempt("a", "k", s.seats...))
	s.lapse("a")
	s.pay("a")
	for _, cause := range []Cause{Expired, Cancelled} {
		err := pg.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
			ended, err := End(t.Context(), tx, []uuid.UUID{first.Order, uuid.New()}, cause)
			if len(ended) != 0 {
				t.Errorf("%s: %d paid orders ended, want 0", cause, len(ended))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n := s.count(`SELECT count(*) FROM notices`) + s.count(`SELECT count(*) FROM seats WHERE order_id IS NULL`); n != 0 {
		t.Errorf("%d notices and seats returned, want 0", n)
	}
}
