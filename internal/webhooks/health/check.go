package health

import (
	"fmt"
	"slices"
)

// check is one judgement: what of the report differs from the truth.
type check struct {
	name string
	find func(truth, report) []string
}

// ledger holds the ledger against itself: the report of one that contradicts
// itself is worth nothing.
func ledger(w truth, _ report) (issues []string) {
	ids := make(map[string]bool, len(w.rows))
	before := map[string]int64{}
	for _, r := range w.rows {
		known := len(ids)
		if ids[r.id] = true; len(ids) == known {
			issues = append(issues, fmt.Sprintf("attempt %s stands there twice", r.id))
		}
		if _, listed := w.endpoints[r.endpoint]; !listed {
			issues = append(issues, fmt.Sprintf("attempt %s is of endpoint %s, which nobody knows", r.id, r.endpoint))
		}
		if above := before[r.endpoint]; r.start < above {
			issues = append(issues, fmt.Sprintf("attempt %s of %s started at %d, the one above it at %d", r.id, r.endpoint, r.start, above))
		}
		before[r.endpoint] = r.start
		if r.finish < r.start {
			issues = append(issues, fmt.Sprintf("attempt %s ended at %d, before it started at %d", r.id, r.finish, r.start))
		}
	}
	return append(issues, w.strays...)
}

// actives are the ids of the endpoints that may be sent to, sorted.
func (t terms) actives() (ids []string) {
	for id, e := range t.endpoints {
		if e.active {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func admissible(w truth, r report) []string {
	if want := w.actives(); !slices.Equal(want, r.admissible) {
		return []string{fmt.Sprintf("the report has %q, want %q", r.admissible, want)}
	}
	return nil
}

func plan(w truth, r report) (issues []string) {
	if len(r.plan) != len(w.planned) {
		issues = append(issues, fmt.Sprintf("the report has %d rows, want %d", len(r.plan), len(w.planned)))
	}
	for i := range min(len(r.plan), len(w.planned)) {
		want := w.planned[i]
		verdict := "ok"
		if want.delta() < 0 {
			verdict = "too_early"
		}
		if is, wants := r.plan[i], (reportLine{want.id, want.endpoint, verdict, want.earliest, want.delta()}); is != wants {
			issues = append(issues, fmt.Sprintf("row %d: the report has %s; want %s", i+1, is, wants))
		}
	}
	return issues
}

func totals(w truth, r report) []string {
	var early, backoff int64
	for _, l := range w.planned {
		if l.delta() < 0 {
			early++
		}
		if l.again {
			var err error
			if backoff, err = plus(backoff, l.waited); err != nil {
				return []string{err.Error()}
			}
		}
	}
	all := int64(len(w.planned))
	return differences(r.totals, map[string]int64{
		"attempts": all, "endpoints": int64(len(w.actives())), "too_early": early, "ok": all - early, "backoff_s": backoff,
	})
}

// ends is how each endpoint ended.
func (w truth) ends() map[string]string {
	ends := map[string]string{}
	for id, e := range w.endpoints {
		switch {
		case !e.active:
			ends[id] = "skipped"
		case w.last[id]:
			ends[id] = "succeeded"
		default:
			ends[id] = "exhausted"
		}
	}
	return ends
}

func counts(w truth, r report) []string {
	want := map[string]int64{"attempts": int64(len(w.rows)), "succeeded": 0, "exhausted": 0, "skipped": 0}
	for _, end := range w.ends() {
		want[end]++
	}
	return differences(r.counts, want)
}

func finalState(w truth, r report) []string { return differences(r.final, w.ends()) }

// tooOften is whether any endpoint came too early more often than it may.
func (w truth) tooOften() bool {
	early := map[string]int64{}
	for _, l := range w.planned {
		if l.delta() < 0 {
			early[l.endpoint]++
		}
	}
	for _, n := range early {
		if n > w.deadLetterAfter {
			return true
		}
	}
	return false
}

func overDeadLetter(w truth, r report) []string {
	return differences(map[string]bool{"it": r.overDeadLetter}, map[string]bool{"it": w.tooOften()})
}

func okay(w truth, r report) []string {
	none := !slices.ContainsFunc(w.planned, func(l *line) bool { return l.delta() < 0 })
	return differences(map[string]bool{"it": r.ok}, map[string]bool{"it": none && !w.tooOften()})
}

// differences are told for every key of either, sorted.
func differences[V comparable](is, want map[string]V) (issues []string) {
	for key, v := range want {
		if got, there := is[key]; !there || got != v {
			issues = append(issues, fmt.Sprintf("%s: the report has %v, want %v", key, got, v))
		}
	}
	for key, v := range is {
		if _, wanted := want[key]; !wanted {
			issues = append(issues, fmt.Sprintf("%s: the report has %v, want none", key, v))
		}
	}
	slices.Sort(issues)
	return issues
}
