package admission

import (
	"math"
	"time"
)

// served is how many people are let in, of those whom the rate would have let in,
// while more stand at the doors than it needs and the stock would do for them. It is
// all of them, unless what is written for each is slow to be written: a refill whose
// reply came late stands for less time (see flow), and the door holds one step's
// credit, however late somebody comes to take it.
//
// People wait by what they see: with the rate alone they would be told half of the
// wait that a slow store makes of it.
type served struct {
	at          time.Time // of the last step
	taken       int64
	people, due float64 // let in, and by the rate; what is older weighs less
}

const (
	servedMemory = 10 * time.Second // or what the rate needs for servedSample
	servedSample = 50               // people
	// servedLess is below which share of the rate fewer are let in than that: above
	// it a wait is told well enough.
	servedLess = 0.9
)

// see takes in a step. stood says that more people than the rate needs stood at the
// doors since the last one, and that nothing but the rate kept them.
func (s *served) see(now time.Time, taken int64, rate float64, stood bool) {
	elapsed, people, first := max(0, now.Sub(s.at)), taken-s.taken, s.at.IsZero()
	s.at, s.taken = now, taken
	if first || rate <= 0 {
		s.people, s.due = 0, 0
		return
	}
	keep := math.Exp(-elapsed.Seconds() / memory(rate))
	s.people, s.due = s.people*keep, s.due*keep
	if stood {
		s.people, s.due = s.people+float64(people), s.due+rate*elapsed.Seconds()
	}
}

// goOn takes over what an earlier holder saw.
func (s *served) goOn(f Figures, now time.Time, taken int64) {
	if f.By == ByStore {
		some := memory(f.Rate) / 2
		*s = served{at: now, taken: taken, people: some * f.Pace, due: some * f.Rate}
	}
}

// memory is for how long is remembered, in seconds.
func memory(rate float64) float64 {
	return max(servedMemory.Seconds(), servedSample/rate)
}

// pace is how many people a second are let in. 0: as many as the rate says, or
// nobody knows.
func (s *served) pace(rate float64) float64 {
	if s.due < rate*memory(rate)/4 || s.people >= servedLess*s.due {
		return 0
	}
	return rate * s.people / s.due
}

// serves takes in how many were let in, and says so where the store lets in fewer
// than the rate.
func (r *Release) serves(now time.Time, door Door, atDoor int64) {
	// Reports of who stands at doors are a second old. The front keeps the rate and
	// doorSpare there, one fewer whenever somebody has gone in: a bound as high would
	// leave out the very steps that let people in, and call a sound store slow.
	enough := r.rate + doorSpare/2
	stood := r.state.lets() && float64(door.Budget) >= enough && float64(atDoor) >= enough
	r.served.see(now, r.taken, r.rate, stood)
	if r.served.pace(r.rate) > 0 {
		r.by = ByStore
	}
}

// slowest is how many people a second come in where that is fewer than the rate. 0:
// it is not.
func (r *Release) slowest() float64 {
	capped, served := r.cappedPace(), r.served.pace(r.rate)
	if capped > 0 && served > 0 {
		return min(capped, served)
	}
	return max(capped, served)
}
