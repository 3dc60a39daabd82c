package inventory

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// code is a presale code of the sale, good for so many orders and seats.
func (s *sale) code(name byte, presale string, uses, seats int) []byte {
	s.t.Helper()
	hash := make([]byte, 32)
	hash[0] = name
	c, err := ImportPresaleCodes(s.t.Context(), s.pool, s.event, PresaleCodes{Presale: presale, Hashes: [][]byte{hash}, Uses: uses, Seats: seats})
	if err != nil || c != Changed {
		s.t.Fatalf("import: %s, %v", c, err)
	}
	return hash
}

func with(code []byte, a Attempt) Attempt {
	a.Code = code
	return a
}

// presales sets the sale's.
func (s *sale) presales(all ...Presale) {
	s.exec(`UPDATE events SET presales = $2, version = version + 1 WHERE id = $1`, s.event, *orNull(all))
}

func (s *sale) left(code []byte) (uses, seats int) {
	return s.count(`SELECT uses - used FROM presale_codes WHERE event_id = $1 AND hash = $2`, s.event, code),
		s.count(`SELECT seats - seats_used FROM presale_codes WHERE event_id = $1 AND hash = $2`, s.event, code)
}

// A code that is good for one order, and twenty who use it at once, at two
// claimers, for seats of each kind: one gets them.
func TestACodeForOneIsSpentOnce(t *testing.T) {
	for kind, ask := range map[string]func(s *sale, i int) Attempt{
		"named":   func(s *sale, i int) Attempt { return s.attempt(fan(i), "k", s.seats[i]) },
		"general": func(s *sale, i int) Attempt { return s.standing(fan(i), "k", 1) },
		"best":    func(s *sale, i int) Attempt { return s.best(fan(i), "k", Best{Count: 1}) },
	} {
		t.Run(kind, func(t *testing.T) {
			s := openSale(t, patientPool(t, 12), 20, 20, "").rowsOf(10)
			code := s.code(1, "fans", 1, 4)
			var attempts []Attempt
			for i := range 20 {
				attempts = append(attempts, with(code, ask(s, i)))
			}
			wantTally(t, at(t, []*Claimer{s.claimer(usual), s.claimer(usual)}, attempts), map[string]int{"claimed": 1, "code_spent": 19})
			if uses, seats := s.left(code); uses != 0 || seats != 3 {
				t.Errorf("%d uses and %d seats are left, want 0 and 3", uses, seats)
			}
		})
	}
}

// A code that many share is good for all of them, in one batch too, to the last
// seat; whoever wants more than is left is told how much that is.
func TestASharedCodeIsSpentToTheLastSeat(t *testing.T) {
	s := openSale(t, patientPool(t, 12), 0, 100, "")
	code := s.code(1, "fans", 100, 30)
	var attempts []Attempt
	for i := range 20 {
		attempts = append(attempts, with(code, s.standing(fan(i), "k", 2)))
	}
	answers := at(t, []*Claimer{s.claimer(usual), s.claimer(usual)}, attempts)
	wantTally(t, answers, map[string]int{"claimed": 15, "code_spent": 5})
	for _, a := range answers {
		if a.Outcome == CodeSpent && a.Left != 0 {
			t.Errorf("refused with %d seats left, want 0", a.Left)
		}
	}
	c := s.claimer(usual)
	s.end("fan-0", Cancelled)
	s.end("fan-1", Cancelled)
	if n := s.count(`SELECT seats - seats_used FROM presale_codes`); n != 0 && n != 2 && n != 4 {
		t.Errorf("%d seats are left, want what the two gave back", n)
	}
	s.exec(`UPDATE presale_codes SET seats = seats_used + 3`)
	over := c.Claim(t.Context(), with(code, s.standing("big", "k", 4)))
	if over.Outcome != CodeSpent || over.Left != 3 {
		t.Errorf("%+v, want code_spent with 3 left", over)
	}
}

// What an order used of its code is back when it ends, at once, whether or not
// any expirer ran; and a code that nobody has is none.
func TestAnEndedOrderGivesItsCodeBack(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 10, "")
	c := s.claimer(usual)
	code := s.code(1, "fans", 1, 2)
	ask := func(account, key string) Answer { return c.Claim(t.Context(), with(code, s.standing(account, key, 2))) }
	wantTally(t, []Answer{ask("a", "k"), ask("b", "k1")}, map[string]int{"claimed": 1, "code_spent": 1})
	s.lapse("a")
	wantTally(t, []Answer{ask("b", "k2")}, map[string]int{"claimed": 1})
	if n := s.count(`SELECT count(*) FROM orders WHERE account = 'a' AND status = 'expired'`); n != 1 {
		t.Errorf("%d orders expired by the claim, want 1", n)
	}
	s.end("b", Cancelled)
	if uses, seats := s.left(code); uses != 1 || seats != 2 {
		t.Errorf("%d uses and %d seats are left of an unused code, want 1 and 2", uses, seats)
	}
	wantTally(t, []Answer{ask("d", "k")}, map[string]int{"claimed": 1})
	s.pay("d")
	s.lapse("d")
	wantTally(t, []Answer{ask("e", "k")}, map[string]int{"code_spent": 1})
	unknown := make([]byte, 32)
	wantTally(t, []Answer{c.Claim(t.Context(), with(unknown, s.attempt("u", "k", s.seats[0])))}, map[string]int{"code_unknown": 1})
}

