package inventory

import (
	"fmt"
	"testing"
	"time"

	"waitroom/internal/pgtest"
)

// At most four for an account: ten orders of one at once, and one of 200.
func TestAnAccountKeepsItsLimit(t *testing.T) {
	s := openSale(t, pgtest.New(t), 0, 300, "order_limit = 4, account_limit = 4")
	claimers := []*Claimer{s.claimer(usual), s.claimer(usual)}
	var attempts []Attempt
	for i := range 10 {
		attempts = append(attempts, s.standing("a", fmt.Sprint("k", i), 1))
	}
	attempts = append(attempts, s.standing("a", "big", 200))
	wantTally(t, at(t, claimers, attempts), map[string]int{"claimed": 1, "over_limit order": 1, "over_limit pending_order": 9})
	// One order is pending at a time, and says which; paid ones count on.
	pending := claimers[0].Claim(t.Context(), s.standing("a", "next", 1))
	o, _, err := FindOrder(t.Context(), s.pool, pending.Order)
	if err != nil || o.Status != "pending" || o.Account != "a" {
		t.Errorf("order in the way: %+v (%v)", o, err)
	}
	s.pay("a")
	wantTally(t, []Answer{
		claimers[0].Claim(t.Context(), s.standing("a", "four-more", 4)),
		claimers[0].Claim(t.Context(), s.standing("a", "three-more", 3)),
	}, map[string]int{"claimed": 1, "over_limit account": 1})
	s.pay("a")
	wantTally(t, []Answer{claimers[0].Claim(t.Context(), s.standing("a", "fifth", 1))}, map[string]int{"over_limit account": 1})
	if n := s.count(`SELECT held FROM buyers WHERE account = 'a'`); n != 4 {
		t.Errorf("the account holds %d, want 4", n)
	}
}

// A pass buys its quota; what lapsed or was cancelled may be bought again.
func TestAPassKeepsItsQuota(t *testing.T) {
	s := openSale(t, pgtest.New(t), 10, 0, "account_limit = 10")
	c := s.claimer(usual)
	take := s.attempt("a", "", s.seats...)
	take.Quota = 3
	by := func(key string, seats ...int64) Answer {
		a := take
		a.Key, a.Seats = key, seats
		return c.Claim(t.Context(), a)
	}
	over := by("k1", s.seats[:4]...)
	first := by("k2", s.seats[:2]...)
	s.pay("a")
	second := by("k3", s.seats[2:4]...)
	third := by("k4", s.seats[2])
	s.end("a", Cancelled)
	again := by("k5", s.seats[2])
	wantTally(t, []Answer{over, first, second, third, again}, map[string]int{"claimed": 3, "over_limit pass": 2})
}

func TestAClosedSaleSellsNothing(t *testing.T) {
	s := openSale(t, pgtest.New(t), 10, 0, "opens_at = now() - interval '1 hour', control = 'paused'")
	c := s.claimer(usual)
	ask := func(key string) Answer {
		return c.Claim(t.Context(), s.attempt("fan-"+key, key, s.seats[s.takes.Load()]))
	}
	paused := ask("paused") // who is inside may buy
	s.exec(`UPDATE events SET control = 'run', closes_at = now()`)
	over := ask("over")
	s.exec(`UPDATE events SET closes_at = NULL, control = 'closed'`)
	closed := ask("closed")
	s.exec(`UPDATE events SET control = 'run', epoch = 2`)
	epoch := ask("epoch")
	unknown := s.attempt("a", "k", s.seats[9])
	unknown.Event = "no-such-event"
	wantTally(t, []Answer{paused, over, closed, epoch, c.Claim(t.Context(), unknown)}, map[string]int{"claimed": 1, "sale_closed": 4})
}

// A lower account limit binds the next claim, and breaks nothing that is held.
func TestLimitsMayChangeDuringTheSale(t *testing.T) {
	s := openSale(t, pgtest.New(t), 10, 0, "order_limit = 2, account_limit = 2")
	c := s.claimer(usual)
	first := c.Claim(t.Context(), s.attempt("a", "k1", s.seats[:2]...))
	s.pay("a")
	s.exec(`UPDATE events SET account_limit = 4`)
	second := c.Claim(t.Context(), s.attempt("a", "k2", s.seats[2]))
	s.exec(`UPDATE events SET account_limit = 2`)
	s.end("a", Cancelled)
	third := c.Claim(t.Context(), s.attempt("a", "k3", s.seats[2]))
	wantTally(t, []Answer{first, second, third}, map[string]int{"claimed": 2, "over_limit account": 1})
}

