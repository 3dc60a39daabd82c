package inventory

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// rowsOf lays the sale's seats out in rows of so many.
func (s *sale) rowsOf(n int) *sale {
	s.exec(`UPDATE seats SET row = 'R' || pos / $2::int, number = (pos % $2::int + 1)::text, x = 26 * (pos % $2::int), y = 34 * (pos / $2::int)
		WHERE event_id = $1 AND kind = 'numbered'`, s.event, n)
	return s
}

func (s *sale) best(account, key string, b Best) Attempt {
	a := s.attempt(account, key)
	a.Best, a.BodyHash = &b, sha256.Sum256(fmt.Append(nil, b))
	return a
}

// positions are an order's seats, by their place in the hall.
func (s *sale) positions(a Answer) (all []int) {
	s.t.Helper()
	o, found, err := FindOrder(s.t.Context(), s.pool, a.Order)
	if err != nil || !found {
		s.t.Fatalf("%v: order %v, found %v, %v", a.Outcome, a.Order, found, err)
	}
	for _, seat := range o.Seats {
		all = append(all, int(seat.ID-s.seats[0]))
	}
	return all
}

// A hall of 8,000 is sold by pairs to 160 people at once: nobody is refused
// while a pair is free, nobody sits apart or alone.
func TestBestPairsSellAHallOut(t *testing.T) {
	s := openSale(t, pgtest.New(t), 8000, 0, "").rowsOf(40)
	claimers := []*Claimer{s.claimer(usual), s.claimer(usual)}
	var sold, refused, next atomic.Int64
	var apart sync.Map
	var people sync.WaitGroup
	for i := range 160 {
		people.Go(func() {
			for {
				n := next.Add(1)
				a := claimers[i%2].Claim(t.Context(), s.best(fmt.Sprint("fan-", n), "k", Best{Count: 2}))
				switch a.Outcome {
				case Claimed:
					sold.Add(1)
					if p := s.positions(a); p[1]-p[0] != 1 || p[0]/40 != p[1]/40 {
						apart.Store(n, p)
					}
				case SoldOut:
					if left := s.count(`SELECT count(*) FROM seats WHERE event_id = $1 AND order_id IS NULL`, s.event); left > 0 {
						refused.Add(1)
					}
					return
				default:
					t.Errorf("%v", a)
					return
				}
			}
		})
	}
	people.Wait()
	apart.Range(func(n, p any) bool { t.Errorf("fan %v sits at %v", n, p); return true })
	if sold.Load() != 4000 || refused.Load() != 0 {
		t.Errorf("%d pairs sold, want 4000; %d refused while seats were free", sold.Load(), refused.Load())
	}
}

// Whoever names seats may be faster than whoever leaves the choice: then it is
// chosen again. All seats are sold, and who is refused could not have had two.
func TestBestAndNamedShareAHall(t *testing.T) {
	s := openSale(t, pgtest.New(t), 400, 0, "").rowsOf(20)
	claimers := []*Claimer{s.claimer(usual), s.claimer(usual)}
	var attempts []Attempt
	for i := range 200 {
		attempts = append(attempts, s.attempt(fmt.Sprint("named-", i), "k", s.seats[2*i], s.seats[2*i+1]),
			s.best(fmt.Sprint("best-", i), "k", Best{Count: 2}))
	}
	outcomes := map[Outcome]int{}
	for _, a := range at(t, claimers, attempts) {
		outcomes[a.Outcome]++
	}
	if outcomes[Claimed] != 200 || outcomes[Claimed]+outcomes[Taken]+outcomes[SoldOut] != 400 {
		t.Errorf("%v, want 200 claimed, and the others refused", outcomes)
	}
}