// What a presale has is sold to its codes alone, as long as it lasts; everything
// else to everybody.
func TestAPresaleIsItsCodes(t *testing.T) {
	s := openSale(t, pgtest.New(t), 10, 4, "").rowsOf(5)
	s.exec(`UPDATE seats SET section = 'Box' WHERE event_id = $1 AND pos < 5`, s.event)
	later, past := time.Now().Add(time.Hour), time.Now().Add(-time.Second)
	s.presales(Presale{Name: "fans", Tiers: []string{}, Sections: []string{"Box"}, Until: &later},
		Presale{Name: "floor", Tiers: []string{"Standing"}, Sections: []string{}},
		Presale{Name: "over", Tiers: []string{"Front"}, Sections: []string{}, Until: &past})
	fans, floor := s.code(1, "fans", 9, 99), s.code(2, "floor", 9, 99)
	c := s.claimer(usual)
	kept := c.Claim(t.Context(), s.attempt("a", "k", s.seats[4], s.seats[5]))
	if kept.Outcome != CodeNeeded || fmt.Sprint(kept.Taken) != fmt.Sprint(s.seats[4:5]) {
		t.Errorf("a kept seat without a code: %+v, want code_needed for %v", kept, s.seats[4:5])
	}
	ask := func(code []byte, a Attempt) Answer { return c.Claim(t.Context(), with(code, a)) }
	wantTally(t, []Answer{
		ask(floor, s.attempt("b", "k", s.seats[4])), ask(nil, s.standing("c", "k", 1)), ask(fans, s.standing("d", "k", 1)),
		ask(nil, s.best("e", "k", Best{Count: 2, Section: "Box"})),
	}, map[string]int{"code_needed": 4})
	wantTally(t, []Answer{
		ask(fans, s.attempt("f", "k", s.seats[4], s.seats[5])), ask(floor, s.standing("g", "k", 1)), ask(nil, s.attempt("h", "k", s.seats[6])),
		ask(fans, s.best("i", "k", Best{Count: 4, Section: "Box"})), ask(nil, s.best("j", "k", Best{Count: 3})),
	}, map[string]int{"claimed": 5})
	if n := s.count(`SELECT count(*) FROM seats s JOIN orders o ON o.id = s.order_id WHERE o.account = 'j' AND s.section = 'Box'`); n != 0 {
		t.Errorf("%d kept seats were chosen for somebody without a code", n)
	}
	s.presales(Presale{Name: "floor", Tiers: []string{"Standing"}, Sections: []string{}, Until: &past})
	wantTally(t, []Answer{ask(nil, s.standing("k", "k", 1))}, map[string]int{"claimed": 1})
}

