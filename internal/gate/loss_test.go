package gate

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waitroom/internal/inventory"
)

// mortal is a connection to Redis that ends with its process: after so many commands,
// the last of which still had its effect or not.
type mortal struct {
	left   atomic.Int64
	effect bool
}

func (m *mortal) dead() bool { return m.left.Load() < 0 }

func (m *mortal) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (m *mortal) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { // reads alone
		if m.left.Add(-1) >= 0 {
			return next(ctx, cmds)
		}
		for _, cmd := range cmds {
			cmd.SetErr(errDead)
		}
		return errDead
	}
}

func (m *mortal) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if n := m.left.Add(-1); n >= 0 {
			return next(ctx, cmd)
		} else if n == -1 && m.effect {
			next(ctx, cmd) //nolint:errcheck // nobody is there to hear it
		}
		cmd.SetErr(errDead)
		return errDead
	}
}

// A process dies at each step between Redis and Postgres, its count's turns among
// them, with the step's effect and without. Whatever it left behind, the next turn
// finds: every unit is sold in the end, none twice, and both sides agree.
func TestDeathAtEachStep(t *testing.T) {
	const units = 400
	w := newWorld(t, 0, units)
	sold, lives := 0, 0
	live := func(m *mortal, stop int) {
		lives++
		g := w.gate()
		g.client.AddHook(m)
		steps := 0
		next := func() bool { steps++; return !m.dead() && steps != stop }
		if g.Turn(t.Context(), event, 1, w.recount) != nil || !next() {
			return
		}
		who := fmt.Sprint("life-", lives)
		d := g.Decide(t.Context(), standing(who, 3))
		if !next() || !d.Lets() {
			return
		}
		if w.claim(standing(who, 3)).Outcome == inventory.Claimed {
			sold += 3
		}
		if !next() {
			return
		}
		more := standing(who+" too", 9) // more than an order may have
		if d = g.Decide(t.Context(), more); !next() || !d.Lets() {
			return
		}
		if a := w.claim(more); a.Outcome != inventory.OverLimit {
			t.Errorf("too many for an order: %s", a.Outcome)
		}
		if !next() {
			return
		}
		g.GiveBack(t.Context(), d, nil)
		steps = -1
	}
	for stop := 1; stop <= 6; stop++ { // between the stores
		m := &mortal{}
		m.left.Store(1 << 30)
		live(m, stop)
	}
	for _, effect := range []bool{false, true} { // at Redis
		survived := false
		for n := int64(0); !survived; n++ {
			m := &mortal{effect: effect}
			m.left.Store(n)
			live(m, -1)
			survived = !m.dead()
		}
	}
	t.Logf("%d lives, %d of %d units sold by them", lives, sold, units)
	w.config.Processing = time.Millisecond
	g := w.gate()
	w.settled(g)
	w.agrees(g)
	for i := 0; ; i++ {
		d, a := w.buy(t.Context(), g, standing(fmt.Sprint("heir-", i), 1))
		if a.Outcome != inventory.Claimed {
			if d.Outcome != SoldOut {
				t.Errorf("the last was %s at the gate, %q in Postgres", d.Outcome, a.Outcome)
			}
			break
		}
		sold++
	}
	if sold != units {
		t.Errorf("%d units were sold, want %d", sold, units)
	}
	w.settled(g)
	w.agrees(g)
	w.whole(units)
}

// settled turns until no attempt is open.
func (w *world) settled(g *Gate) {
	w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		w.turn(g)
		open := 0
		for _, l := range g.lanesOf(event, 1, map[string]int{tier: 0}) {
			list, _, err := g.opened(w.t.Context(), l)
			if err != nil {
				w.t.Fatal(err)
			}
			open += len(list)
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%d attempts are still open", open)
		}
	}
}