// A tier's own limit holds for each account, however its seats are asked for and
// over all its orders; other tiers, and other accounts, do not count.
func TestAnAccountKeepsATiersLimit(t *testing.T) {
	s := openSale(t, pgtest.New(t), 10, 10, `account_limit = 10, tier_limits = '{"Front": 2, "Standing": 3}'`).rowsOf(5)
	c := s.claimer(usual)
	ask := func(a Attempt) Answer { return c.Claim(t.Context(), a) }
	wantTally(t, []Answer{
		ask(s.attempt("a", "k1", s.seats[0:3]...)), ask(s.standing("a", "k2", 4)), ask(s.best("a", "k3", Best{Count: 3})),
		ask(s.attempt("a", "k4", s.seats[0])),
	}, map[string]int{"over_limit tier": 3, "claimed": 1})
	s.pay("a")
	wantTally(t, []Answer{
		ask(s.attempt("a", "k5", s.seats[1:3]...)), ask(s.best("a", "k6", Best{Count: 2})), ask(s.best("a", "k7", Best{Count: 1})),
		ask(s.best("b", "k8", Best{Count: 2})),
	}, map[string]int{"over_limit tier": 2, "claimed": 2})
	s.pay("a")
	wantTally(t, []Answer{
		ask(s.attempt("a", "k9", s.seats[4])), ask(s.standing("a", "k10", 3)),
	}, map[string]int{"over_limit tier": 1, "claimed": 1})
	s.lapse("a") // the three that stand lapse, and may be had again
	wantTally(t, []Answer{ask(s.standing("a", "k11", 3))}, map[string]int{"claimed": 1})
}

// Whoever holds and lets lapse, over and over, is let wait: five times in a row
// are three, and then one after each cool-down. Who cancels is not, nor is
// anybody else.
func TestLapsingOverAndOverCoolsDown(t *testing.T) {
	s := openSale(t, pgtest.New(t), 4, 0, "lapse_limit = 3, cool_down = '10 minutes'")
	c := s.claimer(usual)
	var answers []Answer
	for i := range 5 {
		answers = append(answers, c.Claim(t.Context(), s.attempt("a", fmt.Sprint("k", i), s.seats[0])))
		s.lapse("a")
	}
	wantTally(t, answers, map[string]int{"claimed": 3, "cool_down": 2})
	if last := answers[4]; last.Wait <= 9*time.Minute || last.Wait > 10*time.Minute {
		t.Errorf("told to wait %s, want the rest of 10 minutes", last.Wait)
	}
	if n := counterOf(t, c.meter.outcomes.WithLabelValues("cool_down")); n != 2 {
		t.Errorf("%v counted, want 2", n)
	}
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("b", "k", s.seats[0]))}, map[string]int{"claimed": 1})
	s.exec(`UPDATE orders SET pay_by = pay_by - interval '10 minutes' WHERE account = 'a'`)
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("a", "k6", s.seats[1]))}, map[string]int{"claimed": 1})
	s.end("a", Cancelled)
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("a", "k7", s.seats[1]))}, map[string]int{"claimed": 1})
	s.lapse("a")
	wantTally(t, []Answer{c.Claim(t.Context(), s.attempt("a", "k8", s.seats[1]))}, map[string]int{"cool_down": 1})
}

// A tier's limit is held against the seats of the tier that a block has, not against
// the whole party: two in front and the third behind are within a limit of two. And
// so are parts of a party that sits apart.
func TestABlockIsHeldAgainstEachTiersLimit(t *testing.T) {
	s := openSale(t, pgtest.New(t), 7, 0, `tier_limits = '{"Front": 2}', order_limit = 6, account_limit = 6`).rowsOf(3)
	s.exec(`UPDATE seats SET price_tier = 'Standing' WHERE event_id = $1 AND pos IN (2, 5, 6)`, s.event)
	c := s.claimer(usual)
	row := c.Claim(t.Context(), s.best("row", "k", Best{Count: 3}))
	over := c.Claim(t.Context(), s.best("over", "k", Best{Count: 3, Tier: "Front", Split: true}))
	apart := c.Claim(t.Context(), s.best("apart", "k", Best{Count: 4, Split: true}))
	if row.Outcome != Claimed || apart.Outcome != Claimed {
		t.Errorf("three of a row: %+v; four apart: %+v; want both claimed", row, apart)
	}
	if over.Outcome == Claimed {
		t.Errorf("three of Front: %+v, want them refused", over)
	}
	if n := s.count(`SELECT count(*) FROM (SELECT FROM seats WHERE event_id = $1 AND price_tier = 'Front' AND order_id IS NOT NULL GROUP BY order_id HAVING count(*) > 2) o`, s.event); n > 0 {
		t.Errorf("%d orders have more of Front than its limit", n)
	}
}
