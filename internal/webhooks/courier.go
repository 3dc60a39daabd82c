package webhooks

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Courier sends what is due. Any number may be at work: each delivery is in one's
// hands at a time, by a lease that he ends with the attempt, or that ends him.
// NewCourier makes one.
type Courier struct {
	Pool     *pgxpool.Pool
	Name     string // of this process, and no other there ever was
	Client   *Client
	Terms    Terms
	InFlight int           // attempts under way at most, of all endpoints
	Every    time.Duration // how often it looks for what is due
	Lease    time.Duration // longer than an attempt, and its writing down, can take
	Chance   func() float64
	// FailingInFlight is how many of those under way may be of endpoints whose last
	// attempt failed; the rest is for the others.
	FailingInFlight int

	// Told of each look for what is due, and of each attempt when it is written down,
	// or could not be.
	Looked func(taken []Errand, err error)
	Seen   func(Errand, Outcome, Settled, error)

	book *book
}

// NewCourier makes one of these settings, who is not at work yet.
func NewCourier(c Courier) *Courier {
	c.book = newBook(c.Pool)
	return &c
}

const (
	// What could not be written down is tried again: after about so long, then after
	// twice as long each time, up to a bound; each in a time of its own.
	settleAgain     = 50 * time.Millisecond
	settleAgainMost = 2 * time.Second
)

// breath is between two looks at least, however much there is to take: what comes
// meanwhile is taken together.
const breath = 20 * time.Millisecond

// Run takes and sends until taking ends, and returns when what is under way has
// ended. work is what that is done under.
func (c *Courier) Run(taking, work context.Context) error {
	defer c.book.open(work)()
	var sends sync.WaitGroup
	defer sends.Wait()
	free := make(chan struct{}, c.InFlight)
	again := make(chan struct{}, 1) // something ended: there may be room
	for taking.Err() == nil {
		if len(free) == c.InFlight {
			rest(taking, c.Every, again)
			continue
		}
		errands, err := c.take(work, c.InFlight-len(free))
		c.Looked(errands, err)
		for _, e := range errands {
			free <- struct{}{}
			sends.Go(func() {
				c.run(work, e)
				<-free
				select {
				case again <- struct{}{}:
				default:
				}
			})
		}
		rest(taking, breath, nil)
		if len(errands) == 0 {
			rest(taking, c.Every, again)
		}
	}
	return nil
}

// rest waits for a time, or until there is something to do.
func rest(ctx context.Context, d time.Duration, again <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-again:
	case <-ctx.Done():
	}
}

// run is one errand from the taking to its end in the ledger.
func (c *Courier) run(ctx context.Context, e Errand) {
	if c.left(e) < c.Client.limit { // we stood still: it may be another's before it ends
		c.Seen(e, Outcome{Error: "not sent: its lease is nearly over"}, Settled{Ended: LeaseLost}, nil)
		return
	}
	o := c.send(ctx, e)
	for wait := settleAgain; ; wait = min(2*wait, settleAgainMost) {
		s, err := c.settle(ctx, e, o)
		if err == nil || ctx.Err() != nil || c.left(e) <= 0 {
			c.Seen(e, o, s, err)
			return
		}
		// What arrived is not to be sent again for want of a word.
		rest(ctx, time.Duration(float64(wait)*(0.5+c.Chance())), nil)
	}
}

// send makes the attempt within its lease, which is the take's: one that stood still
// once more after it looked sends nothing that may be another's by now.
func (c *Courier) send(ctx context.Context, e Errand) Outcome {
	ctx, cancel := context.WithDeadline(ctx, e.taken.Add(c.Lease))
	defer cancel()
	return c.Client.send(ctx, e)
}

// left is what is left of an errand's lease, at least.
func (c *Courier) left(e Errand) time.Duration { return c.Lease - time.Since(e.taken) }
