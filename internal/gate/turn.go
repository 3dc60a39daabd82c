package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Recount asks Postgres, in one snapshot, how many units of each tier of an event are
// to be had, and which of these attempts have an order, as well as which orders were
// made since (zero: no others).
type Recount func(ctx context.Context, event string, since time.Time, asked []Name) (Seen, error)

// Seen is the answer.
type Seen struct {
	At     time.Time      // by Postgres's clock
	Free   map[string]int // by tier of general admission: also what an overdue order has
	Orders []Name
}

// opened lists a lane's attempts that have no end yet, the oldest first, after how
// many there are.
//
//	KEYS open took   ARGV how many at most
var opened = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local out = {redis.call('ZCARD', KEYS[1])}
local all = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[1]) - 1, 'WITHSCORES')
for i = 1, #all, 2 do
  out[#out+1] = all[i]
  out[#out+1] = redis.call('HGET', KEYS[2], all[i]) or ''
  out[#out+1] = now - tonumber(all[i+1])
end
return out`)

// seed sets a lane's count: its share of what Postgres has, less what attempts took
// that Postgres had not seen. A count that is newer stays: whoever counts last is
// right, whichever of two counts comes first. 0: stale. -1: too many are open.
//
//	KEYS count open took   ARGV share, stamp, ms that it stands, ms to keep records, how many open at most
var seed = redis.NewScript(`
local had = tonumber(redis.call('HGET', KEYS[1], 'stamp') or nil)
if had and had >= tonumber(ARGV[2]) then return 0 end
if redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[5]) then return -1 end
local free = tonumber(ARGV[1])
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local size = string.match(redis.call('HGET', KEYS[3], id) or '', '^(%d+):')
  if size then free = free - tonumber(size) end
end
redis.call('HSET', KEYS[1], 'free', free, 'stamp', ARGV[2], 'loan', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return 1`)

// first says whether this replica is to take the turn; the others have it done.
var first = redis.NewScript(`
if redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 1 end
return 0`)

// overlap is how far back a turn looks for orders that its list of attempts lacks: an
// order is as old as the beginning of its transaction.
const overlap = 5 * time.Second

// open is an attempt that took and has no end yet.
type open struct {
	id, text string
	age      time.Duration
}

// TurnEvery is Turn, unless some replica took it within that time.
func (g *Gate) TurnEvery(ctx context.Context, every time.Duration, event string, epoch int64, recount Recount) error {
	key := "gate:{" + event + "/" + strconv.FormatInt(epoch, 10) + "}:turn"
	mine, err := g.ask(ctx, first, []string{key}, every.Milliseconds())
	if err != nil || mine != int64(1) {
		return err
	}
	return g.Turn(ctx, event, epoch, recount)
}

// Turn makes the gate's counts what Postgres says. Attempt by attempt: what has an
// order is Postgres's; what has none and was taken longer ago than Processing goes
// back; the rest is on its way and counts as taken. Any number may turn at once, and
// die at any step: the next does the whole again.
func (g *Gate) Turn(ctx context.Context, event string, epoch int64, recount Recount) error {
	start := time.Now()
	before, err := recount(ctx, event, time.Time{}, nil)
	if err != nil {
		return fmt.Errorf("gate: recount %s: %w", event, err)
	}
	lanes := g.lanesOf(event, epoch, before.Free)
	found, asked := map[lane][]open{}, []Name{}
	whole := map[lane]bool{}
	for _, l := range lanes {
		if found[l], whole[l], err = g.opened(ctx, l); err != nil {
			return err
		}
		for _, o := range found[l] {
			asked = append(asked, nameOf(o.id))
		}
	}
	// Orders since then too: what was taken after the list and committed before the
	// snapshot is in both, and must count once.
	seen, err := recount(ctx, event, before.At.Add(-overlap), asked)
	if err != nil {
		return fmt.Errorf("gate: recount %s: %w", event, err)
	}
	has := make(map[string]bool, len(seen.Orders))
	for _, n := range seen.Orders {
		has[n.id()] = true
	}
	ordered := g.ordered(event, epoch, before.Free, seen.Orders)
	for _, l := range lanes {
		if err := g.settleLane(ctx, l, ordered[l], g.overdue(found[l], has)); err != nil {
			return err
		}
	}
	if time.Since(start) > g.Fresh/2 {
		g.metrics.seeds.WithLabelValues("late").Inc()
		return errors.New("gate: the recount came too late to stand")
	}
	for _, l := range lanes {
		if l.tier != "" && whole[l] {
			if err := g.seed(ctx, l, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// lanesOf are all lanes of an event.
func (g *Gate) lanesOf(event string, epoch int64, tiers map[string]int) []lane {
	all := []lane{{event: event, epoch: epoch}, {event: event, epoch: epoch, shard: coded}}
	for tier := range tiers {
		for shard := range g.Shards {
			all = append(all, lane{event, epoch, tier, shard})
		}
	}
	return all
}

// ordered sorts orders into the lanes that may have their records. An order does not
// say which tier's units it is for.
func (g *Gate) ordered(event string, epoch int64, tiers map[string]int, orders []Name) map[lane][]string {
	by := map[lane][]string{}
	for _, n := range orders {
		id := n.id()
		for _, shard := range []int{0, coded} {
			seats := lane{event: event, epoch: epoch, shard: shard}
			by[seats] = append(by[seats], id)
		}
		for tier := range tiers {
			l := g.home(event, epoch, tier, id)
			by[l] = append(by[l], id)
		}
	}
	return by
}

func (g *Gate) opened(ctx context.Context, l lane) (list []open, whole bool, err error) {
	k := l.keys()
	answer, err := g.ask(ctx, opened, []string{k[1], k[3]}, g.Listed)
	if err != nil {
		return nil, false, err
	}
	said, _ := answer.([]any)
	if len(said) < 1 {
		return nil, false, errNoCount
	}
	there, _ := said[0].(int64)
	for i := 1; i+2 < len(said); i += 3 {
		id, _ := said[i].(string)
		text, _ := said[i+1].(string)
		age, _ := said[i+2].(int64)
		list = append(list, open{id, text, time.Duration(age) * time.Millisecond})
	}
	return list, int(there) <= g.Listed, nil
}

// overdue are those that had time enough to get an order, and have none.
func (g *Gate) overdue(all []open, has map[string]bool) (back []returned) {
	for _, o := range all {
		if has[o.id] || o.age < g.Processing {
			continue
		}
		r := returned{id: o.id, text: o.text}
		if parts := strings.SplitN(o.text, ":", 3); len(parts) == 3 {
			r.seats = seatsOf(parts[2])
		}
		back = append(back, r)
	}
	return back
}

// settleLane ends what has an order, and gives back what is overdue.
func (g *Gate) settleLane(ctx context.Context, l lane, ordered []string, back []returned) error {
	for len(ordered) > 0 || len(back) > 0 {
		o, b := ordered[:min(len(ordered), g.Batch)], back[:min(len(back), g.Batch)]
		done, gave, err := g.settle(ctx, l, o, b)
		if err != nil {
			return err
		}
		g.metrics.ordered.Add(float64(done))
		g.metrics.back.WithLabelValues("overdue").Add(float64(gave))
		ordered, back = ordered[len(o):], back[len(b):]
	}
	return nil
}

// seed gives the lane its share of the tier's units.
func (g *Gate) seed(ctx context.Context, l lane, seen Seen) error {
	k := l.keys()
	free := max(0, seen.Free[l.tier])
	share := free / g.Shards
	if l.shard < free%g.Shards {
		share++
	}
	answer, err := g.ask(ctx, seed, []string{k[0], k[1], k[3]},
		share, seen.At.UnixMicro(), g.Fresh.Milliseconds(), g.Keep.Milliseconds(), g.Listed)
	if err != nil {
		return err
	}
	outcome := map[any]string{int64(1): "set", int64(0): "stale", int64(-1): "too_many_open"}[answer]
	g.metrics.seeds.WithLabelValues(outcome).Inc()
	return nil
}

// Count is what the gate has of a tier, over all shards. known: each of them has a
// count.
func (g *Gate) Count(ctx context.Context, event string, epoch int64, tier string) (free int, known bool, err error) {
	has, err := g.look(ctx, lane{event: event, epoch: epoch, tier: tier})
	if errors.Is(err, errNoCount) {
		return 0, false, nil
	}
	for _, s := range has {
		free += s.free
	}
	return free, err == nil, err
}
