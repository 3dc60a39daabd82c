package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

const rowSeats, units = 6, 5

// asking is what a client did: a claim of named seats, of the best so many, of so many
// units, or (none of these) the cancelling of what it had.
type asking struct {
	who   int
	named []int
	best  int
	units int
	gives int // units that the cancelling gives back
}

// told is what it was answered.
type told struct {
	Outcome
	seats []int // taken, or claimed as the best
}

// stock is a sale as one thing at a time would have it: who has each seat of a row, and
// how many units are free.
type stock struct {
	owner [rowSeats]int
	free  int
}

// after are the stock after an answer, if it was the right one.
func (s stock) after(in asking, out told) (next stock, right bool) {
	next = s
	if out.Outcome == Busy {
		return next, true
	}
	switch {
	case len(in.named) > 0:
		var held []int
		for _, x := range in.named {
			if s.owner[x] != 0 {
				held = append(held, x)
			}
			next.owner[x] = in.who
		}
		if out.Outcome == Taken {
			return s, len(held) > 0 && slices.Equal(held, out.seats)
		}
		return next, out.Outcome == Claimed && len(held) == 0
	case in.best > 0:
		if out.Outcome == SoldOut {
			return s, !s.fits(in.best)
		}
		for _, x := range out.seats {
			if s.owner[x] != 0 {
				return s, false
			}
			next.owner[x] = in.who
		}
		return next, out.Outcome == Claimed && len(out.seats) == in.best
	case in.units > 0:
		if out.Outcome == SoldOut {
			return s, s.free < in.units
		}
		next.free -= in.units
		return next, out.Outcome == Claimed && next.free >= 0
	}
	for x := range next.owner {
		if next.owner[x] == in.who {
			next.owner[x] = 0
		}
	}
	next.free += in.gives
	return next, true
}

// fits says that so many are free side by side.
func (s stock) fits(n int) bool {
	run := 0
	for _, owner := range s.owner {
		if run++; owner != 0 {
			run = 0
		}
		if run >= n {
			return true
		}
	}
	return false
}

// oneAtATime says whether a history could have been that of one thing after another,
// each in its own time.
func oneAtATime(history []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(porcupine.Model{
		Init: func() any { return stock{free: units} },
		Step: func(state, in, out any) (bool, any) {
			next, right := state.(stock).after(in.(asking), out.(told))
			return right, next
		},
	}, history, 8*time.Second)
}

// client does one thing after another, and asks again until it knows what became of it.
type client struct {
	*sale
	claimers []*Claimer
	rnd      *rand.Rand
	begun    time.Time
	no       int
	carts    []asking
	orders   []uuid.UUID
	history  []porcupine.Operation
}

func (c *client) did(in asking, out told, since time.Duration) {
	c.history = append(c.history, porcupine.Operation{
		ClientId: c.no, Input: in, Output: out, Call: since.Nanoseconds(), Return: time.Since(c.begun).Nanoseconds(),
	})
}

func (c *client) cancel() {
	in, order, since := c.carts[0], c.orders[0], time.Since(c.begun)
	c.carts, c.orders = c.carts[1:], c.orders[1:]
	for done := false; !done && c.t.Context().Err() == nil; {
		done = pg.InTx(c.t.Context(), c.pool, func(tx pgx.Tx) error {
			_, err := End(c.t.Context(), tx, []uuid.UUID{order}, Cancelled)
			return err
		}) == nil
	}
	c.did(asking{who: in.who, gives: in.units}, told{}, since)
}

func (c *client) claim(in asking) {
	account := fmt.Sprint("client-", in.who)
	a := c.standing(account, "k", in.units)
	switch {
	case in.best > 0:
		a = c.best(account, "k", Best{Count: in.best})
	case len(in.named) > 0:
		var ids []int64
		for _, x := range in.named {
			ids = append(ids, c.seats[x])
		}
		a = c.attempt(account, "k", ids...)
	}
	since := time.Since(c.begun)
	got := c.claimers[c.rnd.IntN(2)].Claim(c.t.Context(), a)
	for doubt := false; got.Outcome == Unknown || doubt && got.Outcome == Busy; doubt = true {
		if c.t.Context().Err() != nil {
			return
		}
		got = c.claimers[c.rnd.IntN(2)].Claim(c.t.Context(), a)
	}
	out := told{Outcome: got.Outcome}
	for _, id := range got.Taken {
		out.seats = append(out.seats, int(id-c.seats[0]))
	}
	slices.Sort(out.seats)
	if got.Outcome == Claimed || got.Outcome == Already {
		out.Outcome = Claimed
		c.carts, c.orders = append(c.carts, in), append(c.orders, got.Order)
	}
	ended := time.Since(c.begun)
	if in.best > 0 && out.Outcome == Claimed {
		out.seats = c.seatsOf(got.Order)
	}
	c.did(in, out, since)
	c.history[len(c.history)-1].Return = ended.Nanoseconds()
}

