package admission

import "time"

// tau is the longest time that one step's credit stands for (R1): what P8's
// 0.1 s is made of. The holder steps every Tick, a little faster, so that a
// late timer loses nothing.
const (
	tau  = 50 * time.Millisecond
	Tick = 40 * time.Millisecond
)

// CallAhead is how long before the opening the first places are called; HoldFor
// is how long a request is held at the door before it is answered and comes
// again (R2).
const (
	CallAhead = 10 * time.Second
	HoldFor   = 2 * time.Second
)

// Release decides, for one event, who is called and how many may be let in.
// It is the memory of whoever holds the lease; nothing in it needs to survive,
// for a successor starts from the Door. It reads no clock and asks nobody: the
// same facts and times give the same decisions. It is for one goroutine.
//
// Facts come from all replicas: late, out of order, and more than once. Each
// counts once, under its number or take.
type Release struct {
	sale Sale
}

// NewRelease starts a holder's memory, right after Acquire returned door.
// Learnt figures go on from door.Doc. Of people let in before, it knows only
// those that it is told of: tell it every pass that has not run out (LetIn,
// then Claimed, Gone) before the first Step, or it lets others in instead.
func NewRelease(sale Sale, door Door, now time.Time) *Release {
	return &Release{sale: sale}
}

// Set takes the organiser's settings. Another epoch forgets everything.
func (r *Release) Set(sale Sale) { r.sale = sale }

// Came: a called place asked for its pass.
func (r *Release) Came(number int64, at time.Time) {}

// GaveUp: the holder of a place left before getting its pass.
func (r *Release) GaveUp(number int64, at time.Time) {}

// LetIn: the take was used for this place's pass, at this time.
func (r *Release) LetIn(take, number int64, at time.Time) {}

// Alive: the pass's page gave a sign of life.
func (r *Release) Alive(take int64, at time.Time) {}

// Claimed: the pass bought so many tickets (they may not be paid yet).
func (r *Release) Claimed(take, tickets int64, at time.Time) {}

// FoundNothing: the pass asked for so many tickets and got none of them.
// Whoever then takes fewer has Claimed besides; it counts as one who wanted.
func (r *Release) FoundNothing(take, tickets int64, at time.Time) {}

// Gone: the pass was given back; it buys nothing more.
func (r *Release) Gone(take int64, at time.Time) {}

// Restock takes a recount. An older one than the last changes nothing.
func (r *Release) Restock(stock Stock) {}

// Claimers: at this time a claimer reported that it can take claims.
func (r *Release) Claimers(at time.Time) {}

// Theta is how far ahead the recount looks for pending orders that may end:
// about the time from a pass to its claim, so that whoever is let in now finds
// what comes back.
func (r *Release) Theta() time.Duration { return 0 }

// Landed: the reply to the last Step's refill came (or a read of the door that
// shows it) at this time. Not told, the next Step assumes that it only just
// landed, and lets less credit flow: time lost is lost.
func (r *Release) Landed(at time.Time) {}

// Decision is one step: what to do with the door, and what to tell.
type Decision struct {
	Refill  Refill
	Figures Figures
}

// Step decides what to do now, given the door as last read or replied, the
// line's tail, and how many people stand at the doors of all replicas. Call it
// every Tick, with a time that has a monotonic reading, after the reply to the
// refill before it: never two refills in flight. After a lost reply, read the
// door first.
func (r *Release) Step(now time.Time, door Door, tail, atDoor int64) Decision {
	return Decision{}
}
