package gate

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// What a script answers for an attempt that it took nothing for.
const (
	saysTook      = -1
	saysAgain     = -2
	saysUncounted = -3
	saysShort     = -4 // too few are here; with enough, it would be uncounted
	// 0 and more: too few, and so many are left.
)

// takeUnits decides attempts for units, in the order in which they came: read,
// compare, take, and write down who took. An account is counted once in a while: what
// it asks for more takes nothing. The last number says whether what was lent
// came: it comes to the same count as it is from, and to no other. No count: it answers
// nothing.
//
// What is asked of the data is asked for all of them at once: a call of Redis for each
// costs more than all the rest.
//
//	KEYS count open done took accounts
//	ARGV units that other shards lent, stamp of their count, ms to keep records, ms that an account is counted once in, then id, token, size, account of each
var takeUnits = redis.NewScript(`
local free = tonumber(redis.call('HGET', KEYS[1], 'free') or nil)
if not free then return {} end
local came = 0
if redis.call('HGET', KEYS[1], 'stamp') == ARGV[2] then
  free, came = free + tonumber(ARGV[1]), 1
end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local ids, accounts = {}, {}
for i = 5, #ARGV, 4 do
  ids[#ids+1] = ARGV[i]
  accounts[#accounts+1] = ARGV[i+3]
end
local had = redis.call('HMGET', KEYS[4], unpack(ids))
local untils = redis.call('ZMSCORE', KEYS[5], unpack(accounts))
local out, names, times, counted, took, seen = {}, {}, {}, {}, {}, {}
for n, id in ipairs(ids) do
  local i = 1 + 4 * n
  local size, account = tonumber(ARGV[i+2]), accounts[n]
  local uncounted = seen[account] or untils[n] and tonumber(untils[n]) > now
  if took[id] or had[n] then
    out[#out+1] = -2
  elseif free < size then
    out[#out+1] = uncounted and -4 or math.max(free, 0)
  elseif uncounted then
    out[#out+1] = -3
  else
    free = free - size
    took[id], seen[account] = true, true
    counted[#counted+1] = now + ARGV[4]
    counted[#counted+1] = account
    names[#names+1] = id
    names[#names+1] = size .. ':' .. ARGV[i+1]
    times[#times+1] = now
    times[#times+1] = id
    out[#out+1] = -1
  end
end
if #names > 0 or came == 1 and ARGV[1] ~= '0' then
  redis.call('HSET', KEYS[1], 'free', free)
  redis.call('HINCRBY', KEYS[1], 'moves', 1)
end
if #names > 0 then
  redis.call('HSET', KEYS[4], unpack(names))
  redis.call('ZADD', KEYS[2], unpack(times))
  redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', now)
  redis.call('ZADD', KEYS[5], unpack(counted))
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  redis.call('PEXPIRE', KEYS[4], ARGV[3])
  redis.call('PEXPIRE', KEYS[5], ARGV[4])
end
out[#out+1] = came
return out`)

// lend takes up to so many units of the count of that stamp out of a shard for another.
// Until it is settled, they are on loan: in no shard's free. -1: it has no such count.
//
//	KEYS count   ARGV units, stamp
var lend = redis.NewScript(`
local has = redis.call('HMGET', KEYS[1], 'free', 'stamp')
if not has[1] or has[2] ~= ARGV[2] then return -1 end
local n = math.max(0, math.min(tonumber(has[1]), tonumber(ARGV[1])))
if n > 0 then
  redis.call('HINCRBY', KEYS[1], 'free', -n)
  redis.call('HINCRBY', KEYS[1], 'loan', n)
  redis.call('HINCRBY', KEYS[1], 'moves', 1)
end
return n`)

