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
// compare, take, and write down who took. The last number is what is then free, or
// less than nothing. No count: it answers nothing.
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
out[#out+1] = free
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
// little is nothing left. Nothing is lent for whom it would not suffice: it would be
// missing to whoever asks for less meanwhile. What is lent and then lost with its
// process is found by the next turn.
func (g *Gate) byCount(ctx context.Context, l lane, batch []*waiting) []Decision {
	says, free, err := g.take(ctx, l, 0, batch)
	if err != nil {
		return doubtful(l, batch, err)
	}
	out := make([]Decision, len(batch))
	var short []int
	for i, w := range batch {
		if out[i] = said(l, w, says[i]); out[i].Outcome == SoldOut {
			short = append(short, i)
		}
	}
	if len(short) == 0 || g.Shards == 1 {
		return out
	}
	for try := 0; len(short) > 0; try++ {
		there, known := g.elsewhere(ctx, l)
		if !known || try == tries {
			return unsure(l, batch, short, out)
		}
		fit, missing := fitting(batch, short, free, there, out)
		if short = fit; len(fit) > 0 {
			short, free, err = g.borrowed(ctx, l, missing, batch, fit, out)
		}
		if err != nil {
			return unsure(l, batch, fit, out)
		}
	}
	return out
}

// tries bounds how often it is looked what others have, when somebody is quicker to
// take it: then nobody knows what is left.
const tries = 8

// fitting are those for whom there is enough, in the order in which they came, and
// what this shard lacks for them. The others are told what is left.
func fitting(batch []*waiting, short []int, free, there int, out []Decision) (fit []int, missing int) {
	left := free + there
	missing = -free
	for _, i := range short {
		if size := batch[i].size; size <= left {
			fit, left, missing = append(fit, i), left-size, missing+size
		} else {
			out[i].Left = max(0, left)
		}
	}
	return fit, missing
}

// borrowed decides once more, with what others lend. short are those for whom it is
// not enough any more: somebody was quicker.
func (g *Gate) borrowed(ctx context.Context, l lane, missing int, batch []*waiting, fit []int, out []Decision) (short []int, free int, err error) {
	asked := make([]*waiting, len(fit))
	for j, i := range fit {
		asked[j] = batch[i]
	}
	says, free, err := g.take(ctx, l, g.borrow(ctx, l, missing), asked)
	for j, say := range says {
		i := fit[j]
		if out[i] = said(l, batch[i], say); out[i].Outcome == SoldOut {
			short = append(short, i)
		}
	}
	return short, free, err
}

func unsure(l lane, batch []*waiting, short []int, out []Decision) []Decision {
	for _, i := range short {
		out[i] = Decision{Outcome: Unknown, lane: l, record: batch[i].record}
	}
	return out
}

// take asks one shard. free is what it then has: less than nothing, if a count gave it
// a smaller share than attempts on their way had taken from it.
func (g *Gate) take(ctx context.Context, l lane, lent int, batch []*waiting) (says []int, free int, err error) {
	args := make([]any, 0, 2+3*len(batch))
	args = append(args, lent, g.Keep.Milliseconds())
	for _, w := range batch {
		args = append(args, w.id, w.token, w.size)
	}
	answer, err := g.ask(ctx, takeUnits, l.keys(), args...)
	if err != nil {
		return nil, 0, err
	}
	says = numbers(answer)
	if len(says) != len(batch)+1 {
		return nil, 0, errNoCount
	}
	return says[:len(batch)], says[len(batch)], nil
}

// elsewhere is what the other shards have. known: each of them has a count.
func (g *Gate) elsewhere(ctx context.Context, l lane) (units int, known bool) {
	for n := 1; n < g.Shards; n++ {
		from := l
		from.shard = (l.shard + n) % g.Shards
		answer, err := g.ask(ctx, counted, from.keys()[:1])
		has := numbers(answer)
		if err != nil || len(has) == 0 {
			return 0, false
		}
		units += max(0, has[0])
	}
	return units, true
}

// borrow asks the other shards, the next one first.
func (g *Gate) borrow(ctx context.Context, l lane, missing int) (lent int) {
	for n := 1; n < g.Shards && lent < missing; n++ {
		from := l
		from.shard = (l.shard + n) % g.Shards
		answer, err := g.ask(ctx, lend, from.keys()[:1], missing-lent)
		if got, ok := answer.(int64); err == nil && ok && got > 0 {
			lent += int(got)
		}
	}
	return lent
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
