package gate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waitroom/internal/inventory"
)

// The gate says no exactly when nothing is left, however the units lie in its shards,
// and what it lets through Postgres sells: to the last unit.
func TestTheGateRefusesWhenNothingIsLeft(t *testing.T) {
	const units, buyers = 101, 300
	w := newWorld(t, 0, units)
	g := w.gate()
	w.turn(g)
	w.agrees(g)
	var claimed, asked atomic.Int64
	var all sync.WaitGroup
	for i := range buyers {
		all.Go(func() {
			n := 1 + i%3
			d, answer := w.buy(t.Context(), g, standing(fmt.Sprint("fan-", i), n))
			if d.Outcome == Unknown || d.Outcome == Busy {
				t.Errorf("the gate said %s", d.Outcome)
			}
			if d.Lets() {
				asked.Add(1)
			}
			if answer.Outcome == inventory.Claimed {
				claimed.Add(int64(n))
			}
		})
	}
	all.Wait()
	for i := 0; claimed.Load() < units && i < units; i++ { // what is left does for one each
		if _, answer := w.buy(t.Context(), g, standing(fmt.Sprint("late-", i), 1)); answer.Outcome == inventory.Claimed {
			claimed.Add(1)
		}
	}
	if claimed.Load() != units {
		t.Errorf("%d units were sold, want %d", claimed.Load(), units)
	}
	if asked.Load() > units {
		t.Errorf("%d of %d attempts came to Postgres for %d units", asked.Load(), buyers, units)
	}
	if d := g.Decide(t.Context(), standing("too late", 1)); d.Outcome != SoldOut || d.Left != 0 {
		t.Errorf("with nothing left the gate said %s, %d left", d.Outcome, d.Left)
	}
	w.turn(g)
	w.agrees(g)
	w.whole(units)
}

// An attempt that asks again is answered the same and takes nothing twice: before its
// claim, after it, and once a turn has seen its order.
func TestTheSameAttemptTakesOnce(t *testing.T) {
	w := newWorld(t, 4, 10)
	g := w.gate()
	w.turn(g)
	for _, a := range []Attempt{standing("ann", 3), seated("bob", w.seats[:2]...)} {
		var said []Outcome
		for range 3 {
			said = append(said, g.Decide(t.Context(), a).Outcome)
		}
		_, answer := w.buy(t.Context(), g, a)
		w.turn(g)
		d, again := w.buy(t.Context(), g, a)
		if said = append(said, d.Outcome); !slices.Equal(said, []Outcome{Admitted, Again, Again, Again}) {
			t.Errorf("%s: the gate said %s", a.Account, said)
		}
		if answer.Outcome != inventory.Claimed || again.Outcome != inventory.Already || again.Order != answer.Order {
			t.Errorf("%s: %s %s, then %s %s", a.Account, answer.Outcome, answer.Order, again.Outcome, again.Order)
		}
	}
	w.agrees(g)
}

// What Postgres refuses goes back, once, whoever says so how often; and another's or a
// later record of the same attempt stays.
func TestARefusedAttemptGivesBackOnce(t *testing.T) {
	w := newWorld(t, 2, 10)
	g := w.gate()
	w.turn(g)
	d := g.Decide(t.Context(), standing("ann", 4))
	for range 3 {
		g.GiveBack(t.Context(), d, nil)
	}
	w.agrees(g)
	l := g.home(event, 1, tier, d.record.id)
	g.client.Del(t.Context(), l.accounts()) // a while later
	later := g.Decide(t.Context(), standing("ann", 4))
	g.GiveBack(t.Context(), d, nil)
	if free, _, _ := g.Count(t.Context(), event, 1, tier); later.Outcome != Admitted || free != 6 {
		t.Errorf("the later attempt was %s, and %d units are left; want 6", later.Outcome, free)
	}
	again := g.Decide(t.Context(), standing("ann", 4))
	g.GiveBack(t.Context(), again, nil)
	if free, _, _ := g.Count(t.Context(), event, 1, tier); free != 6 {
		t.Errorf("who took nothing gave back: %d units are left, want 6", free)
	}
	seat := g.Decide(t.Context(), seated("bob", w.seats...))
	g.GiveBack(t.Context(), seat, w.seats[:1])
	got := g.Decide(t.Context(), seated("cy", w.seats...))
	if got.Outcome != Taken || !slices.Equal(got.Taken, w.seats[:1]) {
		t.Errorf("after a refusal for seat %d the gate said %s %d", w.seats[0], got.Outcome, got.Taken)
	}
}

