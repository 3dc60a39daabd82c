package health

import (
	"errors"
	"fmt"
	"slices"
)

// line is what a row should have been.
type line struct {
	*row
	earliest int64
	again    bool  // not the first of its delivery
	waited   int64 // since the one before it, then
}

func (l line) delta() int64 { return l.start - l.earliest }

// truth is what the contract and the ledger come to.
type truth struct {
	terms
	rows    []row
	planned []*line         // of active endpoints, in the ledger's order
	last    map[string]bool // by endpoint with rows: whether the last was a success
	strays  []string        // what contradicts the deliveries that the tables name
}

// workOut puts together what belongs together, takes that apart into deliveries,
// and holds each row of a delivery against the row before it.
func workOut(t terms, rows []row) (truth, error) {
	w := truth{terms: t, rows: rows, last: map[string]bool{}}
	lines := make([]line, len(rows))
	together := map[string][]int{}
	for i := range rows {
		r := &rows[i]
		lines[i].row = r
		if _, known := t.endpoints[r.endpoint]; !known {
			continue
		}
		w.last[r.endpoint] = t.success(r)
		whose := r.endpoint
		if r.delivery != "" {
			whose = r.delivery
		}
		together[whose] = append(together[whose], i)
	}
	for whose, all := range together {
		apart := t.deliveries(lines, all)
		if lines[all[0]].delivery != "" {
			w.strays = append(w.strays, strays(whose, lines, apart)...)
		}
		for _, one := range apart {
			if err := t.schedule(lines, one); err != nil {
				return truth{}, err
			}
		}
	}
	slices.Sort(w.strays)
	w.planned = make([]*line, 0, len(lines))
	for i := range lines {
		if t.endpoints[lines[i].endpoint].active {
			w.planned = append(w.planned, &lines[i])
		}
	}
	return w, nil
}

func (t terms) success(r *row) bool {
	return r.status >= t.leastSuccess && r.status <= t.mostSuccess
}

// deliveries cuts after each success, and after as many as there may be.
func (t terms) deliveries(lines []line, all []int) (apart [][]int) {
	from := 0
	for i, n := range all {
		r := lines[n].row
		if t.success(r) || int64(i-from+1) >= t.endpoints[r.endpoint].most {
			apart = append(apart, all[from:i+1])
			from = i + 1
		}
	}
	if from < len(all) {
		apart = append(apart, all[from:])
	}
	return apart
}

// strays are the attempts of a delivery of the tables that it should not have.
func strays(whose string, lines []line, apart [][]int) (found []string) {
	for part, one := range apart {
		for i, n := range one {
			if part > 0 {
				found = append(found, fmt.Sprintf("attempt %s of delivery %s comes after its end", lines[n].id, whose))
			} else if lines[n].no != int64(i+1) {
				found = append(found, fmt.Sprintf("attempt %s is number %d of delivery %s, want %d", lines[n].id, lines[n].no, whose, i+1))
			}
		}
	}
	return found
}

// schedule says of each attempt of one delivery when it might have begun.
func (t terms) schedule(lines []line, one []int) (err error) {
	for i, n := range one[1:] {
		before, l := lines[one[i]], &lines[n]
		e := t.endpoints[l.endpoint]
		l.again, l.waited = true, l.start-before.finish
		if l.earliest, err = plus(before.finish, e.wait(t.factor, l.no)); err == nil {
			l.earliest, err = plus(l.earliest, t.slack)
		}
		if err != nil {
			return fmt.Errorf("attempt %s: %w", l.id, err)
		}
	}
	return nil
}

// wait is base × factor^(no−1), as long as that is not above the greatest.
func (e endpoint) wait(factor, no int64) int64 {
	wait := e.base
	for n := int64(1); n < no && wait > 0 && factor != 1; n++ {
		if factor > 1 && wait > e.greatest/factor {
			return e.greatest
		}
		wait *= factor
	}
	return min(wait, e.greatest)
}

var errDoesNotFit = errors.New("a time does not fit into 64 bits")

func plus(a, b int64) (int64, error) {
	sum := a + b
	if (a^sum)&(b^sum) < 0 {
		return 0, errDoesNotFit
	}
	return sum, nil
}
