package admission_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"waitroom/internal/admission"
)

// P14: whoever stands at a door stands before no idle credit. If credit and stock
// budget are there for one more, somebody is let in within one step: latecomers
// too, whatever share they had, when nobody else stands there. Whoever was just
// answered and comes again stands there all the while, and is first if lowest. Where there are
// several replicas a credit may be for a lower number that is on its way from one
// door to another, or is told of by a report: that is over within a report's time.
// What was at the door of a replica that is cut off is waited for until it is
// silent for good, and no longer.
//
// Tried by hand, each fails: a credit is kept for a latecomer at another door while
// others stand at this one (two doors then leave it to each other, for as long as
// nobody is let in); the turnstile looks five times less often; latecomers alone
// are held to their share.
const (
	storeMost  = 8 * time.Millisecond
	watched    = 5 * time.Millisecond
	oneStep    = 50*time.Millisecond + 2*storeMost + watched // a step, a take that was too much, and one that was not
	oneReport  = time.Second + 4*storeMost + oneStep         // told, and heard
	silentMost = 4*time.Second + 2*oneReport
)

// crowding is a sale with several replicas, people who come, go from door to door
// and come late, and somebody who watches the store's own door. It shares nothing
// with the rules.
type crowding struct {
	*world
	rng   *rand.Rand
	store *memory
	lines []*admission.Line
	cuts  []*atomic.Bool

	mu    sync.Mutex
	since map[int64]time.Time // by number: asks for the pass at a door, and has no answer yet
	at    map[int64]int       // at which replica's
	tardy map[int64]bool      // looked away when called, perhaps for too long
	again map[int64]time.Time // by number: was answered then, and is on the way back to a door: stands there too

	taken     int64
	free      time.Time // since then there is credit for one more, and nobody was let in
	disturbed time.Time // when a replica was last cut off, or not yet back
	resumed   time.Time
	chances   int // looks at which somebody could have been let in
	worst     [2]time.Duration
}

// asks is one request for a pass of somebody called.
func (c *crowding) asks(ctx context.Context, i int, k admission.Ticket) (admission.Answer, error) {
	c.mu.Lock()
	c.since[k.Number], c.at[k.Number] = time.Now(), i
	c.mu.Unlock()
	a, err := c.lines[i].Pass(ctx, k)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.since, k.Number)
	delete(c.again, k.Number)
	if a.View == admission.ViewCalled {
		c.again[k.Number] = time.Now()
	}
	return a, err
}

// fan joins, and asks for the pass at one door or another until it is there. late
// is for how long they look away when they are called.
func (c *crowding) fan(ctx context.Context, who int, late time.Duration) {
	var j admission.Joined
	var err error
	for {
		if j, err = c.lines[rand.IntN(len(c.lines))].Join(ctx, holder(who), admission.Ticket{}); err == nil {
			break
		}
		if wait(ctx, time.Second) != nil {
			return
		}
	}
	for ctx.Err() == nil {
		i := rand.IntN(len(c.lines))
		k, _, _ := c.lines[i].Ticket(j.Ticket)
		called := k.Number < c.lines[i].Standing().Front
		if called && late > 0 {
			wait(ctx, late) //nolint:errcheck // the loop looks
			late = 0
			c.mu.Lock()
			c.tardy[k.Number] = true
			c.mu.Unlock()
			continue
		}
		ask := c.lines[i].Pass
		if called {
			ask = func(ctx context.Context, k admission.Ticket, _ ...admission.Condition) (admission.Answer, error) {
				return c.asks(ctx, i, k)
			}
		}
		a, _ := ask(ctx, k)
		if a.View == admission.ViewPassed {
			return
		}
		wait(ctx, max(a.RetryAfter, 50*time.Millisecond)) //nolint:errcheck // the loop looks
	}
}

// stands is for how long somebody has stood at a door that is not cut off, who
// still does; and whether somebody who may be first is on the way back to one: one
// who is lower than all who stand there in time.
func (c *crowding) stands(now time.Time) (d time.Duration, before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lowest := int64(math.MaxInt64)
	for n, at := range c.since {
		if c.cuts[c.at[n]].Load() {
			continue
		}
		if d = max(d, now.Sub(at)); !c.tardy[n] {
			lowest = min(lowest, n)
		}
	}
	for n, at := range c.again {
		before = before || n < lowest && c.since[n].IsZero() && now.Sub(at) < 400*time.Millisecond
	}
	return d, before
}

