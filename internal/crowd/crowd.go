// Package crowd is the people: fans who come, wait, buy, forget to pay, reload
// and leave, through the public HTTP API alone. It imports nothing of the
// house, so that what it was told can be held against what is so.
//
// Every answer goes to the witness log, as the fan got it.
package crowd

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config says who comes. Shares are between 0 and 1; times are means.
type Config struct {
	URL     string // the waiting room's public listener
	Event   string
	Fans    int
	Conns   int           // connections that all fans share at most
	Arrive  time.Duration // the crowd comes within it, most in its first fifth
	Share   float64       // who want to buy, of those who are let in
	Seats   float64       // seats that a buyer wants, in the mean
	MaxSeat int           // seats that an order may have
	Think   time.Duration // from the pass to the claim
	Pay     time.Duration // from the claim to the payment

	Absent      float64 // never come when they are called
	NeverPay    float64 // of buyers
	LatePay     float64 // of buyers: pay after their time is over
	Cancel      float64 // of buyers: give their order back
	Leave       float64 // give their place up while they wait
	Reload      float64 // join again while they wait
	DoubleClick float64 // send the same request twice at once

	Seed    uint64
	Witness io.Writer // NDJSON; nil drops it
}

// Tally counts what the fans have seen so far.
type Tally struct {
	Joined, Waiting, AtDoor, LetIn, Left atomic.Int64
	Claimed, Refused, FoundNothing       atomic.Int64
	Paid, PaidLate, NeverPaid, Cancelled atomic.Int64
	Busy, Unknown, Faults                atomic.Int64
	Done                                 atomic.Int64
}

// Crowd is the fans of one sale.
type Crowd struct {
	Config
	Tally   Tally
	client  *http.Client
	witness *witness
	hall    hall

	mu    sync.Mutex
	waits []float64 // seconds from joining to the pass
	odd   map[string]int
}

// New makes a crowd; nobody comes before Run.
func New(cfg Config) *Crowd {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &Crowd{
		Config: cfg,
		client: &http.Client{
			Timeout: 15 * time.Second,
			Transport: &http.Transport{
				DialContext:         dialer.DialContext,
				MaxConnsPerHost:     cfg.Conns,
				MaxIdleConns:        cfg.Conns,
				MaxIdleConnsPerHost: cfg.Conns,
				IdleConnTimeout:     30 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		witness: newWitness(cfg.Witness),
		odd:     map[string]int{},
	}
}

// Run lets everybody come and returns when the last one is through, or ctx
// ends. The witness log is complete when it returns.
func (c *Crowd) Run(ctx context.Context) error {
	if err := c.hall.load(ctx, c); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range c.Fans {
		wg.Go(func() {
			f := c.fan(i)
			f.live(ctx)
			c.Tally.Done.Add(1)
		})
	}
	wg.Wait()
	c.client.CloseIdleConnections()
	return c.witness.flush()
}

// Waits are the seconds that each of those let in had waited since joining.
func (c *Crowd) Waits() []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]float64(nil), c.waits...)
}

// Odd counts the answers that a fan did not expect, by what they were.
func (c *Crowd) Odd() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]int, len(c.odd))
	for k, v := range c.odd {
		out[k] = v
	}
	return out
}

func (c *Crowd) oddly(what string, args ...any) {
	c.Tally.Faults.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.odd) < 100 {
		c.odd[fmt.Sprintf(what, args...)]++
	}
}

// fan makes the i-th of the crowd: who they are is drawn from the seed alone.
func (c *Crowd) fan(i int) *fan {
	r := rand.New(rand.NewPCG(c.Seed, uint64(i)))
	f := &fan{crowd: c, rand: r, secret: secret(r)}
	f.holder = hash(f.secret)
	f.arrive = arrival(r, c.Arrive)
	f.absent = r.Float64() < c.Absent
	f.leaves = r.Float64() < c.Leave
	f.reloads = r.Float64() < c.Reload
	f.doubles = r.Float64() < c.DoubleClick
	f.buys = r.Float64() < c.Share
	f.seats = wanted(r, c.Seats, c.MaxSeat)
	f.ends = draw(r, c.NeverPay, c.LatePay, c.Cancel)
	return f
}

// arrival draws when somebody comes: four fifths in the first fifth of the
// time, as they do when a sale opens.
func arrival(r *rand.Rand, within time.Duration) time.Duration {
	if r.Float64() < 0.8 {
		return time.Duration(r.Float64() * float64(within) / 5)
	}
	return time.Duration(r.Float64() * float64(within))
}

// wanted draws how many seats somebody wants: around the mean, within the limit.
func wanted(r *rand.Rand, mean float64, limit int) int {
	n := int(mean) + r.IntN(3) - 1
	if r.Float64() < mean-float64(int(mean)) {
		n++
	}
	return min(max(n, 1), limit)
}

// How a buyer's order goes on.
type ending int

const (
	pays ending = iota
	neverPays
	paysLate
	cancels
)

func draw(r *rand.Rand, never, late, cancel float64) ending {
	switch x := r.Float64(); {
	case x < never:
		return neverPays
	case x < never+late:
		return paysLate
	case x < never+late+cancel:
		return cancels
	}
	return pays
}