// repay ends a loan, once it has come to the other shard; what did not come is the
// shard's own again. A newer count knows of no loan.
//
//	KEYS count   ARGV units, stamp, whether they came
var repay = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'stamp') ~= ARGV[2] then return 0 end
redis.call('HINCRBY', KEYS[1], 'loan', -tonumber(ARGV[1]))
if ARGV[3] == '0' then redis.call('HINCRBY', KEYS[1], 'free', ARGV[1]) end
redis.call('HINCRBY', KEYS[1], 'moves', 1)
return 1`)

// byCount decides for units of a tier. Whoever would get too few from this shard is
// asked for once more, with what the others lend. Nothing is lent for whom it would not
// suffice: it would be missing to whoever asks for less meanwhile. What is lent and then
// lost with its process is found by the next turn.
//
// Units move while they are counted. So who wants more than there is, is refused when
// all shards were looked at twice, and nothing had moved between and nothing was on loan:
// then all of them together had too little at one instant.
func (g *Gate) byCount(ctx context.Context, l lane, batch []*waiting) []Decision {
	says, _, err := g.take(ctx, l, 0, "", batch)
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
	if g.Shards == 1 {
		return out
	}
	var before []share
	for try := 0; len(short) > 0; try++ {
		if try == tries {
			return unsure(l, batch, short, out)
		}
		if try > 1 { // somebody is moving units
			pause(ctx, firstPause<<(try-2))
		}
		now, err := g.look(ctx, l)
		if err != nil {
			return unsure(l, batch, short, out)
		}
		fit, unfit, missing := fitting(l, batch, short, now, out)
		if still(before, now) {
			unfit = nil
		}
		short, before = unfit, now
		if len(fit) > 0 {
			late, err := g.borrowed(ctx, l, now[l.shard].stamp, missing, batch, fit, out)
			if err != nil {
				return unsure(l, batch, append(unfit, fit...), out)
			}
			short = append(short, late...)
			slices.Sort(short)
		}
	}
	return out
}

// tries bounds how often it is looked what there is while others move it, in 64 ms; then
// nobody knows what is left.
const (
	tries      = 10
	firstPause = 250 * time.Microsecond
)

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// share is what a shard has.
type share struct {
	free, loan   int    // loan: what is on its way from here to others
	stamp, moves string // the same: nothing moved
}

// still says whether nothing moved from one look to the next.
func still(before, now []share) bool {
	return slices.Equal(before, now) && !slices.ContainsFunc(now, func(s share) bool { return s.loan != 0 })
}

// look reads what each shard of the lane's tier has.
func (g *Gate) look(ctx context.Context, l lane) ([]share, error) {
	read := make([]*redis.SliceCmd, g.Shards)
	if err := g.within(ctx, func(ctx context.Context) error {
		_, err := g.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for n := range read {
				of := l
				of.shard = n
				read[n] = p.HMGet(ctx, of.keys()[0], "free", "loan", "stamp", "moves")
			}
			return nil
		})
		return err
	}); err != nil {
		return nil, err
	}
	has := make([]share, g.Shards)
	for n, cmd := range read {
		var text [4]string
		for k, v := range cmd.Val() {
			text[k], _ = v.(string)
		}
		var err error
		if has[n].free, err = strconv.Atoi(text[0]); err != nil {
			return nil, errNoCount
		}
		has[n].loan, _ = strconv.Atoi(text[1]) // none was ever lent
		has[n].stamp, has[n].moves = text[2], text[3]
	}
	return has, nil
}

// fitting are those for whom there is enough, in the order in which they came, and
// what this shard lacks for them. The others are told what is left. A shard has less than
// nothing, if a count gave it a smaller share than attempts on their way had taken from it.
func fitting(l lane, batch []*waiting, short []int, has []share, out []Decision) (fit, unfit []int, missing int) {
	left := 0
	for n, s := range has {
		if n == l.shard {
			left, missing = left+s.free, -s.free
		} else {
			left += max(0, s.free)
		}
	}
	for _, i := range short {
		switch size := batch[i].size; {
		case size <= left && batch[i].uncounted:
			out[i] = Decision{Outcome: Uncounted}
		case size <= left:
			fit, left, missing = append(fit, i), left-size, missing+size
		default:
			unfit, out[i].Left = append(unfit, i), max(0, left)
		}
	}
	return fit, unfit, missing
}

// borrowed decides once more, with what others lend. late are those for whom it is
// not enough any more: somebody was quicker.
func (g *Gate) borrowed(ctx context.Context, l lane, stamp string, missing int, batch []*waiting, fit []int, out []Decision) (late []int, err error) {
	asked := make([]*waiting, len(fit))
	for j, i := range fit {
		asked[j] = batch[i]
	}
	loans, lent := g.borrow(ctx, l, stamp, missing)
	says, came, err := g.take(ctx, l, lent, stamp, asked)
	if err != nil {
		return nil, err
	}
	for from, n := range loans {
		g.ask(ctx, repay, from.keys()[:1], n, stamp, came) //nolint:errcheck // the next turn ends it
	}
	for j, say := range says {
		i := fit[j]
		if out[i] = said(l, batch[i], say); out[i].Outcome == SoldOut {
			late = append(late, i)
		}
	}
	return late, nil
}

func unsure(l lane, batch []*waiting, short []int, out []Decision) []Decision {
	for _, i := range short {
		out[i] = Decision{Outcome: Unknown, lane: l, record: batch[i].record}
	}
	return out
}

// take asks one shard. came is 1 if what was lent, of the count of that stamp, came to it.
func (g *Gate) take(ctx context.Context, l lane, lent int, stamp string, batch []*waiting) (says []int, came int, err error) {
	args := make([]any, 0, 4+4*len(batch))
	args = append(args, lent, stamp, g.Keep.Milliseconds(), g.Hold.Milliseconds())
	for _, w := range batch {
		args = append(args, w.id, w.token, w.size, nameOf(w.id).Account)
	}
	answer, err := g.ask(ctx, takeUnits, append(l.keys(), l.accounts()), args...)
	if err != nil {
		return nil, 0, err
	}
	says = numbers(answer)
	if len(says) != len(batch)+1 {
		return nil, 0, errNoCount
	}
	return says[:len(batch)], says[len(batch)], nil
}

// borrow asks the other shards, the next one first.
func (g *Gate) borrow(ctx context.Context, l lane, stamp string, missing int) (loans map[lane]int, lent int) {
	loans = map[lane]int{}
	for n := 1; n < g.Shards && lent < missing; n++ {
		from := l
		from.shard = (l.shard + n) % g.Shards
		answer, err := g.ask(ctx, lend, from.keys()[:1], missing-lent, stamp)
		if got, ok := answer.(int64); err == nil && ok && got > 0 {
			loans[from] = int(got)
			lent += int(got)
		}
	}
	return loans, lent
}

func said(l lane, w *waiting, says int) Decision {
	switch says {
	case saysTook:
		return Decision{Outcome: Admitted, lane: l, record: w.record}
	case saysAgain:
		return Decision{Outcome: Again}
	case saysUncounted:
		return Decision{Outcome: Uncounted}
	case saysShort:
		w.uncounted = true
		return Decision{Outcome: SoldOut}
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