// Codes are imported once, and an import takes nothing from those who used one.
func TestPresaleCodesAreImportedOnce(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 4, "")
	code := s.code(1, "fans", 5, 9)
	if a := s.claimer(usual).Claim(t.Context(), with(code, s.standing("a", "k", 3))); a.Outcome != Claimed {
		t.Fatalf("%+v", a)
	}
	again := PresaleCodes{Presale: "fans", Hashes: [][]byte{code, code}, Uses: 1, Seats: 1}
	for _, want := range []Change{Changed, Unchanged} {
		if c, err := ImportPresaleCodes(t.Context(), s.pool, s.event, again); err != nil || c != want {
			t.Errorf("%s, %v; want %s", c, err, want)
		}
	}
	if c, err := ImportPresaleCodes(t.Context(), s.pool, "nobody", again); err != nil || c != NoSuchEvent {
		t.Errorf("%s, %v; want no_event", c, err)
	}
	got, err := PresaleBudgets(t.Context(), s.pool, s.event)
	if want := (PresaleBudget{Presale: "fans", Codes: 1, Uses: 1, Used: 1, Seats: 3, SeatsUsed: 3}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// A code is found by itself, among however many; that holds for plans that were
// made before there were any.
func TestACodeIsFoundAmongMany(t *testing.T) {
	pool := pgtest.New(t, pgtest.Conns(2))
	early, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer early.Release()
	none := make([]byte, 32)
	s := &sale{t: t, pool: pool, event: "not-yet"}
	s.reads(early, with(none, s.standing("a", "k", 1)))
	s.endReads(early, uuid.New())

	s = openSale(t, pool, 0, 100, "")
	s.exec(`INSERT INTO presale_codes (event_id, hash, presale, uses, seats) SELECT $1, sha256(i::text::bytea), 'fans', 1, 4 FROM generate_series(1, 20000) i`, s.event)
	s.presales(Presale{Name: "fans", Tiers: []string{"Standing"}, Sections: []string{}})
	var attempts []Attempt
	for i := range 16 {
		hash := sha256.Sum256(fmt.Append(nil, i+1))
		attempts = append(attempts, with(hash[:], s.standing(fan(i), "k", 2)))
	}
	claim, explain := s.reads(early, attempts...)
	t.Logf("rows read to claim with 16 codes %v, to explain %v", claim, explain)
	if claim["presale_codes"] > 8*16 || explain["presale_codes"] > 8*16 {
		t.Errorf("%d and %d codes are read of 20,000 to claim and to explain with 16", claim["presale_codes"], explain["presale_codes"])
	}
	a := s.claimer(usual).Claim(t.Context(), attempts[0])
	if n := s.endReads(early, a.Order); n["presale_codes"] > 8 {
		t.Errorf("%d codes are read to end an order with one", n["presale_codes"])
	}
}

// Late money that takes an order's seats again spends its code again, and does
// not where the code is spent, or the tier's limit is reached, meanwhile.
func TestLateMoneySpendsTheCodeAgain(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 10, "late = 'reclaim', account_limit = 10")
	c := s.claimer(usual)
	code := s.code(1, "fans", 9, 9)
	reclaim := func(order uuid.UUID) (version int64) {
		t.Helper()
		payment := uuid.New()
		s.exec(`DELETE FROM payments WHERE order_id = $1`, order) // of a try before
		s.exec(`INSERT INTO payments (id, order_id, provider, status, amount_minor, currency, captured_minor, stands, captured_at)
			SELECT $2, id, 'test', 'captured', amount_minor, currency, amount_minor, 'on_order', now() FROM orders WHERE id = $1`, order, payment)
		err := pg.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
			may, err := LockToReclaim(t.Context(), tx, order)
			if err == nil && may {
				version, err = Reclaim(t.Context(), tx, order, payment)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	claimed := func(account string) uuid.UUID {
		t.Helper()
		a := with(code, s.standing(account, "k", 2))
		s.exec(`INSERT INTO passes (event_id, epoch, take, place, holder, quota, taken_at, expires_at)
			VALUES ($1, 1, $2, $2, $3, 10, now(), now() + interval '1 hour')`, s.event, a.Take, account)
		return c.Claim(t.Context(), a).Order
	}
	a, b, d := claimed("a"), claimed("b"), claimed("d")
	s.lapse("%")
	for _, account := range []string{"a", "b", "d"} {
		s.end(account, Expired)
	}
	s.exec(`UPDATE presale_codes SET uses = 1, seats = 2`)
	if v := reclaim(a); v == 0 {
		t.Error("late money did not take the seats again, with all of the code left")
	}
	if uses, seats := s.left(code); uses != 0 || seats != 0 {
		t.Errorf("%d uses and %d seats are left, want none", uses, seats)
	}
	if v := reclaim(b); v != 0 {
		t.Error("late money went over the code")
	}
	s.exec(`UPDATE presale_codes SET uses = 9, seats = 9`)
	s.exec(`UPDATE events SET tier_limits = '{"Standing": 1}'`)
	if v := reclaim(d); v != 0 {
		t.Error("late money went over the tier's limit")
	}
	s.exec(`UPDATE events SET tier_limits = '{"Standing": 2}'`)
	if v := reclaim(d); v == 0 {
		t.Error("late money did not take the seats again, within the tier's limit")
	}
}

// Late money takes an order's seats again where there is no line, and so no pass.
func TestLateMoneyNeedsNoPassWhereThereIsNoLine(t *testing.T) {
	s := openSale(t, pgtest.New(t), 2, 0, "admission = 'open', late = 'reclaim'")
	a := s.attempt("a", "k", s.seats[0])
	a.Take, a.Place = 0, 0
	order := s.claimer(usual).Claim(t.Context(), a).Order
	s.lapse("a")
	s.end("a", Expired)
	payment := uuid.New()
	s.exec(`INSERT INTO payments (id, order_id, provider, status, amount_minor, currency, captured_minor, stands, captured_at)
		SELECT $2, id, 'test', 'captured', amount_minor, currency, amount_minor, 'on_order', now() FROM orders WHERE id = $1`, order, payment)
	var version int64
	err := pg.InTx(t.Context(), s.pool, func(tx pgx.Tx) error {
		_, err := LockToReclaim(t.Context(), tx, order)
		if err == nil {
			version, err = Reclaim(t.Context(), tx, order, payment)
		}
		return err
	})
	if err != nil || version == 0 {
		t.Errorf("version %d, %v: the seat is free, and the event says reclaim", version, err)
	}
}
