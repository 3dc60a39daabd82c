package admission

import (
	"math"
	"time"
)

// flow lets credit run into the door at the rate in force, and no faster when
// refills land late (R1).
//
// P8 leaves 1 + 2·rate·tau beyond rate × w. One and rate·tau of it are what the
// door may hold (Cap). The other rate·tau is for the landings: whichever of
// them fall into a window, they may add rate·tau more than the window's own
// time. A refill decided now lands at once or as late as its reply, so the time
// lent by it counts from its reply on. A grain less is lent than that: the times
// that takes are judged by are written no finer.
type flow struct {
	on    bool
	paid  time.Time // credit was lent for all time before
	full  time.Time // by when what has landed would have run in at the rate
	beat  int64     // the door's, when the last refill was decided
	lent  time.Duration
	reply time.Time
	carry float64 // of a thousandth, so that no fraction is lost
}

// stop lets nothing run; the next start is from nothing.
func (f *flow) stop() { f.on = false }

// next is what to add to the door that was read, and where the credit is cut.
func (f *flow) next(now time.Time, door Door, rate float64) (add, limit int64) {
	f.settle(now, door)
	if !f.on || now.Before(f.paid) { // a start; or the clock went back
		*f = flow{on: true, paid: now, full: now, beat: door.Beat, lent: f.lent}
		return 0, 0
	}
	f.paid = later(f.paid, now.Add(-tau)) // time lost is lost: no catch-up
	elapsed := max(0, min(now.Sub(f.paid), tau-grain-f.full.Sub(now)))
	f.paid = f.paid.Add(elapsed)
	f.lent = max(f.lent, elapsed) // two refills on one beat: one of them is void

	exact := rate*elapsed.Seconds()*Milli + f.carry
	add = int64(exact)
	f.carry = exact - float64(add)
	return add, int64(math.Floor(Milli*(1+rate*tau.Seconds()) - f.carry))
}

// settle counts what landed since the last step. A door that has not moved may
// yet get the last refill, instead of the next one.
func (f *flow) settle(now time.Time, door Door) {
	landed := now
	if !f.reply.IsZero() && f.reply.Before(now) {
		landed = f.reply
	}
	f.reply = time.Time{}
	if door.Beat != f.beat {
		f.full = later(f.full, landed).Add(f.lent)
		f.beat, f.lent = door.Beat, 0
	}
}

// OverPace is by how many people the takes break P8, over all windows: for all
// takes i ≤ j, j − i + 1 ≤ rate × (tj − ti + 0.1 s) + 1.
func OverPace(takes []time.Duration, rate float64) float64 {
	worst, least := 0.0, math.Inf(1)
	for i, t := range takes {
		over := float64(i) - rate*t.Seconds()
		least = min(least, over)
		worst = max(worst, over-least-rate*0.1)
	}
	if worst < 1e-6 { // what float64 leaves of 1e5 people
		return 0
	}
	return worst
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