// seatsOf are the seats that an order got, which it cannot lose in this history.
func (c *client) seatsOf(order uuid.UUID) (all []int) {
	for c.t.Context().Err() == nil {
		o, found, err := FindOrder(c.t.Context(), c.pool, order)
		if err != nil || !found {
			continue
		}
		for _, seat := range o.Seats {
			all = append(all, int(seat.ID-c.seats[0]))
		}
		return all
	}
	return nil
}

func (c *client) wish(who int) asking {
	switch c.rnd.IntN(4) {
	case 0:
		return asking{who: who, units: 1 + c.rnd.IntN(3)}
	case 1:
		return asking{who: who, best: 1 + c.rnd.IntN(2)}
	}
	named := []int{c.rnd.IntN(rowSeats), c.rnd.IntN(rowSeats)}
	slices.Sort(named)
	return asking{who: who, named: slices.Compact(named)}
}

// killing ends a backend at work now and then, at most so often that the clients come
// to an end however slow the machine is.
func (s *sale) killing(ctx context.Context) {
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, _ = s.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' ORDER BY random() LIMIT 1`)
		}
	}
}

// historyOf is what ten clients did at once, and were told.
func historyOf(t *testing.T, killed bool) (all []porcupine.Operation) {
	s := openSale(t, pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 24, Lock: 2 * time.Second, Statement: 5 * time.Second})), rowSeats, units, "").rowsOf(rowSeats)
	sizes := Sizes{Queue: 100, Workers: 2, Batch: 8}
	claimers := []*Claimer{s.claimer(sizes), s.claimer(sizes)}
	ctx, done := context.WithCancel(t.Context())
	var killer, clients sync.WaitGroup
	if killed {
		killer.Go(func() { s.killing(ctx) })
	}
	var mu sync.Mutex
	begun := time.Now()
	for no := range 10 {
		clients.Go(func() {
			c := &client{sale: s, claimers: claimers, rnd: rand.New(rand.NewPCG(uint64(no), 1)), begun: begun, no: no}
			for n := range 20 {
				if len(c.carts) > 0 && c.rnd.IntN(2) == 0 {
					c.cancel()
				} else {
					c.claim(c.wish(100*(no+1) + n))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c.history...)
		})
	}
	clients.Wait()
	done()
	killer.Wait()
	return all
}

// What ten clients are told who claim by name, the best, and units, and cancel, all at
// once, is what they would be told one after the other: nothing is had twice, refused
// while it is free, or forgotten. Also while Postgres's processes are killed.
func TestClaimsAreAsIfOneAtATime(t *testing.T) {
	for what, killed := range map[string]bool{"calm": false, "killed": true} {
		t.Run(what, func(t *testing.T) {
			history := historyOf(t, killed)
			outcomes := map[Outcome]int{}
			for _, op := range history {
				outcomes[op.Output.(told).Outcome]++
			}
			t.Logf("%d things done: %v", len(history), outcomes)
			if got := oneAtATime(history); got == porcupine.Illegal {
				t.Errorf("no order of these explains what the clients were told: %+v", history)
			} else if got == porcupine.Unknown {
				t.Log("the search was given up: it says nothing")
			}
			i := slices.IndexFunc(history, func(op porcupine.Operation) bool {
				return len(op.Input.(asking).named) > 0 && op.Output.(told).Outcome == Claimed
			})
			if i < 0 {
				t.Fatal("nobody got a seat by name")
			}
			twice := history[i]
			in := twice.Input.(asking)
			in.who, twice.ClientId = 1, 10
			twice.Input = in
			if oneAtATime(append(history[:len(history):len(history)], twice)) == porcupine.Ok {
				t.Error("a seat that two are told to have is not noticed")
			}
		})
	}
}

// What must not be told is noticed.
func TestAWrongHistoryIsRefused(t *testing.T) {
	op := func(no int, in asking, out told) porcupine.Operation {
		return porcupine.Operation{ClientId: no, Input: in, Output: out, Call: int64(no), Return: int64(10 + no)}
	}
	claimed := told{Outcome: Claimed}
	for what, history := range map[string][]porcupine.Operation{
		"a seat had twice":              {op(1, asking{who: 1, named: []int{2}}, claimed), op(2, asking{who: 2, named: []int{2}}, claimed)},
		"a free seat taken":             {op(1, asking{who: 1, named: []int{2}}, told{Taken, []int{2}})},
		"the best sold out, while free": {op(1, asking{who: 1, named: []int{0}}, claimed), op(2, asking{who: 2, best: 5}, told{Outcome: SoldOut})},
		"units oversold":                {op(1, asking{who: 1, units: 3}, claimed), op(2, asking{who: 2, units: 3}, claimed)},
		"units sold out, while free":    {op(1, asking{who: 1, units: 3}, claimed), op(2, asking{who: 2, units: 2}, told{Outcome: SoldOut})},
	} {
		if got := oneAtATime(history); got != porcupine.Illegal {
			t.Errorf("%s: %s", what, got)
		}
	}
}