// What one account asks for over and over, under one key or many, and its own limits refuse,
// it keeps from nobody: it is counted once.
func TestOneAccountKeepsNothingFromOthers(t *testing.T) {
	w := newWorld(t, 2, 8)
	g := w.gate()
	seen := &lends{}
	g.client.AddHook(seen)
	w.turn(g)
	if _, a := w.buy(t.Context(), g, standing("ann", 2)); a.Outcome != inventory.Claimed {
		t.Fatalf("ann's first: %s", a.Outcome)
	}
	w.turn(g)
	for i := range 20 {
		more := standing("ann", 6) // all that there is
		more.Key = fmt.Sprint("more", i/2)
		if d := g.Decide(t.Context(), more); d.Outcome != Uncounted || !d.Lets() {
			t.Errorf("ann's attempt %d: %s, %d left", i, d.Outcome, d.Left)
		}
	}
	if n := seen.n.Load(); n != 0 {
		t.Errorf("%d shards were asked to lend for what is not counted", n)
	}
	w.agrees(g)
	if d := g.Decide(t.Context(), standing("bob", 6)); d.Outcome != Admitted {
		t.Errorf("bob, who wants what is left: %s, %d left", d.Outcome, d.Left)
	}
	late := standing("ann", 1)
	late.Key = "late"
	if d := g.Decide(t.Context(), late); d.Outcome != SoldOut {
		t.Errorf("ann, when nothing is left: %s", d.Outcome)
	}

	g.GiveBack(t.Context(), g.Decide(t.Context(), seated("cy", w.seats...)), nil)
	for range 3 {
		if d := g.Decide(t.Context(), seated("cy", w.seats...)); d.Outcome != Uncounted {
			t.Errorf("cy asks for seats again: %s", d.Outcome)
		}
	}
	if d := g.Decide(t.Context(), seated("bob", w.seats[1])); d.Outcome != Admitted {
		t.Errorf("bob, whose seat is free: %s", d.Outcome)
	}
	if d := g.Decide(t.Context(), seated("cy", w.seats...)); d.Outcome != Taken || !slices.Equal(d.Taken, w.seats[1:]) {
		t.Errorf("cy, for bob's seat: %s %d", d.Outcome, d.Taken)
	}
}

// A seat is let through for one at a time, and all of an attempt's or none.
func TestSeatsAreHeldAllOrNone(t *testing.T) {
	w := newWorld(t, 4, 0)
	g := w.gate()
	s := w.seats
	if d := g.Decide(t.Context(), seated("ann", s[1], s[2])); d.Outcome != Admitted {
		t.Fatalf("the first was %s", d.Outcome)
	}
	if d := g.Decide(t.Context(), seated("bob", s[0], s[1], s[3])); d.Outcome != Taken || !slices.Equal(d.Taken, s[1:2]) {
		t.Errorf("bob: %s %d, want seat %d taken", d.Outcome, d.Taken, s[1])
	}
	if d := g.Decide(t.Context(), seated("cy", s[0], s[3])); d.Outcome != Admitted {
		t.Errorf("a refused attempt kept seats: the next was %s %d", d.Outcome, d.Taken)
	}
}

// Who has a presale code is not kept waiting by who has none, and asks in vain for what is
// sold to codes alone; of those who have one, one at a time is let through.
func TestWhoHasACodeWaitsForNobodyWithout(t *testing.T) {
	w := newWorld(t, 1, 0)
	g := w.gate()
	ann, bob := seated("ann", w.seats[0]), seated("bob", w.seats[0])
	ann.Coded, bob.Coded = true, true
	for i, a := range []Attempt{seated("no code", w.seats[0]), seated("none either", w.seats[0]), ann, bob, ann} {
		want := []Outcome{Admitted, Taken, Admitted, Taken, Again}[i]
		if d := g.Decide(t.Context(), a); d.Outcome != want {
			t.Errorf("%s: %s, want %s", a.Account, d.Outcome, want)
		}
	}
	w.config.Processing = time.Millisecond
	w.settled(w.gate()) // whose claims never came: their lanes are turned, too
}

// Who pays too late, cancels or is given back to makes room at the gate with the next
// turn, and an order that is overdue makes room before it has ended.
func TestWhatComesBackIsSoldAgain(t *testing.T) {
	const units = 6
	w := newWorld(t, 0, units)
	g := w.gate()
	w.turn(g)
	if _, a := w.buy(t.Context(), g, standing("ann", units)); a.Outcome != inventory.Claimed {
		t.Fatalf("ann: %s", a.Outcome)
	}
	w.turn(g)
	if d := g.Decide(t.Context(), standing("bob", 1)); d.Outcome != SoldOut {
		t.Fatalf("sold out, and the gate said %s", d.Outcome)
	}
	w.exec(`UPDATE orders SET pay_by = now() - interval '1 second', extended_at = now()`)
	w.turn(g)
	if d, a := w.buy(t.Context(), g, standing("bob", units)); a.Outcome != inventory.Claimed {
		t.Errorf("after an order was overdue: the gate said %s, Postgres %q", d.Outcome, a.Outcome)
	}
	w.turn(g)
	w.agrees(g)
	w.whole(units)
}