func (c *crowding) look(t *testing.T) {
	now := time.Now()
	c.store.mu.Lock()
	d := c.store.lines[event].door
	c.store.mu.Unlock()
	for _, cut := range c.cuts {
		if cut.Load() {
			c.disturbed = now
		}
	}
	c.mu.Lock()
	unread := now.Sub(c.resumed) <= time.Second // not every replica has read it
	c.mu.Unlock()
	stood, before := c.stands(now)
	if unread || before && len(c.lines) == 1 || d.Stopped || d.Credit < admission.Milli || d.Budget < 1 || d.Taken != c.taken {
		c.taken, c.free = d.Taken, now
		return
	}
	c.chances++
	most, kind := oneStep, 0
	if len(c.lines) > 1 {
		most = oneReport
	}
	if now.Sub(c.disturbed) <= silentMost {
		most, kind = silentMost, 1
	}
	idle := min(now.Sub(c.free), stood)
	c.worst[kind] = max(c.worst[kind], idle)
	if idle > most {
		t.Fatalf("%d thousandths of credit, budget %d, and somebody stands there: nobody is let in for %s, want %s at most", d.Credit, d.Budget, idle, most)
	}
}

// disturb pauses the sale, or cuts the replica that releases off, for a while.
func (c *crowding) disturb(ctx context.Context, t *testing.T) {
	for wait(ctx, 4*time.Second+time.Duration(rand.N(6*time.Second))) == nil {
		if len(c.lines) == 1 || rand.IntN(2) == 0 {
			c.set(func(w *world) { w.sale.Control = admission.Pause })
			wait(ctx, rand.N(4*time.Second)) //nolint:errcheck // virtual
			c.mu.Lock()
			c.resumed = time.Now()
			c.mu.Unlock()
			c.set(func(w *world) { w.sale.Control = admission.Run })
			continue
		}
		var i int
		fmt.Sscanf(releases(t, c.store), "replica-%d", &i) //nolint:errcheck // 0 then
		c.cuts[max(0, i-1)].Store(true)
		wait(ctx, time.Second+rand.N(6*time.Second)) //nolint:errcheck // virtual
		c.cuts[max(0, i-1)].Store(false)
	}
}

func TestNobodyStandsBeforeAnIdleCredit(t *testing.T) {
	chances, cut := 0, time.Duration(0)
	for seed := range uint64(18) {
		rng := rand.New(rand.NewPCG(seed, 14))
		rate, replicas := []float64{0.4, 3, 10, 50}[rng.IntN(4)], 1+int(seed%3)
		t.Run(fmt.Sprintf("%d replicas, %v a second, %d", replicas, rate, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowding(t, rng, rate, replicas)
				c.run(t)
				chances, cut = chances+c.chances, max(cut, c.worst[1])
				t.Logf("%d let in; %d looks at which somebody could have been, the longest for %s, and %s after a replica was cut off", len(c.takes), c.chances, c.worst[0], c.worst[1])
			})
		})
	}
	if chances < 5000 {
		t.Errorf("at %d looks could somebody have been let in: nothing was judged", chances)
	}
}

func newCrowding(t *testing.T, rng *rand.Rand, rate float64, replicas int) *crowding {
	c := &crowding{
		world: newWorld(t, rate, 100_000), rng: rng, store: newMemory(2*time.Millisecond, storeMost),
		since: map[int64]time.Time{}, at: map[int64]int{}, tardy: map[int64]bool{}, again: map[int64]time.Time{},
	}
	c.sale.CallWindow = 6 * time.Second
	for range replicas {
		store, cut := stalling(c.store)
		ls, _ := c.replica(t, store)
		c.lines, c.cuts = append(c.lines, line(t, ls)), append(c.cuts, cut)
	}
	return c
}

func (c *crowding) run(t *testing.T) {
	const long = 50 * time.Second
	ctx, done := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range int(long.Seconds()*c.sale.Rate) + 40 {
		after, late := time.Duration(c.rng.Int64N(int64(long))), time.Duration(0)
		if c.rng.IntN(4) == 0 {
			late = time.Duration(c.rng.Int64N(int64(15 * time.Second)))
		}
		all.Go(func() {
			wait(ctx, after) //nolint:errcheck // virtual
			c.fan(ctx, i, late)
		})
	}
	all.Go(func() { c.disturb(ctx, t) })
	for end := time.Now().Add(long + 10*time.Second); time.Now().Before(end); {
		wait(ctx, watched) //nolint:errcheck // virtual
		c.look(t)
	}
	done()
	all.Wait()
}
