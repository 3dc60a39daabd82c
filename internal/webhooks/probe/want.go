package probe

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// attempt reads the next row of the ledger, and finds its place by the row before.
func (c *cases) attempt(cells []string) (err error) {
	if len(cells) != 6 && len(cells) != 7 || cells[0] == "" || cells[1] == "" || c.attempts[cells[0]] != nil {
		return fmt.Errorf("%q is no attempt, or stands there twice", cells)
	}
	a := &attempt{id: cells[0], endpoint: cells[1]}
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
	a.seq = before.seq + 1
	finish := big.NewInt(before.finish)
	a.waited = new(big.Int).Sub(big.NewInt(a.start), finish)
	wait, gap := new(big.Int).Mul(big.NewInt(e.base), c.power(a.no-1)), big.NewInt(e.gap)
	if wait.Cmp(gap) > 0 {
		wait = gap
	}
	a.earliest = wait.Add(wait, finish)
	a.earliest.Add(a.earliest, big.NewInt(c.env["ADMIT_SLACK_S"]))
}

// power is FACTOR^exponent; what is 2^64 or more is above every gap, and need not
// be known any better.
func (c *cases) power(exponent int64) *big.Int {
	factor := c.env["BACKOFF_FACTOR"]
	if factor < 2 {
		exponent = min(exponent, 1)
	}
	return new(big.Int).Exp(big.NewInt(factor), big.NewInt(min(exponent, 64)), nil)
}

func (a *attempt) delta() *big.Int {
	delta := big.NewInt(a.start)
	if a.earliest != nil {
		delta.Sub(delta, a.earliest)
	}
	return delta
}

func (a *attempt) tooEarly() bool { return a.delta().Sign() < 0 }

// row is what the plan has to say of an attempt.
func (a *attempt) row() map[string]any {
	earliest, delta, verdict := "0", a.delta(), "ok"
	if a.earliest != nil {
		earliest = a.earliest.String()
	}
	if delta.Sign() < 0 {
		verdict = "too_early"
	}
	return map[string]any{
		"attempt_id": a.id, "endpoint_id": a.endpoint, "verdict": verdict,
		"earliest_ts": json.Number(earliest), "scheduled_delta_s": json.Number(delta.String()),
	}
}

// sums are all of the report but its plan.
func (c *cases) sums() map[string]any {
	early, most, perEndpoint, backoff := 0, int64(0), map[string]int64{}, new(big.Int)
	for _, a := range c.planned {
		if a.waited != nil {
			backoff.Add(backoff, a.waited)
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
