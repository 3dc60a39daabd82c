package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

const (
	// rounds bounds how often an attempt is tried that nothing stands in the
	// way of: it is busy then. It takes a second round for what others let go,
	// and more only while others are faster, each of whom gets something.
	rounds = 12
	// waits bounds how many of these may end by waiting for a lock in vain.
	waits = 3
	// tryLimit bounds one exchange with Postgres. The server's own limits are
	// shorter: a context that ends costs a connection.
	tryLimit = 10 * time.Second
)

// serve answers every attempt of a batch. What the first round did not grant,
// though nothing stands in its way, the next ones insist on.
func (c *Claimer) serve(ctx context.Context, batch []*asked) {
	var lapsed []uuid.UUID
	var err error
	for round, vain := 0, 0; round < rounds && vain < waits; round++ {
		c.dropLate(batch)
		if batch = untold(batch); len(batch) == 0 {
			return
		}
		lapsed, err = c.round(ctx, batch, lapsed, round > 0)
		switch faultOf(err) {
		case unsent:
			vain = waits // it was tried for long enough
		case crowded:
			vain++
		}
	}
	if batch = untold(batch); len(batch) == 0 {
		return
	}
	c.log.Error("claims given up", "attempts", len(batch), "first", batch[0].Key, "error", err)
	for _, a := range batch {
		c.answer(a, Answer{Outcome: Busy})
	}
}

// round claims and explains once. Of what it leaves untold it returns the
// lapsed orders that stand in the way, and the fault if there was one.
func (c *Claimer) round(ctx context.Context, batch []*asked, lapsed []uuid.UUID, again bool) ([]uuid.UUID, error) {
	claimants := disjoint(batch)
	won, session, err := c.try(ctx, claimants, lapsed, again)
	if err != nil {
		return lapsed, c.failed(ctx, batch, claimants, session, err)
	}
	for _, i := range won {
		c.answer(claimants[i], Answer{Outcome: Claimed, Order: claimants[i].order})
	}
	return c.refuse(ctx, untold(batch))
}

// try claims on a connection of its own; session is the server's name of it.
func (c *Claimer) try(ctx context.Context, claimants []*asked, lapsed []uuid.UUID, again bool) (won []int, session uint32, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errUnsent, err)
	}
	defer conn.Release()
	session = conn.Conn().PgConn().PID()
	if again || leavesChoice(claimants) {
		won, err = c.insist(ctx, conn, claimants, lapsed, again)
	} else {
		won, err = claim(ctx, conn, claimants)
	}
	return won, session, err
}

// refuse answers the attempts that something stands in the way of. It returns
// the lapsed orders that stand in the way of the others.
func (c *Claimer) refuse(ctx context.Context, batch []*asked) (lapsed []uuid.UUID, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	}
	defer conn.Release()
	doubt(batch)
	verdicts, err := explain(ctx, conn, batch)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		if v.again {
			lapsed = append(lapsed, v.lapsed...)
		} else {
			c.answer(batch[i], v.answer)
		}
	}
	return lapsed, nil
}

// disjoint are the attempts that one statement can claim for: the first of each
// account and of each seat. The others are asked about after it, and claimed
// for in the next round if what they want is still free.
func disjoint(batch []*asked) (first []*asked) {
	type account struct{ event, account string }
	accounts, seats := map[account]bool{}, map[int64]bool{}
next:
	for _, a := range batch {
		for _, s := range a.Seats {
			if seats[s] {
				continue next
			}
		}
		by := account{a.Event, a.Account}
		if accounts[by] {
			continue
		}
		accounts[by] = true
		for _, s := range a.Seats {
			seats[s] = true
		}
		first = append(first, a)
	}
	return first
}

func untold(batch []*asked) (rest []*asked) {
	for _, a := range batch {
		if !a.told {
			rest = append(rest, a)
		}
	}
	return rest
}

// dropLate gives up the attempts that nobody waits for any more.
func (c *Claimer) dropLate(batch []*asked) {
	now := time.Now()
	for _, a := range batch {
		if now.After(a.until) {
			c.meter.late.Inc()
			c.answer(a, Answer{Outcome: Busy})
		}
	}
}

func (c *Claimer) answer(a *asked, answer Answer) {
	a.told = true
	c.meter.answered(answer.Outcome, time.Since(a.came))
	a.tell(answer)
}
