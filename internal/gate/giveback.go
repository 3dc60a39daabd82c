package gate

import (
	"context"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// settle writes down what became of attempts. Those that have an order are so for
// ever: their units are Postgres's to count. What others took goes back, once: the
// record is taken out with it, and only the very record that is named.
//
//	KEYS count open done took, then seats
//	ARGV ms to remember, how many have orders, their ids,
//	     then id, record, how many of the seats, of what goes back
var settle = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local keep, have = tonumber(ARGV[1]), tonumber(ARGV[2])
local done, back, units = 0, 0, 0
for i = 3, have + 2 do
  if redis.call('ZREM', KEYS[2], ARGV[i]) == 1 or redis.call('HEXISTS', KEYS[4], ARGV[i]) == 0 then
    redis.call('ZADD', KEYS[3], now, ARGV[i])
    redis.call('HSET', KEYS[4], ARGV[i], '0')
    done = done + 1
  end
end
local at = 5
for i = have + 3, #ARGV, 3 do
  local size, token = string.match(ARGV[i+1], '^(%d+):([^:]*)')
  local n = tonumber(ARGV[i+2])
  local is = redis.call('HGET', KEYS[4], ARGV[i])
  if is and size and string.sub(is, 1, #size + #token + 1) == size .. ':' .. token and redis.call('ZREM', KEYS[2], ARGV[i]) == 1 then
    redis.call('HDEL', KEYS[4], ARGV[i])
    back = back + 1
    units = units + tonumber(size)
    for k = 0, n - 1 do
      if redis.call('GET', KEYS[at+k]) == token then redis.call('DEL', KEYS[at+k]) end
    end
  end
  at = at + n
end
if units > 0 and redis.call('HEXISTS', KEYS[1], 'free') == 1 then
  redis.call('HINCRBY', KEYS[1], 'free', units)
  redis.call('HINCRBY', KEYS[1], 'moves', 1)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - keep, 'LIMIT', 0, 500)) do
  redis.call('ZREM', KEYS[3], id)
  redis.call('HDEL', KEYS[4], id)
end
redis.call('PEXPIRE', KEYS[2], keep)
redis.call('PEXPIRE', KEYS[3], keep)
redis.call('PEXPIRE', KEYS[4], keep)
return {done, back}`)

// returned is what goes back: a record, and the seats that it held.
type returned struct {
	id, text string
	seats    []int64
}

// GiveBack gives back what a decision took, once Postgres has refused the attempt for
// certain. Only what this decision took, and once: an attempt that was let through
// again took nothing. Seats that Postgres says others have stay taken for the rest of
// their hold. A give-back that does not arrive is the next turn's.
func (g *Gate) GiveBack(ctx context.Context, d Decision, others []int64) {
	if d.record.id == "" {
		return
	}
	r := returned{id: d.record.id, text: strconv.Itoa(d.record.size) + ":" + d.record.token}
	for _, s := range d.seats {
		if !slices.Contains(others, s) {
			r.seats = append(r.seats, s)
		}
	}
	_, back, err := g.settle(context.WithoutCancel(ctx), d.lane, nil, []returned{r})
	if err != nil {
		g.metrics.back.WithLabelValues("failed").Inc()
		return
	}
	g.metrics.back.WithLabelValues("refused").Add(float64(back))
}

func (g *Gate) settle(ctx context.Context, l lane, ordered []string, back []returned) (done, gave int, err error) {
	keys, args := l.keys(), []any{g.Keep.Milliseconds(), len(ordered)}
	for _, id := range ordered {
		args = append(args, id)
	}
	for _, r := range back {
		args = append(args, r.id, r.text, len(r.seats))
		for _, s := range r.seats {
			keys = append(keys, l.seat(s))
		}
	}
	answer, err := g.ask(ctx, settle, keys, args...)
	if err != nil {
		return 0, 0, err
	}
	n := numbers(answer)
	if len(n) != 2 {
		return 0, 0, errNoCount
	}
	return n[0], n[1], nil
}