// Redis is flushed in the middle of the sale, and comes back with counts that are too
// high or too low: Postgres sells each unit once, too many come to it at worst, and
// after a turn both agree. Whoever has an order still hears of it when all are sold.
func TestALossBreaksNothing(t *testing.T) {
	const units = 12
	w := newWorld(t, 0, units)
	g := w.gate()
	admin := redis.NewClient(g.client.Options())
	defer admin.Close() //nolint:errcheck // the test's own
	w.turn(g)
	if _, a := w.buy(t.Context(), g, standing("ann", 4)); a.Outcome != inventory.Claimed {
		t.Fatalf("ann: %s", a.Outcome)
	}
	if err := admin.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if d, a := w.buy(t.Context(), g, standing("bob", 4)); d.Outcome != Unknown || a.Outcome != inventory.Claimed {
		t.Errorf("with nothing known bob was %s, then %q", d.Outcome, a.Outcome)
	}
	w.turn(g)
	w.agrees(g)
	set := func(free int) {
		for shard := range g.Shards {
			admin.HSet(t.Context(), lane{event, 1, tier, shard}.keys()[0], "free", free)
		}
	}
	set(0) // a replica from before bob's units came back, say
	if d := g.Decide(t.Context(), standing("cy", 1)); d.Outcome != SoldOut {
		t.Errorf("with a count of nothing: %s", d.Outcome)
	}
	w.turn(g)
	if _, a := w.buy(t.Context(), g, standing("cy", 4)); a.Outcome != inventory.Claimed {
		t.Errorf("after the next turn: %q", a.Outcome)
	}
	set(50) // and one from before all of them
	for i := range 20 {
		if d, a := w.buy(t.Context(), g, standing(fmt.Sprint("late-", i), 1)); !d.Lets() || a.Outcome != inventory.SoldOut {
			t.Errorf("late %d: %s at the gate, %q in Postgres", i, d.Outcome, a.Outcome)
		}
	}
	if err := admin.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	w.turn(g)
	w.agrees(g)
	if d := g.Decide(t.Context(), standing("dan", 1)); d.Outcome != SoldOut {
		t.Errorf("all are sold, and the gate says %s", d.Outcome)
	}
	if d, a := w.buy(t.Context(), g, standing("ann", 4)); d.Outcome != Again || a.Outcome != inventory.Already {
		t.Errorf("ann asks again: %s at the gate, %q in Postgres", d.Outcome, a.Outcome)
	}
	w.whole(units)
}

// Without Redis everybody is let through, at once after the first, and counted again
// when it is back.
func TestWithoutRedisEverybodyIsLetThrough(t *testing.T) {
	w := newWorld(t, 1, 3)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.config.URL = "redis://" + l.Addr().String() + "/0"
	l.Close() //nolint:errcheck // nobody is to answer there
	w.config.Rest = time.Hour
	g := w.gate()
	sold := 0
	for i := range 5 {
		d, a := w.buy(t.Context(), g, standing(fmt.Sprint("fan-", i), 1))
		if d.Outcome != Unknown {
			t.Errorf("without Redis the gate said %s", d.Outcome)
		}
		if a.Outcome == inventory.Claimed {
			sold++
		}
	}
	if d := g.Decide(t.Context(), seated("sue", w.seats[0])); sold != 3 || d.Outcome != Unknown {
		t.Errorf("%d of 3 units sold; a seat was %s", sold, d.Outcome)
	}
	if g.Turn(t.Context(), event, 1, w.recount) == nil {
		t.Error("a turn without Redis says that it went well")
	}
}

// A count that nobody renews is none: after Fresh the gate lets everybody through, so
// that no turn's death is a false end of the sale.
func TestACountThatNobodyRenewsIsNone(t *testing.T) {
	w := newWorld(t, 0, 2)
	w.config.Fresh = time.Second
	g := w.gate()
	w.turn(g)
	w.claim(standing("ann", 2))
	w.turn(g)
	for deadline := time.Now().Add(30 * time.Second); ; {
		if g.Decide(t.Context(), standing("bob", 1)).Outcome == Unknown {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a count of a second ago still stands after 30 s")
		}
	}
}

