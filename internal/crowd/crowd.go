// Package crowd is the people: fans who come, wait, buy, forget to pay, reload
// and leave, through the public HTTP API alone. It imports nothing of the
// house, so that what it was told can be held against what is so; audience only
// says who they are.
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

	"waitroom/internal/audience"
)

// Config says who comes, and where to.
type Config struct {
	audience.Audience
	URLs    []string // of the waiting room's replicas; each fan keeps to one while it answers
	Event   string
	OpensAt time.Time // what the audience's arrivals are relative to; zero: Run's start
	Conns   int       // connections that all fans share at most
	Witness io.Writer // NDJSON; nil drops it
}

// Tally counts what the fans have seen so far.
type Tally struct {
	Joined, Waiting, AtDoor, LetIn, Left atomic.Int64
	Claimed, Refused, FoundNothing       atomic.Int64
	Paid, PaidLate, NeverPaid, Cancelled atomic.Int64
	PaidTwice, PaidOther, PaidLast       atomic.Int64
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
	if c.OpensAt.IsZero() {
		c.OpensAt = time.Now()
	}
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

// fan is the i-th of the audience, with a browser.
func (c *Crowd) fan(i int) *fan {
	r := rand.New(rand.NewPCG(^c.Seed, uint64(i)))
	f := &fan{Fan: c.Audience.Fan(i), crowd: c, rand: r, secret: secret(r)}
	f.holder = hash(f.secret)
	f.replica.Store(uint32(i))
	return f
}
