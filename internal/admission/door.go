package admission

import "time"

// Door is the one item of an event that everybody contends for: the lease, the
// front and the credit. Its transitions are pure and stand here once: the
// embedded store applies them in a transaction, DynamoDB states them as
// conditions, the virtual-clock tests run them as they are.
type Door struct {
	Event string
	Epoch int64

	// The lease. A contender that has seen Term and Beat stand still for a
	// whole lease, on its own monotonic clock, may take over.
	Owner string // replica that releases; "" before the first
	Term  int64  // raised by each take-over
	Beat  int64  // raised by each refill

	Front   int64 // places below it are called; never falls
	Credit  int64 // thousandths of a person that may be let in now
	Budget  int64 // people that may be let in before the stock would not do
	Taken   int64 // people let in; also the number of the last take
	Stopped bool  // nobody is let in, whatever the credit

	// At is when the holder decided the last refill, by its clock. Takes until the
	// next one are counted then: the holder's clock alone says how fast credit ran
	// in, and the store in which order it was taken. By their own clocks, or when
	// they asked, takers of several replicas would be found in windows in which
	// nobody let them in.
	At time.Time

	// Doc is what the holder publishes about the sale, for all replicas.
	Doc []byte
}

// Milli is one person in Credit's unit: a fraction is never lost (0.4/s lets
// somebody in every 2.5 s).
const Milli = 1000

// Acquire makes owner the holder, if nothing moved since seen. Credit starts
// from nothing: time lost is lost (P8).
func (d Door) Acquire(seen Door, owner string) (Door, bool) {
	if d.Epoch != seen.Epoch || d.Term != seen.Term || d.Beat != seen.Beat {
		return d, false
	}
	d.Owner, d.Term, d.Beat, d.Credit = owner, d.Term+1, d.Beat+1, 0
	return d, true
}

// Refill is one step of the holder's: credit ← min(credit + Add, Cap).
type Refill struct {
	Event string
	// The door as the holder last saw it. Beat makes a refill that lands after
	// its time-out void, once the next one has landed.
	Epoch, Term, Beat int64

	Add, Cap int64 // thousandths; Cap 0 empties the door's credit
	Front    int64 // the new front; a lower one than stored changes nothing
	// Budget is a difference, so that takes since the holder looked stay
	// counted.
	Budget  int64
	Stopped bool
	At      time.Time // when it was decided
	Doc     []byte    // nil leaves the stored one
}

// Refill applies r. It fails when the lease is no longer the caller's.
func (d Door) Refill(r Refill) (Door, bool) {
	if d.Epoch != r.Epoch || d.Term != r.Term || d.Beat != r.Beat {
		return d, false
	}
	d.Beat++
	d.Credit = min(d.Credit+r.Add, r.Cap)
	d.Front = max(d.Front, r.Front)
	d.Budget += r.Budget
	d.Stopped, d.At = r.Stopped, r.At
	if r.Doc != nil {
		d.Doc = r.Doc
	}
	return d, true
}

// Take lets k people in: their takes are numbered d.Taken-k+1 … d.Taken of the
// door that comes back.
func (d Door) Take(epoch, k int64) (Door, bool) {
	if d.Epoch != epoch || d.Stopped || d.Credit < k*Milli || d.Budget < k {
		return d, false
	}
	d.Credit -= k * Milli
	d.Budget -= k
	d.Taken += k
	return d, true
}
