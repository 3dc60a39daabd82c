package admission

import (
	"slices"
	"sort"
	"time"
)

// The grace lane (R10). A called place that did not come within the call window
// is a latecomer. It keeps its place and may still come; its number is then
// lower than most, and a tab that wakes hundreds of latecomers at once must not
// push everybody else back. So latecomers get a share of the takes and no more,
// unless nobody else stands at the door. It is a cap and no reservation: a share
// kept for latecomers who do not come would leave the door idle.

const (
	graceShare = 0.2
	// graceSaved is how much of the share is kept for later. Were all of it, an
	// hour without latecomers would be theirs at once.
	graceSaved = time.Second
)

// allowance is how many latecomers may be let in while others stand at the door:
// above 0, one more. It begins at 1; every take of anybody adds graceShare, a
// latecomer's own takes 1 away. So of any n takes at most graceShare · n of
// theirs, and 1, and what was saved, are let in beside others. What they took
// while nobody else was there is not held against them for longer than that.
//
// All takes are counted by the door itself. Those for latecomers are each
// replica's own to the last one, and the others' as reported each second: so of
// the last second a replica knows its own alone, and n replicas may together
// exceed the share by what n − 1 of them took for latecomers in that second,
// which is taken off the next.
type allowance float64

func (a allowance) open() bool { return a > 0 }

// within keeps the allowance from growing or falling beyond what is saved.
func (a allowance) within(rate float64) allowance {
	saved := allowance(1 + graceShare*rate*graceSaved.Seconds())
	return max(-saved, min(a, saved))
}

// lane is who stands in a lane, at the doors of all replicas.
type lane struct {
	numbers []int64 // ascending, each once
	until   int64   // nobody with a higher one: this one's answer may be on its way
}

// pick says whom k credits are for: in each lane the lowest number first, and of
// the two lanes the lower one, as far as the latecomers' share goes. Beyond it
// they wait until the main lane is empty.
//
// Replicas know the share to within what they have not heard of each other. So no
// credit is kept from the main lane for a latecomer who is not here: there it may
// be found that latecomers have had their share, and each door would leave the
// credit to the other.
func (a allowance) pick(main, late lane, k int, here func(int64) bool) (numbers []int64) {
	m, l := main.numbers, late.numbers
	for len(numbers) < k {
		if len(l) > 0 && l[0] > late.until {
			l = nil
		}
		switch {
		case len(l) > 0 && (len(m) == 0 || l[0] < m[0] && a.open() && here(l[0])):
			numbers, l = append(numbers, l[0]), l[1:]
			a--
		case len(m) > 0 && m[0] <= main.until:
			numbers, m = append(numbers, m[0]), m[1:]
		default:
			return numbers
		}
		a += graceShare
	}
	return numbers
}

// calls knows since when places are called, on a clock that stands while nobody
// can be let in: nobody is late for a door that was shut.
//
// Each replica sees the front for itself, to the second. What was called before
// it began counts as called then: it takes latecomers of that time for punctual.
type calls struct {
	marks  []call // by front
	before int64  // the front when this replica began: since when these are called, it cannot tell
	ran    time.Duration
	at     time.Time // when it was seen last
	taken  int64
}

// call is a front, and when it was first seen.
type call struct {
	front int64
	ran   time.Duration
}

// unseen is the longest time between two looks that the clock counts.
const unseen = 2 * time.Second

// see takes in a door, once a second.
func (c *calls) see(door Door, now time.Time, window time.Duration) {
	if lets := !door.Stopped && (door.Budget >= 1 || door.Taken > c.taken); lets && !c.at.IsZero() {
		c.ran += max(0, min(now.Sub(c.at), unseen))
	}
	if c.at.IsZero() {
		c.before = door.Front
	}
	c.at, c.taken = now, door.Taken
	if n := len(c.marks); n == 0 || door.Front > c.marks[n-1].front {
		c.marks = append(c.marks, call{door.Front, c.ran})
	}
	for len(c.marks) > 1 && c.ran-c.marks[1].ran > window { // all below it are late
		c.marks = c.marks[1:]
	}
}

// late says whether the place comes after its call window.
func (c *calls) late(number int64, joined, now time.Time, window time.Duration) bool {
	return window > 0 && c.left(number, joined, now, window) < 0
}

// left is how long the place's call window is open at least, which begins at the
// later of the call and the ticket.
func (c *calls) left(number int64, joined, now time.Time, window time.Duration) time.Duration {
	i := sort.Search(len(c.marks), func(i int) bool { return number < c.marks[i].front })
	if i == len(c.marks) {
		return window
	}
	return max(window-(c.ran-c.marks[i].ran), window-now.Sub(joined))
}

// surely is how long it is open at every replica: of a call before this one began,
// others know better.
func (c *calls) surely(number int64, joined, now time.Time, window time.Duration) time.Duration {
	if number < c.before {
		return max(0, window-now.Sub(joined))
	}
	return max(0, c.left(number, joined, now, window))
}

// stood is a place that stood at this door lately: whoever came in time stays
// punctual, however long it then waits.
type stood struct {
	late   bool
	proves bool // was sent to meet a condition
	until  time.Time
}

const (
	// stoodFor is how long a place may stay away from the door before it comes anew.
	stoodFor = 30 * time.Second
	// provesFor is how long it may take to meet a condition: whoever was sent away
	// by us is not late for it.
	provesFor = 10 * time.Minute
)

// isLate says in which lane the place stands.
func (t *turnstile) isLate(place Place, now time.Time) bool {
	if s, lately := t.stood[place.Number]; lately && now.Before(s.until) {
		return s.late
	}
	if _, there := slices.BinarySearch(t.rivalsLate, place.Number); there {
		return true
	}
	for _, inTime := range [][]int64{t.rivals, t.rivalsProve} {
		if _, there := slices.BinarySearch(inTime, place.Number); there {
			return false // came to another replica's door, in time
		}
	}
	return t.calls.late(place.Number, place.JoinedAt, now, t.line.Sale().CallWindow)
}

// wouldBeLate says whether the place, if it came now, would stand in the grace
// lane; and if not, for how long that stays so at least.
func (t *turnstile) wouldBeLate(place Place) (late bool, left time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if late = t.isLate(place, now); late {
		return late, 0
	}
	return late, t.calls.surely(place.Number, place.JoinedAt, now, t.line.Sale().CallWindow)
}

// look takes in the door once a second, and forgets who has been away for long.
func (t *turnstile) look(door Door, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls.see(door, now, t.line.Sale().CallWindow)
	for n, s := range t.stood {
		if !now.Before(s.until) {
			delete(t.stood, n)
		}
	}
}

// saw counts the takes since the last door into the allowance.
func (t *turnstile) saw(door Door) {
	if t.counted > 0 || door.Taken == 0 {
		t.allow += allowance(graceShare * float64(max(0, door.Taken-t.counted)))
	}
	t.counted = max(t.counted, door.Taken)
	t.allow = t.allow.within(t.line.Sale().Rate)
}

// hearGraced takes off what the other replicas took for latecomers since their
// last report. What one did before it was heard of is past.
func (t *turnstile) hearGraced(r report) {
	if before, known := t.rivalsGraced[r.replica]; known {
		t.allow -= allowance(max(0, r.graced-before))
	}
	t.rivalsGraced[r.replica] = r.graced
}
