// Package plan works out what a ledger of webhook attempts should have been:
// when each attempt might have begun, which came too early, how each endpoint
// stands. docs/PLAN-AUDIT.md has the rules.
//
// Nobody has to believe it: internal/webhooks/health and internal/webhooks/probe
// work all of it out again, by code of their own, and share none with it. Every
// judgement stands alone in the package rule, so that each can be put back to
// what it was when it was wrong, and be caught.
package plan

import (
	"fmt"
	"slices"

	"waitroom/internal/webhooks/plan/rule"
)

// The two verdicts on an attempt, and the three states that an endpoint ends in.
const (
	ok       = "ok"
	tooEarly = "too_early"

	succeeded = "succeeded"
	exhausted = "exhausted"
	skipped   = "skipped"
)

// lane is what is known of a sequence of attempts, of which the next is judged
// by the one before it: an endpoint's in a ledger, a delivery's in the tables.
type lane struct {
	rows   int64 // all of them
	count  int64 // of the delivery that the last row is of
	finish int64 // of the last row
}

// standing is an endpoint with what its attempts came to.
type standing struct {
	Endpoint
	last, ever bool // a success
	tooEarly   int64
}

// Make is the plan of these facts: the same facts, the same plan. Attempts of
// endpoints that nobody knows are counted, and in no plan.
func Make(f Facts) (Report, error) {
	known := make(map[string]*standing, len(f.Endpoints))
	for _, e := range f.Endpoints {
		known[e.ID] = &standing{Endpoint: e}
	}
	lanes := map[string]*lane{}
	var r Report
	for _, a := range f.Attempts {
		e := known[a.Endpoint]
		if e == nil {
			r.unknown(a)
			continue
		}
		if lanes[a.lane()] == nil {
			lanes[a.lane()] = &lane{}
		}
		if err := r.judge(f.Contract, e, lanes[a.lane()], a); err != nil {
			return Report{}, fmt.Errorf("attempt %s: %w", a.ID, err)
		}
	}
	r.sum(f, known)
	return r, nil
}

// judge takes the next attempt of a lane.
func (r *Report) judge(c Contract, e *standing, l *lane, a Attempt) error {
	l.rows++
	begins := rule.Begins(l.count, e.MaxAttempts, a.No)
	if begins {
		l.count = 0
	}
	l.count++
	if a.Delivery != "" && a.No != l.count {
		return fmt.Errorf("is number %d of delivery %s, and by what came before it number %d of its own", a.No, a.Delivery, l.count)
	}
	line := Line{Attempt: a.ID, Endpoint: e.ID, Verdict: ok}
	if l.count > 1 {
		wait := rule.Wait(e.Gap, backoff(e.BackoffBase, c.Factor, rule.Exponent(a.No, l.rows)))
		var err error
		if line.Earliest, err = sum(l.finish, wait, c.Slack); err != nil {
			return err
		}
	}
	line.Delta = a.Start - line.Earliest
	if line.Delta < 0 {
		line.Verdict = tooEarly
	}
	if rule.Dispatchable(e.State) {
		if err := r.plan(e, line, l.count > 1, a.Start-l.finish); err != nil {
			return err
		}
	}
	e.last = rule.Success(a.Status, c.SuccessMin, c.SuccessMax)
	e.ever = e.ever || e.last
	l.count = rule.After(e.last, l.count)
	l.finish = a.Finish
	return nil
}

// plan adds a line; waited is since the attempt before it, if this is another of
// its delivery.
func (r *Report) plan(e *standing, l Line, again bool, waited int64) (err error) {
	r.Plan = append(r.Plan, l)
	if l.Verdict == tooEarly {
		r.Totals.TooEarly++
		e.tooEarly++
	}
	if again {
		r.Totals.Backoff, err = sum(r.Totals.Backoff, waited)
	}
	return err
}

// sum fills in what is known only at the end.
func (r *Report) sum(f Facts, known map[string]*standing) {
	r.Admissible, r.Final = []string{}, make(map[string]string, len(known))
	of, most := map[string]int64{}, int64(0)
	for id, e := range known {
		r.Final[id] = skipped
		if rule.Dispatchable(e.State) {
			r.Admissible = append(r.Admissible, id)
			r.Final[id] = exhausted
			if rule.Final(e.last, e.ever) {
				r.Final[id] = succeeded
			}
		}
		of[r.Final[id]]++
		most = max(most, e.tooEarly)
	}
	slices.Sort(r.Admissible)
	r.Counts = rule.Counts(int64(len(f.Attempts)), of[succeeded], of[exhausted], of[skipped])
	r.Totals.Attempts, r.Totals.Endpoints = rule.Totals(len(r.Plan), len(f.Attempts), len(r.Admissible), len(known))
	r.Totals.OK = int64(r.Totals.Attempts) - r.Totals.TooEarly
	r.OverDeadLetter = rule.OverDeadLetter(most, f.Contract.DeadLetterAfter)
	r.OK = rule.OK(r.Totals.TooEarly, r.OverDeadLetter)
	r.Unit = f.Unit
}
