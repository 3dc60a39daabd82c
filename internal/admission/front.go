package admission

import (
	"math"
	"sort"
	"time"
)

const (
	comeWeight = 10 // people that the first guess of the delay counts for
	turnWeight = 20 // places that the first guess of the turn-up counts for
	turnSample = 40 // fewer than these say nothing new
	turnFloor  = 0.05
	doorSpare  = 8 // people at the door beyond what the rate needs

	comeFirst  = 5 * time.Second
	comeLimit  = 60 * time.Second // a longer delay is somebody who had gone
	turnWindow = 300 * time.Second
)

// front knows who was called and who came (R3).
type front struct {
	cohorts []*cohort // by call time, and so by number

	left   map[int64]bool // numbers given up that are not called yet; true: not counted in parted
	known  int64          // of these, how many are not
	parted parted
	last   int64 // every number given up is below it
	unsure int64 // below it nobody knows which places there are

	first time.Time // when the first was called
	turn  float64   // of those called, who come
	seen  int64     // places behind turn

	delays time.Duration
	came   int64
}

// goOn takes over what an earlier holder learnt: the opening's burst is over.
func (f *front) goOn(was Figures, now time.Time) {
	f.first = now.Add(-time.Minute)
	if was.Turn > 0 {
		f.turn, f.seen = was.Turn, was.Called
	}
	f.came = int64(float64(was.Called) * f.turn)
	f.delays = time.Duration(was.Come * float64(f.came) * float64(time.Second))
}

// cohort is the places called within one second.
type cohort struct {
	at       time.Time
	from, to int64
	called   int64 // of these numbers, not known to have left before
	come     int64
	left     int64    // gave up after they were called
	settled  []uint64 // numbers that came or left, by bit
}

// settle says whether this is the first that is heard of the number.
func (c *cohort) settle(number int64) bool {
	i, bit := (number-c.from)/64, uint64(1)<<((number-c.from)%64)
	for int64(len(c.settled)) <= i {
		c.settled = append(c.settled, 0)
	}
	fresh := c.settled[i]&bit == 0
	c.settled[i] |= bit
	return fresh
}

// of is the cohort of a called number, unless it was called long ago.
func (f *front) of(number int64) *cohort {
	i := sort.Search(len(f.cohorts), func(i int) bool { return number < f.cohorts[i].to })
	if i == len(f.cohorts) || number < f.cohorts[i].from {
		return nil
	}
	return f.cohorts[i]
}

func (f *front) comes(number int64, at time.Time) {
	c := f.of(number)
	if c == nil || !c.settle(number) {
		return
	}
	c.come++
	if delay := max(0, at.Sub(c.at)); delay < comeLimit {
		f.delays += delay
		f.came++
	}
}

func (f *front) leaves(number, called int64, at time.Time) {
	if number >= called {
		if _, told := f.left[number]; !told {
			f.give(number, !f.parted.has(number, at))
		}
		return
	}
	if c := f.of(number); c != nil && c.settle(number) {
		c.left++
	}
}

func (f *front) give(number int64, counts bool) {
	f.left[number] = counts
	if counts {
		f.known++
		f.last = max(f.last, number+1)
	}
}

// pass reports whether the number, which is called now, was given up.
func (f *front) pass(number int64) bool {
	counts, gone := f.left[number]
	if counts {
		f.known--
	}
	delete(f.left, number)
	return gone
}

// parted are places that were given up in an earlier holder's time. It counted
// them; which they are it alone knew, and they are taken to lie evenly.
type parted struct {
	places, from, to int64
	at               time.Time // when they were counted
}

// has reports whether the number was counted there. Of those at other replicas'
// in the second before, some were not; they count as waiting until their call.
func (p parted) has(number int64, at time.Time) bool {
	return p.places > 0 && number < p.to && !at.After(p.at)
}

// empty is how many of the places from called on were given up.
func (f *front) empty(called int64) int64 {
	n := f.known
	if p := f.parted; called < p.to {
		n += int64(math.Ceil(float64(p.places) * float64(p.to-called) / float64(p.to-p.from)))
	}
	return n
}

// unsureFrom is up to where nobody knows how many wait. 0: that is known.
func (f *front) unsureFrom(called int64) int64 {
	if called >= f.unsure {
		return 0
	}
	return f.unsure
}

// come is c: the mean time from called to come.
func (f *front) come() time.Duration {
	return (f.delays + comeWeight*comeFirst) / time.Duration(f.came+comeWeight)
}

// patience is A: after it, nobody called is expected any more.
func (f *front) patience() time.Duration { return max(10*time.Second, 2*f.come()) }

// learn renews the share who come, over places called long enough ago.
func (f *front) learn(now time.Time) {
	for len(f.cohorts) > 0 && now.Sub(f.cohorts[0].at) > turnWindow {
		f.cohorts = f.cohorts[1:]
	}
	var called, come int64
	for _, c := range f.cohorts {
		if now.Sub(c.at) > f.patience() {
			called, come = called+c.called, come+c.come
		}
	}
	if called < turnSample && now.Sub(f.first) >= time.Minute {
		return // too few to say: the last value stays
	}
	f.seen = called
	f.turn = max(turnFloor, float64(come+turnWeight/2)/float64(called+turnWeight))
}

// coming is who was called lately and is still expected.
func (f *front) coming(now time.Time) float64 { return f.comingWithin(now, f.patience()) }

// comingWithin is coming, of those who were called within that time.
func (f *front) comingWithin(now time.Time, within time.Duration) float64 {
	var people float64
	for i := len(f.cohorts) - 1; i >= 0 && now.Sub(f.cohorts[i].at) < within; i-- {
		c := f.cohorts[i]
		expect := min(f.turn*float64(c.called), float64(c.called-c.left))
		people += max(0, expect-float64(c.come))
	}
	return people
}

// target is how many should be at the door or on their way: what the rate uses
// until the next called can be here, and no more than the stock will do for.
// Half of it leaves 30 % of the credit unused; twice only lengthens the door.
func (f *front) target(rate float64, budget int64) float64 {
	pace := rate*(f.come()+time.Second).Seconds() + doorSpare
	return min(pace, 1.5*float64(budget)+doorSpare)
}

// call moves the front so that missing more people come, not beyond the tail.
func (f *front) call(now time.Time, from, tail int64, missing, rate float64) int64 {
	if missing <= 0 || from >= tail {
		return from
	}
	places := math.Ceil(missing / f.turn)
	if f.first.IsZero() {
		f.first = now
	}
	if now.Sub(f.first) >= time.Second { // a burst is for the opening only
		places = min(places, math.Ceil(4*rate*tau.Seconds()/f.turn)+1)
	}
	return f.advance(now, from, tail, int64(places))
}

// advance calls so many places that are not known to be empty.
func (f *front) advance(now time.Time, from, tail, places int64) int64 {
	c := f.cohort(now, from)
	to := from
	for ; places > 0 && to < tail; to++ {
		if f.pass(to) {
			c.settle(to)
			continue
		}
		c.called++
		places--
	}
	c.to = to
	return to
}

// cohort is this second's.
func (f *front) cohort(now time.Time, from int64) *cohort {
	if n := len(f.cohorts); n > 0 && f.cohorts[n-1].to == from && now.Sub(f.cohorts[n-1].at) < time.Second {
		return f.cohorts[n-1]
	}
	c := &cohort{at: now, from: from, to: from}
	f.cohorts = append(f.cohorts, c)
	return c
}