// What stands in the way of a choice is named: limits first, then that no block
// of the size is free, with the largest that is. The same key is the same order.
func TestBestIsRefusedForAReason(t *testing.T) {
	s := openSale(t, pgtest.New(t), 10, 0, "order_limit = 6, account_limit = 6").rowsOf(5)
	c := s.claimer(usual)
	s.exec(`UPDATE seats SET kind = 'accessible' WHERE event_id = $1 AND pos = 9`, s.event)
	ask := func(account, key string, b Best) Answer { return c.Claim(t.Context(), s.best(account, key, b)) }
	first := ask("a", "k", Best{Count: 3})
	if p := s.positions(first); fmt.Sprint(p) != "[1 2 3]" && fmt.Sprint(p) != "[2 3 4]" && fmt.Sprint(p) != "[0 1 2]" {
		t.Errorf("the best three are %v", p)
	}
	for what, c := range map[string]struct {
		got  Answer
		want Outcome
		left int
	}{
		"the same again":             {ask("a", "k", Best{Count: 3}), Already, 0},
		"another wish":               {ask("a", "k", Best{Count: 2}), KeyReused, 0},
		"with an order unpaid":       {ask("a", "k2", Best{Count: 2}), OverLimit, 0},
		"more than an order may":     {ask("b", "k", Best{Count: 7}), OverLimit, 0},
		"five in a row of five less": {ask("c", "k", Best{Count: 5}), SoldOut, 4},
		"of a tier there is not":     {ask("d", "k", Best{Count: 1, Tier: "Royal"}), SoldOut, 0},
		"in a section there is not":  {ask("e", "k", Best{Count: 1, Section: "Roof"}), SoldOut, 0},
		"two wheelchairs":            {ask("f", "k", Best{Count: 2, Accessible: 2}), SoldOut, 0},
		"a wheelchair and company":   {ask("g", "k", Best{Count: 2, Accessible: 1}), Claimed, 0},
		"in the tier and section":    {ask("h", "k", Best{Count: 2, Tier: "Front", Section: "Stalls"}), Claimed, 0},
	} {
		if c.got.Outcome != c.want || c.want == SoldOut && c.left > 0 && c.got.Left != c.left {
			t.Errorf("%s: %+v, want %s", what, c.got, c.want)
		}
	}
}

// Seats in orders whose time is over are as good as free for a choice, before
// any expirer ran; and a party that may sit apart takes what is left.
func TestBestTakesLapsedSeatsAndSplits(t *testing.T) {
	s := openSale(t, pgtest.New(t), 8, 0, "order_limit = 6, account_limit = 6").rowsOf(4)
	c := s.claimer(usual)
	whole := c.Claim(t.Context(), s.best("a", "k", Best{Count: 4}))
	s.exec(`UPDATE orders SET pay_by = now() - interval '1 s', holder = 'moved' WHERE id = $1`, whole.Order)
	row := s.positions(whole)[0] / 4
	for i := range 4 {
		if s.count(`SELECT count(*) FROM seats WHERE id = $1 AND order_id IS NULL`, s.seats[4*(1-row)+i]) != 1 {
			t.Fatal("the other row is not free")
		}
	}
	other := c.Claim(t.Context(), s.best("b", "k", Best{Count: 3}))
	again := c.Claim(t.Context(), s.best("c", "k", Best{Count: 4}))
	if other.Outcome != Claimed || again.Outcome != Claimed || s.positions(again)[0]/4 != row {
		t.Fatalf("three of the free row: %v; four of the lapsed one: %v", other, again)
	}
	none := c.Claim(t.Context(), s.best("d", "k", Best{Count: 2}))
	s.exec(`UPDATE orders SET pay_by = now() - interval '1 s', holder = 'moved' WHERE id = $1`, again.Order)
	split := c.Claim(t.Context(), s.best("e", "k", Best{Count: 5, Split: true}))
	if none.Outcome != SoldOut || none.Left != 1 || split.Outcome != Claimed {
		t.Errorf("two where one is left: %v; five where one and a lapsed row are: %v", none, split)
	}
}

// serveBatch serves attempts as one batch, in this order.
func (s *sale) serveBatch(attempts ...Attempt) []Answer {
	c := NewClaimer(s.pool, usual, logOf(s.t), noMetrics())
	answers := make([]Answer, len(attempts))
	var batch []*asked
	for i, a := range attempts {
		batch = append(batch, s.inHand(a, &answers[i]))
	}
	c.serve(s.t.Context(), batch)
	return answers
}

