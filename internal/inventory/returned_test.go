package inventory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// Three seats lapse, five people wait for any of them, and four claimers and two
// expirers are at work: three get one each, all different, and two are told that
// there is none. Over and over, by unit and as the best.
func TestThreeReturnedSeatsAreThreePeoples(t *testing.T) {
	wishes := map[string]func(s *sale, account string) Attempt{
		"units": func(s *sale, account string) Attempt { return s.standing(account, "k", 1) },
		"best":  func(s *sale, account string) Attempt { return s.best(account, "k", Best{Count: 1}) },
	}
	for what, wish := range wishes {
		t.Run(what, func(t *testing.T) {
			s := openSale(t, pgtest.New(t, pgtest.Conns(20)), 3, 3, "order_limit = 3").rowsOf(3)
			first := s.attempt("round-0", "k", s.seats...)
			if what == "units" {
				first = s.standing("round-0", "k", 3)
			}
			claimers := s.claimers(4)
			wantTally(t, at(t, claimers, []Attempt{first}), map[string]int{"claimed": 1})
			for round := range 20 {
				s.lapse(fmt.Sprintf("round-%d%%", round))
				var waiting []Attempt
				for i := range 5 {
					waiting = append(waiting, wish(s, fmt.Sprintf("round-%d-%d", round+1, i)))
				}
				var expirers sync.WaitGroup
				for range 2 {
					expirers.Go(s.expire)
				}
				answers := at(t, claimers, waiting)
				expirers.Wait()
				wantTally(t, answers, map[string]int{"claimed": 3, "sold_out": 2})
				if got := s.seatsHeld(answers); len(got) != 3 {
					t.Fatalf("round %d: three people have the seats %v", round, got)
				}
			}
			if returned := s.count(`SELECT count(*) FROM seat_returns`); returned != 3*20 {
				t.Errorf("%d returns, want 60", returned)
			}
		})
	}
}

// expire is a sweep of an expirer.
func (s *sale) expire() {
	ctx := context.WithoutCancel(s.t.Context())
	orders, err := Lapsed(ctx, s.pool, 10)
	if err == nil {
		err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
			_, err := End(ctx, tx, orders, Expired)
			return err
		})
	}
	if err != nil {
		s.t.Error(err)
	}
}

// seatsHeld are the different seats of the orders that were answered.
func (s *sale) seatsHeld(answers []Answer) (all []int64) {
	s.t.Helper()
	var orders []uuid.UUID
	for _, a := range answers {
		if a.Outcome == Claimed {
			orders = append(orders, a.Order)
		}
	}
	rows, _ := s.pool.Query(s.t.Context(), `SELECT id FROM seats WHERE order_id = ANY($1)`, orders)
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
