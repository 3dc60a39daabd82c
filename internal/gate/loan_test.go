package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// stall holds up the first script that brings what was lent.
type stall struct {
	quiet
	once         sync.Once
	there, leave chan struct{}
}

func (s *stall) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		a := cmd.Args() // the script, how many keys, the keys, and what is lent
		if len(a) > 3 && a[1] == takeUnits.Hash() && fmt.Sprint(a[3+a[2].(int)]) != "0" {
			s.once.Do(func() { close(s.there); <-s.leave })
		}
		return next(ctx, cmd)
	}
}

// lending is four units, one in each shard, and somebody who wants all of them: three
// are on their way until leave is closed.
func lending(t *testing.T) (w *world, s *stall, told chan Decision) {
	w = newWorld(t, 0, 4)
	w.config.Limit = 5 * time.Second
	g := w.gate()
	w.turn(g)
	s, told = &stall{there: make(chan struct{}), leave: make(chan struct{})}, make(chan Decision, 1)
	g.client.AddHook(s)
	go func() { told <- g.Decide(context.WithoutCancel(t.Context()), standing(w.in(g, 0, "ann"), 4)) }()
	<-s.there
	return w, s, told
}

// What is on its way from shard to shard is not gone: nobody is told so.
func TestUnitsOnLoanAreNotSoldOut(t *testing.T) {
	w, s, told := lending(t)
	g := w.gate()
	bob := g.Decide(t.Context(), standing(w.in(g, 0, "bob"), 1))
	cy := g.Decide(t.Context(), standing(w.in(g, 1, "cy"), 3))
	close(s.leave)
	ann := <-told
	free, _, _ := g.Count(t.Context(), event, 1, tier)
	if bob.Outcome != Admitted || ann.Outcome != SoldOut || ann.Left != 3 || free != 3 {
		t.Errorf("one: %s; four: %s, %d left; %d are left in the end, want 3", bob.Outcome, ann.Outcome, ann.Left, free)
	}
	if cy.Outcome != Unknown {
		t.Errorf("who wanted three, while three were on their way to whom they did not suffice: %s, %d left", cy.Outcome, cy.Left)
	}
	if d := g.Decide(t.Context(), standing(w.in(g, 1, "dan"), 3)); d.Outcome != Admitted {
		t.Errorf("three of three: %s, %d left", d.Outcome, d.Left)
	}
}

// What was lent comes to the count that it is from: a newer one has it already.
func TestALoanComesToItsOwnCountAlone(t *testing.T) {
	w, s, told := lending(t)
	g := w.gate()
	w.turn(g)
	close(s.leave)
	if d := <-told; d.Outcome != Admitted {
		t.Errorf("four of four: %s, %d left", d.Outcome, d.Left)
	}
	if free, _, _ := g.Count(t.Context(), event, 1, tier); free != 0 {
		t.Errorf("%d are left, want none", free)
	}
}

// Eight ask two replicas at once, over and over: who is refused wanted more than what was
// left when all had been answered.
func TestSoldOutIsTrueAmongReplicas(t *testing.T) {
	const units, rounds = 8, 250
	w := newWorld(t, 0, units)
	gates := []*Gate{w.gate(), w.gate()}
	w.turn(gates[0])
	refused := 0
	for round := range rounds {
		asked, said := make([]Attempt, 8), make([]Decision, 8)
		var all sync.WaitGroup
		for i := range asked {
			asked[i] = standing(fmt.Sprint("round ", round, " fan ", i), 1+rand.IntN(4))
			all.Go(func() { said[i] = gates[i%2].Decide(t.Context(), asked[i]) })
		}
		all.Wait()
		left := units
		for i, d := range said {
			if d.Lets() {
				left -= asked[i].Units
			}
		}
		for i, d := range said {
			if d.Outcome == SoldOut {
				if refused++; asked[i].Units <= left {
					t.Errorf("round %d: %d were wanted and refused (%d left), while %d were free all the time", round, asked[i].Units, d.Left, left)
				}
			}
			gates[i%2].GiveBack(t.Context(), d, nil)
		}
		if round%10 == 9 {
			w.turn(gates[0]) // as long as a count stands
		}
	}
	if refused < rounds {
		t.Errorf("%d were refused in %d rounds: they hardly wanted more than there was", refused, rounds)
	}
}