// A gate without sense is refused.
func TestConfigIsValidated(t *testing.T) {
	good := Usual()
	good.URL = "redis://127.0.0.1:1/0"
	if err := good.Validate(); err != nil {
		t.Errorf("the usual: %v", err)
	}
	for name, spoil := range map[string]func(*Config){
		"no url": func(c *Config) { c.URL = "" }, "no shards": func(c *Config) { c.Shards = 0 },
		"an endless script": func(c *Config) { c.Batch = 100_000 }, "no queue": func(c *Config) { c.Queue = 0 },
		"no limit": func(c *Config) { c.Limit = 0 }, "a count that never stands": func(c *Config) { c.Fresh = 0 },
		"forgotten before it is counted": func(c *Config) { c.Keep = time.Second }, "a turn that sees too few": func(c *Config) { c.Listed = 1 },
	} {
		c := good
		if spoil(&c); c.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Whoever has an order and asks again for what is theirs hears of it, and not that others
// have it: their record was lost with Redis, or never made while Redis was away.
func TestWhoHasAnOrderIsNotToldThatAllIsGone(t *testing.T) {
	for _, lost := range []bool{true, false} {
		t.Run(fmt.Sprintf("lost %t", lost), func(t *testing.T) {
			w := newWorld(t, 1, 2)
			g := w.gate()
			w.turn(g)
			for _, a := range []Attempt{seated("ann", w.seats[0]), standing("ann's sister", 1)} {
				if !lost { // Redis does not answer: she is let through, and nothing is written down
					w.claim(a)
				} else if _, answer := w.buy(t.Context(), g, a); answer.Outcome != inventory.Claimed {
					t.Fatalf("%s: %s", a.Account, answer.Outcome)
				}
			}
			w.exec(`UPDATE orders SET created_at = created_at - interval '1 minute'`)
			if lost {
				admin := redis.NewClient(g.client.Options())
				defer admin.Close() //nolint:errcheck // the test's own
				if err := admin.FlushAll(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			}
			w.turn(g)
			if _, a := w.buy(t.Context(), g, seated("bob", w.seats[0])); a.Outcome != inventory.Taken {
				t.Fatalf("bob asks for ann's seat: %s", a.Outcome)
			}
			if _, a := w.buy(t.Context(), g, standing("bob's brother", 1)); a.Outcome != inventory.Claimed {
				t.Fatalf("the last unit: %s", a.Outcome)
			}
			w.turn(g)
			for _, a := range []Attempt{seated("ann", w.seats[0]), standing("ann's sister", 1)} {
				if d, answer := w.buy(t.Context(), g, a); answer.Outcome != inventory.Already {
					t.Errorf("%s asks again: %s %d at the gate, %q in Postgres; want her order", a.Account, d.Outcome, d.Taken, answer.Outcome)
				}
			}
			if d := g.Decide(t.Context(), standing("cy", 1)); d.Outcome != SoldOut {
				t.Errorf("who has no order and comes too late: %s", d.Outcome)
			}
		})
	}
}

// Nobody is refused at the gate while Postgres does not say whether they have an order.
func TestARefusalThatCannotBeLookedUpIsNone(t *testing.T) {
	w := newWorld(t, 0, 1)
	g := w.gate()
	g.find = func(context.Context, string, []Name) ([]Name, error) { return nil, errDead }
	w.turn(g)
	for i, want := range []Outcome{Admitted, Unknown} {
		if d := g.Decide(t.Context(), standing(fmt.Sprint("fan-", i), 1)); d.Outcome != want {
			t.Errorf("fan %d: %s, want %s", i, d.Outcome, want)
		}
	}
}

// Who is let through again though their order is in the count takes nothing a second time.
func TestWhoHasAnOrderTakesNothingMore(t *testing.T) {
	w := newWorld(t, 0, 4)
	g := w.gate()
	w.claim(standing("ann", 2)) // Redis is away
	w.exec(`UPDATE orders SET created_at = created_at - interval '1 minute'`)
	w.turn(g)
	if d, a := w.buy(t.Context(), g, standing("ann", 2)); d.Outcome != Admitted || a.Outcome != inventory.Already {
		t.Errorf("ann asks again: %s at the gate, %q in Postgres", d.Outcome, a.Outcome)
	}
	w.agrees(g)
}
