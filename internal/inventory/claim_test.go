package inventory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

func TestOneSeatThousandContenders(t *testing.T) {
	s := openSale(t, pgtest.New(t), 1, 0, "")
	attempts := make([]Attempt, 1000)
	for i := range attempts {
		attempts[i] = s.attempt(fmt.Sprint("fan-", i), "k", s.seats[0])
	}
	answers := at(t, []*Claimer{s.claimer(usual)}, attempts)
	wantTally(t, answers, map[string]int{"claimed": 1, "taken": 999})
	for _, a := range answers {
		if a.Outcome == Taken && (len(a.Taken) != 1 || a.Taken[0] != s.seats[0]) {
			t.Fatalf("refused because of seats %v, want %v", a.Taken, s.seats)
		}
	}
}

// Seats wanted together are had together: one that is held spoils all.
func TestAllOrNothing(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "")
	c := s.claimer(usual)
	first := c.Claim(t.Context(), s.attempt("a", "k", s.seats[0]))
	mixed := c.Claim(t.Context(), s.attempt("b", "k", s.seats[0], s.seats[1]))
	held := c.Claim(t.Context(), s.attempt("c", "k", s.seats[0]))
	s.exec(`UPDATE seats SET held_back = true WHERE id = $1`, s.seats[3])
	back := c.Claim(t.Context(), s.attempt("d", "k", s.seats[2], s.seats[3]))
	foreign := c.Claim(t.Context(), s.attempt("e", "k", s.seats[2], s.seats[3]+1000))
	wantTally(t, []Answer{first, mixed, held, back, foreign}, map[string]int{"claimed": 1, "taken": 4})
	if fmt.Sprint(mixed.Taken, back.Taken, foreign.Taken) != fmt.Sprint(s.seats[:1], s.seats[3:4], []int64{s.seats[3] + 1000}) {
		t.Errorf("taken are %v, %v, %v", mixed.Taken, back.Taken, foreign.Taken)
	}
	if n := s.count(`SELECT count(*) FROM seats WHERE order_id IS NOT NULL`); n != 1 {
		t.Errorf("%d seats are claimed, want 1", n)
	}
	o, found, err := FindOrder(t.Context(), s.pool, first.Order)
	if err != nil || !found || len(o.Seats) != 1 || o.Seats[0].ID != s.seats[0] || o.AmountMinor != 5000 || o.Status != "pending" {
		t.Errorf("order %+v (found %v, %v)", o, found, err)
	}
}

// Half a claim, or half an end, is none: should Postgres ever change fewer seats
// than it was to, everything of it is undone.
func TestHalfAClaimIsNone(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "")
	c := s.claimer(usual)
	first := c.Claim(t.Context(), s.attempt("a", "k", s.seats[0], s.seats[1]))
	s.exec(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	s.exec(`CREATE TRIGGER skip BEFORE UPDATE ON seats FOR EACH ROW WHEN (OLD.pos IN (1, 3)) EXECUTE FUNCTION skip()`)
	half := c.Claim(t.Context(), s.attempt("b", "k", s.seats[2], s.seats[3]))
	wantTally(t, []Answer{first, half}, map[string]int{"claimed": 1, "failed": 1})
	if n := s.count(`SELECT count(*) FROM buyers WHERE account = 'b'`); n != 0 {
		t.Errorf("%d accounts are left of half a claim, want 0", n)
	}
	err := pg.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
		_, err := End(t.Context(), tx, []uuid.UUID{first.Order}, Cancelled)
		return err
	})
	if o, _, _ := FindOrder(t.Context(), s.pool, first.Order); err == nil || o.Status != "pending" {
		t.Errorf("half an end: %v, and the order is %s; want an error, and pending", err, o.Status)
	}
}