// meanwhile holds what a transaction did until a batch waits for it.
func (s *sale) meanwhile(act func(tx pgx.Tx) error, attempts ...Attempt) (answers []Answer) {
	s.t.Helper()
	var served sync.WaitGroup
	err := pg.InTx(s.t.Context(), s.pool, func(tx pgx.Tx) error {
		if err := act(tx); err != nil {
			return err
		}
		served.Go(func() { answers = s.serveBatch(attempts...) })
		s.until("the batch waits", `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`, 1)
		return nil
	})
	served.Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	return answers
}

// Whoever leaves the choice is not refused for what others of the batch were promised
// and do not get: a seat that is free all the time, or as good as free, is had.
func TestAnothersVainAttemptRefusesNobody(t *testing.T) {
	two := func(t *testing.T) *sale { return openSale(t, pgtest.New(t), 2, 0, "").rowsOf(2) }
	pair := func(s *sale) []Attempt {
		return []Attempt{s.best("A", "k", Best{Count: 2}), s.best("B", "k", Best{Count: 1})}
	}
	sold := func(s *sale) {
		s.claimer(usual).Claim(t.Context(), s.attempt("sold", "k", s.seats[1]))
		s.pay("sold")
	}
	for what, serve := range map[string]func(s *sale) []Answer{
		"a seat of the promised pair is withdrawn": func(s *sale) []Answer {
			return s.meanwhile(func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE seats SET withdrawn_at = now(), held_back = true WHERE id = $1`, s.seats[1])
				return err
			}, pair(s)...)
		},
		"a seat of the promised pair is claimed by name": func(s *sale) []Answer {
			return s.meanwhile(func(tx pgx.Tx) error {
				var won []int
				var named Answer
				x := []*asked{s.inHand(s.attempt("X", "k", s.seats[1]), &named)}
				var b pgx.Batch
				makeAccounts(&b, x)
				lockAccounts(&b, x, nil)
				grant(&b, x, &won)
				return tx.SendBatch(t.Context(), &b).Close()
			}, pair(s)...)
		},
		"the lapsed seat is named together with a sold one": func(s *sale) []Answer {
			sold(s)
			s.claimer(usual).Claim(t.Context(), s.attempt("lapsed", "k", s.seats[0]))
			s.lapse("lapsed")
			return s.serveBatch(s.attempt("A", "k", s.seats...), s.best("B", "k", Best{Count: 1}))
		},
		"the free seat is named together with a sold one": func(s *sale) []Answer {
			sold(s)
			return s.serveBatch(s.attempt("A", "k", s.seats...), s.best("B", "k", Best{Count: 1}))
		},
	} {
		t.Run(what, func(t *testing.T) {
			if got := serve(two(t)); got[0].Outcome == Claimed || got[1].Outcome != Claimed {
				t.Errorf("who wants both: %+v; who wants one: %+v, want it claimed", got[0], got[1])
			}
		})
	}
}

// Two wheelchairs that may sit apart are seated where no two places are side by side.
func TestWheelchairsMaySitApart(t *testing.T) {
	s := openSale(t, pgtest.New(t), 20, 0, "order_limit = 6, account_limit = 6").rowsOf(10)
	s.exec(`UPDATE seats SET kind = 'accessible' WHERE event_id = $1 AND pos IN (0, 10)`, s.event)
	together := s.serveBatch(s.best("A", "k", Best{Count: 4, Accessible: 2}))[0]
	if together.Outcome != SoldOut || together.Left != 0 {
		t.Errorf("two places together: %+v, want sold out and none left", together)
	}
	apart := s.serveBatch(s.best("B", "k", Best{Count: 4, Accessible: 2, Split: true}))[0]
	if apart.Outcome != Claimed || fmt.Sprint(slices.Sorted(slices.Values(s.positions(apart)))) != "[0 1 10 11]" {
		t.Errorf("two with company each: %+v, want the places and the seats beside them", apart)
	}
}
