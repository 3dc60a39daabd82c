package gate

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errNoCount: the lane has none, or Redis answered what no script of ours does.
var errNoCount = errors.New("there is no count")

// takeSeats decides attempts for named seats: each attempt all of its seats or none.
// What a refused one had taken by then is undone in the same script, so that nobody
// ever sees it. An account is counted once in a while: what it asks for more takes
// nothing.
//
//	KEYS open took, then of each its account, and its seats
//	ARGV ms to keep records, ms to hold seats, then id, token, how many seats, which
var takeSeats = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local out, at = {}, 3
for i = 3, #ARGV, 4 do
  local id, token, n = ARGV[i], ARGV[i+1], tonumber(ARGV[i+2])
  local account = KEYS[at]
  at = at + 1
  if redis.call('HEXISTS', KEYS[2], id) == 1 then
    out[#out+1] = -2
  else
    local mine, others = {}, {}
    local counts = redis.call('EXISTS', account) == 0
    for k = 0, n - 1 do
      if not counts then
        if redis.call('EXISTS', KEYS[at+k]) == 1 then others[#others+1] = k end
      elseif redis.call('SET', KEYS[at+k], token, 'NX', 'PX', ARGV[2]) then
        mine[#mine+1] = KEYS[at+k]
      else
        others[#others+1] = k
      end
    end
    if #others == 0 and not counts then
      out[#out+1] = -3
    elseif #others == 0 then
      redis.call('SET', account, '1', 'PX', ARGV[2])
      redis.call('HSET', KEYS[2], id, n .. ':' .. token .. ':' .. ARGV[i+3])
      redis.call('ZADD', KEYS[1], now, id)
      out[#out+1] = -1
    else
      for k = 1, #mine do redis.call('DEL', mine[k]) end
      out[#out+1] = others
    end
  end
  at = at + n
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return out`)

// bySeat decides for named seats. A seat that nobody is known to hold is let through,
// also when Redis has lost who does.
func (g *Gate) bySeat(ctx context.Context, l lane, batch []*waiting) []Decision {
	k := l.keys()
	keys, args := []string{k[1], k[3]}, []any{g.Keep.Milliseconds(), g.Hold.Milliseconds()}
	for _, w := range batch {
		args = append(args, w.id, w.token, len(w.seats), list(w.seats))
		keys = append(keys, l.account(w.id))
		for _, s := range w.seats {
			keys = append(keys, l.seat(s))
		}
	}
	answer, err := g.ask(ctx, takeSeats, keys, args...)
	says, _ := answer.([]any)
	if err != nil || len(says) != len(batch) {
		return doubtful(l, batch, err)
	}
	out := make([]Decision, len(batch))
	for i, w := range batch {
		switch v := says[i].(type) {
		case []any:
			out[i] = Decision{Outcome: Taken}
			for _, k := range numbers(v) {
				out[i].Taken = append(out[i].Taken, w.seats[k])
			}
		default:
			switch out[i] = (Decision{Outcome: Again}); v {
			case int64(saysTook):
				out[i] = Decision{Outcome: Admitted, lane: l, record: w.record, seats: w.seats}
			case int64(saysUncounted):
				out[i] = Decision{Outcome: Uncounted}
			}
		}
	}
	return out
}

// list writes seats down as a record has them.
func list(seats []int64) string {
	text := make([]string, len(seats))
	for i, s := range seats {
		text[i] = strconv.FormatInt(s, 10)
	}
	return strings.Join(text, ",")
}

func seatsOf(text string) (seats []int64) {
	for one := range strings.SplitSeq(text, ",") {
		if s, err := strconv.ParseInt(one, 10, 64); err == nil {
			seats = append(seats, s)
		}
	}
	return seats
}
