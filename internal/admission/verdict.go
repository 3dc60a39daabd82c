package admission

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// View is where a place stands, as its holder sees it.
type View string

const (
	ViewLobby   View = "lobby" // its number is still to be drawn
	ViewWaiting View = "waiting"
	ViewCalled  View = "called" // its turn: it may ask for its pass
	ViewPassed  View = "passed" // it has a pass
	ViewOver    View = "over"   // its pass ran out
	ViewLeft    View = "left"
)

// View says where the place stands when the front is there.
func (p Place) View(front int64, now time.Time) View {
	switch {
	case p.State == Left:
		return ViewLeft
	case p.State == Passed && now.Before(p.PassUntil):
		return ViewPassed
	case p.State == Passed:
		return ViewOver
	case p.Number == Undrawn:
		return ViewLobby
	case p.Number < front:
		return ViewCalled
	}
	return ViewWaiting
}

// Ahead is how many places are called before this one is.
func Ahead(number, front int64) int64 { return max(0, number-front) }

// ETA is when a place with so many ahead of it will be called: as likely
// before p50 as after it, and nine times in ten before p90. False: nobody is
// let in, so nobody can say. Where a slow store lets in fewer than the rate, the wait
// is reckoned by these. Where a cap on people inside does, it is reckoned as reached,
// also while it is not yet: while a hall fills, the wait is shorter than told, by no
// more than somebody stays inside.
func (f Figures) ETA(ahead int64, now time.Time) (p50, p90 time.Duration, known bool) {
	if f.Rate <= 0 || f.State != Open && !f.State.Early() {
		return 0, 0, false
	}
	n, turn := float64(ahead), f.Turn
	people := n * turn // ahead × turn / rate, with the rate in force: not the front's own speed (R9)
	rate := f.Rate
	if f.Pace > 0 {
		rate = min(rate, f.Pace)
	}
	// How many of n come is a draw; turn itself is learnt from a sample.
	spread := math.Sqrt(turn * (1 - turn) * (n + n*n/float64(f.Called+turnWeight)))
	opens := max(0, time.UnixMilli(f.Opens).Sub(now)) // nobody is let in before
	return opens + seconds(people/rate), opens + seconds((people+z90*spread)/rate), true
}

const z90 = 1.2816 // standard deviations from the median to the ninth decile

// seconds is a time that may be longer than a Duration can say.
func seconds(s float64) time.Duration { return time.Duration(min(s, 1e9) * float64(time.Second)) }

// How often a page asks: a third of what it still has to wait, so that its
// last guess is good and a long line costs little (R9).
const (
	PollMin    = 5 * time.Second
	PollMax    = 60 * time.Second
	PollShare  = 1.0 / 3
	PollJitter = 0.15
)

// Poll is when a page with so many ahead asks next, before jitter. While
// nobody is let in it asks as if they were, to be there when it goes on; and by
// the rate alone, as pages do.
func (f Figures) Poll(ahead int64, now time.Time) time.Duration {
	f.State, f.Pace = Open, 0
	eta, _, known := f.ETA(ahead, now)
	if !known {
		return PollMax
	}
	return min(max(time.Duration(float64(eta)*PollShare), PollMin), PollMax)
}

// Jitter spreads d by ± 15 %, so that a crowd that asked together does not ask
// together again.
func Jitter(d time.Duration, rng *rand.Rand) time.Duration {
	return time.Duration(float64(d) * (1 + PollJitter*(2*rng.Float64()-1)))
}

// Verdict tells somebody in the line whether waiting is worth it.
type Verdict string

const (
	Likely   Verdict = "likely"   // what is free does for those ahead
	Possible Verdict = "possible" // it does if those who hold seats do not pay
	Unlikely Verdict = "unlikely"
)

// Verdict weighs what the people ahead will want against what there is.
func (f Figures) Verdict(ahead int64, s Stock) Verdict {
	people := float64(f.Inside+f.AtDoor+f.Coming) + f.Turn*float64(ahead)
	demand := f.Share * f.Tickets * people
	switch {
	case demand < float64(s.Free):
		return Likely
	case demand < float64(s.Free+s.Pending):
		return Possible
	}
	return Unlikely
}

// Exceeds says plainly that the queue ahead wants more than there is.
func (f Figures) Exceeds(ahead int64, s Stock) bool {
	return float64(ahead)*f.Tickets > float64(s.Free+s.Pending) ||
		f.Verdict(ahead, s) == Unlikely
}

// farthest is longer than any line.
const farthest = 1 << 40

// Standby is the least number of people ahead of whom Exceeds is true: whoever
// has as many ahead may stay all the same, on standby, and pages say so. False:
// there is stock for any line.
func (f Figures) Standby(s Stock) (ahead int64, some bool) {
	n := sort.Search(farthest, func(n int) bool { return f.Exceeds(int64(n), s) })
	return int64(n), n < farthest
}

// Steady is a verdict as one page shows it: it changes, either way, when two
// documents after each other agree, so that it does not flicker.
type Steady struct {
	Shown, Last Verdict
}

// Next is the page's verdict after one more document.
func (s Steady) Next(v Verdict) Steady {
	if s.Shown == "" || v == s.Last {
		s.Shown = v
	}
	s.Last = v
	return s
}