// Counting while people buy never makes the count wrong: when all is over both sides
// agree, and nobody was told sold out while something was left.
func TestTurnsAmongBuyers(t *testing.T) {
	const units = 400
	w := newWorld(t, 0, units)
	a, b := w.gate(), w.gate()
	w.turn(a)
	var over atomic.Bool
	var turning sync.WaitGroup
	for _, g := range []*Gate{a, b} {
		turning.Go(func() {
			for !over.Load() {
				if err := g.Turn(t.Context(), event, 1, w.recount); err != nil {
					t.Errorf("turn: %v", err)
				}
			}
		})
	}
	var buying sync.WaitGroup
	var sold, refused atomic.Int64
	for i := range units {
		buying.Go(func() {
			switch d, answer := w.buy(t.Context(), []*Gate{a, b}[i%2], standing(fmt.Sprint("fan-", i), 1)); {
			case answer.Outcome == inventory.Claimed:
				sold.Add(1)
			default:
				refused.Add(1)
				t.Logf("fan %d: the gate said %s (%d left), Postgres %q", i, d.Outcome, d.Left, answer.Outcome)
			}
		})
	}
	buying.Wait()
	over.Store(true)
	turning.Wait()
	if sold.Load() != units {
		t.Errorf("%d of %d units were sold to as many buyers; %d were refused", sold.Load(), units, refused.Load())
	}
	w.turn(a)
	w.agrees(b)
	w.whole(units)
}

// Of two counts the later stands, whichever comes first.
func TestAStaleCountIsRefused(t *testing.T) {
	w := newWorld(t, 0, 10)
	g := w.gate()
	old, err := w.recount(t.Context(), event, time.Time{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.claim(standing("ann", 4))
	w.turn(g)
	for shard := range g.Shards {
		if err := g.seed(t.Context(), lane{event, 1, tier, shard}, old); err != nil {
			t.Fatal(err)
		}
	}
	w.agrees(g)
}

// Every key of one script lies in one slot of a cluster, whatever the tier is called.
func TestALanesKeysShareTheirTag(t *testing.T) {
	for _, l := range []lane{{"a", 1, "", 0}, {"a", 1, "", coded}, {"a", 1, "St}an{ding 音", 3}, {"a", 1, "}", 0}} {
		for _, k := range append(l.keys(), l.seat(7), l.account("ann key"), l.accounts()) {
			from := slices.Index([]byte(k), '{')
			to := from + slices.Index([]byte(k[from:]), '}')
			if k[from:to+1] != l.tag()[5:len(l.tag())-1] {
				t.Errorf("%q is tagged %q, its lane %q", k, k[from:to+1], l.tag())
			}
		}
	}
}

// in is an account whose attempt's record lies in that shard.
func (w *world) in(g *Gate, shard int, prefix string) string {
	for i := 0; ; i++ {
		name := fmt.Sprint(prefix, "-", i)
		if g.home(event, 1, tier, Name{name, "key"}.id()).shard == shard {
			return name
		}
	}
}

// A count taken while large attempts are on their way leaves their shard with less than
// nothing. Who comes to it then has all that the others have, and is told how many.
func TestAShardInDebtSellsWhatOthersHave(t *testing.T) {
	w := newWorld(t, 0, 8)
	g := w.gate()
	w.turn(g)
	if d := g.Decide(t.Context(), standing(w.in(g, 0, "big"), 4)); d.Outcome != Admitted {
		t.Fatalf("the first: %+v", d)
	}
	w.turn(g) // Postgres knows nothing of it yet
	if d := g.Decide(t.Context(), standing(w.in(g, 0, "too many"), 5)); d.Outcome != SoldOut || d.Left != 4 {
		t.Errorf("five of four: %s, %d left, want sold out, 4", d.Outcome, d.Left)
	}
	for i := range 4 {
		if d := g.Decide(t.Context(), standing(w.in(g, 0, fmt.Sprint("small", i)), 1)); d.Outcome != Admitted {
			t.Errorf("one of %d: %s, %d left", 4-i, d.Outcome, d.Left)
		}
	}
	if d := g.Decide(t.Context(), standing(w.in(g, 0, "late"), 1)); d.Outcome != SoldOut || d.Left != 0 {
		t.Errorf("one of none: %s, %d left", d.Outcome, d.Left)
	}
}

// lends counts what is lent.
type lends struct {
	quiet
	n atomic.Int64
}

func (c *lends) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if a := cmd.Args(); len(a) > 1 && (a[1] == lend.Hash()) {
			c.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

// quiet lets everything pass.
type quiet struct{}

func (quiet) DialHook(next redis.DialHook) redis.DialHook { return next }

func (quiet) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// Nothing is lent for whom all that there is would not suffice: who wants less
// meanwhile would find nothing.
func TestNothingIsLentInVain(t *testing.T) {
	w := newWorld(t, 0, 3)
	g := w.gate()
	w.turn(g)
	seen := &lends{}
	g.client.AddHook(seen)
	if d := g.Decide(t.Context(), standing(w.in(g, 3, "greedy"), 8)); d.Outcome != SoldOut || d.Left != 3 {
		t.Errorf("eight of three: %s, %d left", d.Outcome, d.Left)
	}
	if n := seen.n.Load(); n != 0 {
		t.Errorf("%d shards were asked to lend for it", n)
	}
	if d := g.Decide(t.Context(), standing(w.in(g, 3, "modest"), 3)); d.Outcome != Admitted || seen.n.Load() == 0 {
		t.Errorf("three of three: %s, after %d lends", d.Outcome, seen.n.Load())
	}
}
