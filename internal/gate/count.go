package gate

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// What a script answers for an attempt that it took nothing for.
const (
	saysTook  = -1
	saysAgain = -2
	// 0 and more: too few, and so many are left.
)

// takeUnits decides attempts for units, in the order in which they came: read,
// compare, take, and write down who took. No count: it answers nothing.
//
//	KEYS count open done took
//	ARGV units that other shards lent, ms to keep records, then id, token, size of each
var takeUnits = redis.NewScript(`
local free = tonumber(redis.call('HGET', KEYS[1], 'free') or nil)
if not free then return {} end
free = free + tonumber(ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local out, names, times, took = {}, {}, {}, {}
for i = 3, #ARGV, 3 do
  local id, size = ARGV[i], tonumber(ARGV[i+2])
  if took[id] or redis.call('HEXISTS', KEYS[4], id) == 1 then
    out[#out+1] = -2
  elseif free >= size then
    free = free - size
    took[id] = true
    names[#names+1] = id
    names[#names+1] = size .. ':' .. ARGV[i+1]
    times[#times+1] = now
    times[#times+1] = id
    out[#out+1] = -1
  else
    out[#out+1] = math.max(free, 0)
  end
end
redis.call('HSET', KEYS[1], 'free', free)
if #names > 0 then
  redis.call('HSET', KEYS[4], unpack(names))
  redis.call('ZADD', KEYS[2], unpack(times))
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('PEXPIRE', KEYS[4], ARGV[2])
end
return out`)

// lend takes up to so many units out of a shard for another. -1: it has no count.
var lend = redis.NewScript(`
local free = tonumber(redis.call('HGET', KEYS[1], 'free') or nil)
if not free then return -1 end
local n = math.max(0, math.min(free, tonumber(ARGV[1])))
if n > 0 then redis.call('HINCRBY', KEYS[1], 'free', -n) end
return n`)

// byCount decides for units of a tier. Whoever would get too few from this shard is
// asked for once more, with what the others lend: only when all of them have too
// little is nothing left. What is lent and then lost with its process is found by the
// next turn.
func (g *Gate) byCount(ctx context.Context, l lane, batch []*waiting) []Decision {
	says, err := g.take(ctx, l, 0, batch)
	if err != nil {
		return doubtful(l, batch, err)
	}
	out := make([]Decision, len(batch))
	var short []*waiting
	var at []int
	missing := 0
	for i, w := range batch {
		if out[i] = said(l, w, says[i]); out[i].Outcome == SoldOut {
			short, at, missing = append(short, w), append(at, i), missing+w.size
		}
	}
	if len(short) == 0 || g.Shards == 1 {
		return out
	}
	lent, known := g.borrow(ctx, l, missing)
	if lent > 0 {
		says, err := g.take(ctx, l, lent, short)
		known = known && err == nil
		for i := range says {
			out[at[i]] = said(l, short[i], says[i])
		}
	}
	for _, i := range at {
		if out[i].Outcome == SoldOut && !known {
			out[i] = Decision{Outcome: Unknown, lane: l, record: batch[i].record}
		}
	}
	return out
}

func (g *Gate) take(ctx context.Context, l lane, lent int, batch []*waiting) ([]int, error) {
	args := make([]any, 0, 2+3*len(batch))
	args = append(args, lent, g.Keep.Milliseconds())
	for _, w := range batch {
		args = append(args, w.id, w.token, w.size)
	}
	answer, err := g.ask(ctx, takeUnits, l.keys(), args...)
	if err != nil {
		return nil, err
	}
	says := numbers(answer)
	if len(says) != len(batch) {
		return nil, errNoCount
	}
	return says, nil
}

// borrow asks the other shards, the next one first. known: each of them had a count.
func (g *Gate) borrow(ctx context.Context, l lane, missing int) (lent int, known bool) {
	known = true
	for n := 1; n < g.Shards && lent < missing; n++ {
		from := l
		from.shard = (l.shard + n) % g.Shards
		answer, err := g.ask(ctx, lend, from.keys()[:1], missing-lent)
		got, ok := answer.(int64)
		if err != nil || !ok || got < 0 {
			known = false
			continue
		}
		lent += int(got)
	}
	return lent, known
}

func said(l lane, w *waiting, says int) Decision {
	switch says {
	case saysTook:
		return Decision{Outcome: Admitted, lane: l, record: w.record}
	case saysAgain:
		return Decision{Outcome: Again}
	}
	return Decision{Outcome: SoldOut, Left: says}
}

func numbers(answer any) []int {
	list, _ := answer.([]any)
	out := make([]int, 0, len(list))
	for _, v := range list {
		n, ok := v.(int64)
		if !ok {
			return nil
		}
		out = append(out, int(n))
	}
	return out
}
