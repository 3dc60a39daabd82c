package admission

import (
	"math"
	"slices"
	"time"
)

const (
	mostTaken = 256    // credits in one take
	mostMine  = 20_000 // takes remembered
	letInKept = 4 * time.Second

	// onItsWay is how long an answer, and the next request, may take.
	onItsWay = 400 * time.Millisecond
)

// credits is how many people may be let in by what the door shows.
func (d Door) credits() int64 {
	if d.Stopped {
		return 0
	}
	return max(0, min(d.Credit/Milli, d.Budget))
}

// choose picks whom the credit is for: those of ours among the first of all who
// stand at the doors, in both lanes. Whoever was answered a moment ago and is
// coming again stands there too, and so does who stands at another replica's:
// one credit is left to each of these. As long as the answer may still be on its
// way, nobody at all of the lane goes before the answered one.
// The chosen leave the queue; their requests are not let go any more.
func (t *turnstile) choose(door Door, now time.Time) (chosen []*ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	credits := min(int(door.credits()), t.writings.most(now))
	if credits == 0 {
		return nil
	}
	main, late := t.elsewhere(door, now)
	main.join(t.queue.Lowest(credits))
	late.join(t.grace.Lowest(credits))
	t.saw(door)
	here := func(n int64) bool { return t.asks[n] != nil }
	for _, number := range t.allow.pick(main, late, credits, here) {
		a := t.asks[number]
		if a == nil { // not here
			continue
		}
		a.settled = make(chan struct{})
		chosen = append(chosen, a)
		t.laneOf(a).Drop(number)
	}
	return chosen
}

// elsewhere are the numbers that stand at a door but are not held here, as far
// as this replica knows: answered here a moment ago, or heard of a second ago.
// As many as were let in elsewhere since are left out, the lowest first; of
// latecomers, their share of these.
func (t *turnstile) elsewhere(door Door, now time.Time) (main, late lane) {
	main.until, late.until = math.MaxInt64, math.MaxInt64
	stands := func(n int64, tardy bool) *lane {
		l := &main
		if tardy {
			l = &late
		}
		l.numbers = append(l.numbers, n)
		return l
	}
	for _, n := range t.rivalsOpen {
		if t.asks[n] == nil && t.letIn[n].IsZero() {
			_, tardy := slices.BinarySearch(t.rivalsLate, n)
			stands(n, tardy)
		}
	}
	for n, a := range t.absent {
		if !now.Before(a.until) {
			delete(t.absent, n)
			continue
		}
		if l := stands(n, a.late); a.until.Sub(now) > comeBack-onItsWay {
			l.until = min(l.until, n)
		}
	}
	since, _ := slices.BinarySearch(t.mine, t.rivalsTaken+1)
	letIn := max(0, float64(int(door.Taken-t.rivalsTaken)-(len(t.mine)-since)))
	main.leave(int(letIn))
	late.leave(int(math.Ceil(graceShare * letIn)))
	return main, late
}

// leave takes the k lowest out, once the lane is in order.
func (l *lane) leave(k int) {
	slices.Sort(l.numbers)
	l.numbers = slices.Compact(l.numbers)
	l.numbers = l.numbers[min(k, len(l.numbers)):]
}

// join puts more into the lane.
func (l *lane) join(numbers []int64) {
	l.numbers = append(l.numbers, numbers...)
	slices.Sort(l.numbers)
}

// unchoose puts places back: no credit was to be had. Those whose requests gave
// up meanwhile leave.
func (t *turnstile) unchoose(asks []*ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range asks {
		close(a.settled)
		a.settled = nil
		if a.holds > 0 {
			t.laneOf(a).Hold(a.place.Number, time.Time{})
		} else {
			t.drop(a, false)
		}
	}
}

// hear takes in who stands at the other replicas' doors. Without any, all that
// is let in is let in here.
func (t *turnstile) hear(rs []report, taken int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, beforeLate, beforeProve := t.rivals, t.rivalsLate, t.rivalsProve
	t.rivals, t.rivalsOpen, t.rivalsLate, t.rivalsProve, t.rivalsTaken = nil, nil, nil, nil, taken
	gone := map[int64]bool{}
	for _, r := range rs {
		t.rivals = append(t.rivals, r.atDoor...)
		if !r.shut {
			t.rivalsOpen = append(t.rivalsOpen, r.atDoor...)
		}
		t.rivalsLate = append(t.rivalsLate, r.late...)
		t.rivalsProve = append(t.rivalsProve, r.proving...)
		t.hearGraced(r)
		t.rivalsTaken = min(t.rivalsTaken, r.taken)
		for _, n := range r.letIn {
			gone[n] = true
			delete(t.absent, n)
		}
	}
	slices.Sort(t.rivals)
	slices.Sort(t.rivalsLate)
	slices.Sort(t.rivalsProve)
	t.rivals = slices.DeleteFunc(t.rivals, func(n int64) bool { return gone[n] })
	t.rivalsOpen = slices.DeleteFunc(t.rivalsOpen, func(n int64) bool { return gone[n] })
	now := time.Now()
	t.remember(before, beforeLate, now.Add(stoodFor))
	t.rememberProving(beforeProve, now.Add(provesFor))
}

// remember keeps in which lane those stood who stand at no other door any more:
// their replica may have died, and nobody is late for coming here instead.
func (t *turnstile) remember(stand, late []int64, until time.Time) {
	for _, n := range stand {
		if _, still := slices.BinarySearch(t.rivals, n); !still && t.letIn[n].IsZero() && !t.stood[n].proves {
			_, tardy := slices.BinarySearch(late, n)
			t.stood[n] = stood{late: tardy, until: until}
		}
	}
}

// lately are the places let in here so short a time ago that others may still
// think that they stand at a door, ascending.
func (t *turnstile) lately(now time.Time) (numbers []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, at := range t.letIn {
		if now.Sub(at) > letInKept {
			delete(t.letIn, n)
		} else {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}
