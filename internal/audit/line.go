package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

func sortTimes(ts []time.Time) { slices.SortFunc(ts, time.Time.Compare) }

// place is a line of the line's export.
type place struct {
	Event  string    `json:"event"`
	Epoch  int64     `json:"epoch"`
	Holder string    `json:"holder"`
	Index  int64     `json:"index"`
	Number *int64    `json:"number"` // null: still to be drawn
	State  string    `json:"state"`
	Take   int64     `json:"take"`
	Taken  time.Time `json:"taken_at"`
	// Places is on the last entry alone: how many there were before it.
	Places *int64    `json:"places"`
	Draw   *toldDraw `json:"draw"`
}

// number is the place's in the line; negative while it is still to be drawn.
func (p place) number() int64 {
	if p.Number == nil {
		return -1
	}
	return *p.Number
}

// eachLine decodes NDJSON. A line that is not what it should be is a fault: a
// log that cannot be read proves nothing.
func eachLine[T any](r io.Reader, what string, each func(T)) error {
	in := bufio.NewReaderSize(r, 1<<16)
	dec := json.NewDecoder(in)
	for n := 1; ; n++ {
		var v T
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("audit: %s, entry %d: %w", what, n, err)
		}
		each(v)
	}
}

// line judges the line's own rows: a number is one holder's, a holder has one
// place, and who passed did so by the credit that the pass names. It returns
// the passes with those that only the line knows of: a credit that was used and
// never handed out still let somebody in, for the rate.
func (r *Report) line(in io.Reader, event string, passes []pass, drawn *lobby) ([]pass, error) {
	if in == nil && r.NoLine {
		return passes, nil
	}
	if in == nil {
		r.Missing = append(r.Missing, "the line's export (one holder one place, P7 and P9)")
		return passes, nil
	}
	var told *int64
	var foreign string
	holders := map[string]place{}
	numbers := map[int64]string{}
	unique := Check{Promise: "P7", Name: "a number is one holder's"}
	one := Check{Promise: "P9", Name: "a holder has one place"}
	err := eachLine(in, "line export", func(p place) {
		if p.Places != nil {
			told, drawn.told = p.Places, p.Draw
			return
		}
		if p.Event != event {
			foreign = p.Event
		}
		unique.Counted++
		one.Counted++
		if other, ok := numbers[p.Index]; ok && other != p.Holder {
			unique.fail("index %d is held by %.8s and %.8s", p.Index, other, p.Holder)
		}
		if other, ok := holders[p.Holder]; ok {
			one.fail("holder %.8s has the places %d and %d", p.Holder, other.Index, p.Index)
		}
		numbers[p.Index], holders[p.Holder] = p.Holder, p
	})
	switch {
	case err != nil:
		return nil, err
	case foreign != "":
		return nil, fmt.Errorf("audit: the line's export has places of %q", foreign)
	case told == nil || *told != unique.Counted:
		return nil, errors.New("audit: the line's export is not whole: its last entry does not count the places")
	}
	r.add(unique, one, drawn.judge(holders), passedByTake(holders, passes))
	return withUnwritten(passes, holders), nil
}

// withUnwritten adds the places that passed by a take that no pass names.
func withUnwritten(passes []pass, holders map[string]place) []pass {
	type take struct{ epoch, take int64 }
	written := map[take]bool{}
	for _, p := range passes {
		written[take{p.epoch, p.take}] = true
	}
	all := slices.Clone(passes)
	for _, at := range holders {
		if at.Take > 0 && !written[take{at.Epoch, at.Take}] {
			all = append(all, pass{epoch: at.Epoch, take: at.Take, place: at.number(), holder: at.Holder, taken: at.Taken})
		}
	}
	slices.SortFunc(all, func(a, b pass) int { return a.taken.Compare(b.taken) })
	return all
}

// passedByTake holds the line's passes against those that were written down
// before they were handed out. A credit may have gone unused, never twice.
func passedByTake(holders map[string]place, passes []pass) Check {
	c := Check{Promise: "P9", Name: "the line and the passes agree"}
	for _, p := range passes {
		c.Counted++
		at, ok := holders[p.holder]
		switch {
		case !ok:
			c.fail("take %d is of holder %.8s, who has no place", p.take, p.holder)
		case at.Epoch == p.epoch && at.number() == p.place && at.Take != p.take:
			c.fail("place %d passed by take %d, its pass says %d", p.place, at.Take, p.take)
		case at.Epoch == p.epoch && at.Number != nil && *at.Number < p.place:
			c.fail("holder %.8s went from place %d to %d", p.holder, p.place, *at.Number)
		}
	}
	return c
}

func (c *Check) fail(format string, args ...any) {
	c.Violations++
	if len(c.Examples) < 5 {
		c.Examples = append(c.Examples, fmt.Sprintf(format, args...))
	}
}
