package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// attempt reads the next row of the ledger, and finds its place by the row before.
func (c *cases) attempt(cells []string) (err error) {
	if len(cells) != 6 && len(cells) != 7 || cells[0] == "" || cells[1] == "" || c.attempts[cells[0]] != nil {
		return fmt.Errorf("%q is no attempt, or stands there twice", cells)
	}
	if len(c.room) == 0 {
		c.room = make([]attempt, 4096)
	}
	a := &c.room[0]
	c.room = c.room[1:]
	a.id, a.endpoint = cells[0], cells[1]
	for i, to := range []*int64{&a.no, &a.start, &a.finish} {
		if *to, err = digits(cells[2+i]); err != nil {
			return err
		}
	}
	if a.no == 0 {
		return fmt.Errorf("%q: attempts count from 1", cells)
	}
	if cells[5] != "-" {
		status, err := digits(cells[5])
		if err != nil {
			return err
		}
		a.success = c.env["SUCCESS_MIN"] <= status && status <= c.env["SUCCESS_MAX"]
	}
	c.attempts[a.id] = a
	if e, known := c.endpoints[a.endpoint]; known {
		c.place(a, c.last[a.endpoint], e)
		c.last[a.endpoint] = a
		if e.state == "active" {
			a.planned = true
			c.planned = append(c.planned, a)
		}
	}
	return nil
}

// place says which of its delivery an attempt is, and when it might have begun.
func (c *cases) place(a, before *attempt, e endpoint) {
	a.seq = 1
	if before == nil || before.success || before.seq >= e.most {
		return
	}
	a.seq, a.waited = before.seq+1, a.start-before.finish
	wait, slack := e.wait(c.env["BACKOFF_FACTOR"], a.no), c.env["ADMIT_SLACK_S"]
	if a.earliest = before.finish + wait; a.earliest >= 0 && a.earliest <= math.MaxInt64-slack {
		a.earliest += slack
		return
	}
	a.beyond = new(big.Int).Add(big.NewInt(before.finish), big.NewInt(wait))
	a.beyond.Add(a.beyond, big.NewInt(slack))
}

// wait is base × factor^(no−1), and the gap as soon as it is more.
func (e endpoint) wait(factor, no int64) int64 {
	wait := uint64(e.base)
	switch {
	case factor == 0 && no > 1:
		return 0
	case factor < 2 || wait == 0: // every power is as the first
		no = 1
	}
	for ; no > 1 && wait <= uint64(e.gap); no-- {
		above, product := bits.Mul64(wait, uint64(factor))
		if above > 0 {
			return e.gap
		}
		wait = product
	}
	return int64(min(wait, uint64(e.gap)))
}

func (a *attempt) tooEarly() bool { return a.beyond != nil || a.start < a.earliest }

// times are when it might have begun, and from then to when it did.
func (a *attempt) times() (earliest, delta string) {
	if a.beyond == nil {
		return strconv.FormatInt(a.earliest, 10), strconv.FormatInt(a.start-a.earliest, 10)
	}
	return a.beyond.String(), new(big.Int).Sub(big.NewInt(a.start), a.beyond).String()
}

func (a *attempt) verdict() string {
	if a.tooEarly() {
		return "too_early"
	}
	return "ok"
}

// is says whether what is written down under its id is as it has to be, to the letter.
func (a *attempt) is(w written) bool {
	if a.beyond != nil {
		return false
	}
	var space [24]byte
	return quoted(w.endpoint, a.endpoint) && quoted(w.verdict, a.verdict()) &&
		bytes.Equal(w.earliest, strconv.AppendInt(space[:0], a.earliest, 10)) && bytes.Equal(w.delta, strconv.AppendInt(space[:0], a.start-a.earliest, 10))
}

func quoted(value []byte, is string) bool {
	return len(value) == len(is)+2 && value[0] == '"' && string(value[1:len(value)-1]) == is
}

// row is what the plan has to say of an attempt.
func (a *attempt) row() map[string]any {
	earliest, delta := a.times()
	return map[string]any{
		"attempt_id": a.id, "endpoint_id": a.endpoint, "verdict": a.verdict(),
		"earliest_ts": json.Number(earliest), "scheduled_delta_s": json.Number(delta),
	}
}

// sums are all of the report but its plan.
func (c *cases) sums() map[string]any {
	early, most, perEndpoint, backoff := 0, int64(0), map[string]int64{}, new(big.Int)
	var waited big.Int
	for _, a := range c.planned {
		if a.seq > 1 {
			backoff.Add(backoff, waited.SetInt64(a.waited))
		}
		if a.tooEarly() {
			early++
			perEndpoint[a.endpoint]++
			most = max(most, perEndpoint[a.endpoint])
		}
	}
	tooOften := most > c.env["DEAD_LETTER_AFTER"]
	ids, ends, ended := c.ends()
	return map[string]any{
		"admissible_endpoints": ids,
		"final_state":          ends,
		"over_dead_letter":     tooOften,
		"ok":                   early == 0 && !tooOften,
		"counts": map[string]any{
			"attempts": count(len(c.attempts)), "succeeded": count(ended["succeeded"]),
			"exhausted": count(ended["exhausted"]), "skipped": count(ended["skipped"]),
		},
		"totals": map[string]any{
			"attempts": count(len(c.planned)), "endpoints": count(len(ids)), "too_early": count(early),
			"ok": count(len(c.planned) - early), "backoff_s": json.Number(backoff.String()),
		},
	}
}

// ends are the endpoints that may be sent to, how every endpoint stands, and how
// many stand so.
func (c *cases) ends() (ids []any, ends map[string]any, ended map[string]int) {
	ids, ends, ended = []any{}, map[string]any{}, map[string]int{}
	for id, e := range c.endpoints {
		end := "exhausted"
		if e.state != "active" {
			end = "skipped"
		} else if last := c.last[id]; last != nil && last.success {
			end = "succeeded"
		}
		ends[id] = end
		ended[end]++
		if end != "skipped" {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return ids, ends, ended
}