func TestSenselessAttemptsChangeNothing(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 4, "")
	good := s.attempt("a", "k", s.seats[0])
	for what, spoil := range map[string]func(*Attempt){
		"quantity -3":           func(a *Attempt) { a.Seats, a.Tier, a.Quantity = nil, "Standing", -3 },
		"quantity 0":            func(a *Attempt) { a.Seats, a.Tier, a.Quantity = nil, "Standing", 0 },
		"quantity 2^31":         func(a *Attempt) { a.Seats, a.Tier, a.Quantity = nil, "Standing", 1<<31 },
		"the same seat twice":   func(a *Attempt) { a.Seats = []int64{s.seats[1], s.seats[0], s.seats[1]} },
		"nothing":               func(a *Attempt) { a.Seats = nil },
		"seats and a tier":      func(a *Attempt) { a.Tier, a.Quantity = "Standing", 1 },
		"a quantity of seats":   func(a *Attempt) { a.Quantity = 2 },
		"no key":                func(a *Attempt) { a.Key = "" },
		"a key with a space":    func(a *Attempt) { a.Key = "a b" },
		"a zero byte":           func(a *Attempt) { a.Holder = "a\x00b" },
		"text that is no UTF-8": func(a *Attempt) { a.Account = "\xff" },
		"no pass":               func(a *Attempt) { a.Take = -1 },
	} {
		a := good
		spoil(&a)
		if err := a.Validate(); err == nil {
			t.Errorf("%s is let through", what)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

// 200 random overlapping seat sets: whoever comes together takes turns, and
// nobody ever waits in a circle.
func TestOverlappingSeatSetsNeverDeadlock(t *testing.T) {
	s := openSale(t, patientPool(t, 20), 40, 0, "order_limit = 10, account_limit = 10")
	rnd := rand.New(rand.NewPCG(1, 2))
	attempts := make([]Attempt, 200)
	for i := range attempts {
		var seats []int64
		for _, p := range rnd.Perm(40)[:1+rnd.IntN(8)] {
			seats = append(seats, s.seats[p])
		}
		attempts[i] = s.attempt(fmt.Sprint("fan-", rnd.IntN(150)), fmt.Sprint("k", i), seats...)
	}
	small := Sizes{Queue: 4096, Workers: 4, Batch: 8}
	claimers := []*Claimer{s.claimer(small), s.claimer(small), s.claimer(small), s.claimer(small)}
	n := tally(at(t, claimers, attempts))
	t.Log(n)
	if n["claimed"]+n["taken"]+n["over_limit pending_order"] != 200 {
		t.Errorf("answers %v, want 200 claimed, taken or with an order pending", n)
	}
	for _, c := range claimers {
		if d := faults(t, c, "40P01"); d != 0 {
			t.Errorf("%v deadlocks, want 0", d)
		}
	}
}

// The same attempt, any number of times and at two claimers, is one order.
func TestAnAttemptIsOneOrder(t *testing.T) {
	s := openSale(t, patientPool(t, 12), 10, 10, "")
	claimers := []*Claimer{s.claimer(usual), s.claimer(usual)}
	for _, a := range []Attempt{s.attempt("a", "k1", s.seats[:2]...), s.standing("b", "k1", 2)} {
		copies := make([]Attempt, 50)
		for i := range copies {
			copies[i] = a
		}
		answers := at(t, claimers, copies)
		wantTally(t, answers, map[string]int{"claimed": 1, "already": 49})
		for _, b := range answers {
			if b.Order != answers[0].Order {
				t.Fatalf("orders %s and %s for one attempt", b.Order, answers[0].Order)
			}
		}
		o, found, err := FindAttempt(t.Context(), s.pool, s.event, a.Account, a.Key)
		if err != nil || !found || o.ID != answers[0].Order {
			t.Errorf("the attempt's order is %s (found %v, %v), want %s", o.ID, found, err, answers[0].Order)
		}
	}
	other := s.attempt("a", "k1", s.seats[5])
	if got := claimers[0].Claim(t.Context(), other); got.Outcome != KeyReused {
		t.Errorf("the key with another body: %s, want key_reused", got.Outcome)
	}
	// The answer stays when the order has ended.
	s.end("a", Cancelled)
	if got := claimers[0].Claim(t.Context(), s.attempt("a", "k1", s.seats[:2]...)); got.Outcome != Already {
		t.Errorf("the attempt of an ended order: %s, want already", got.Outcome)
	}
}
