package admission

import (
	"encoding/json"
	"time"
)

// tau is the longest time that one step's credit stands for (R1): what P8's
// 0.1 s is made of. The holder steps every Tick, a little faster, so that a
// late timer loses nothing.
const (
	tau  = 50 * time.Millisecond
	Tick = 40 * time.Millisecond
	// grain is how finely the time of a take is written.
	grain = time.Millisecond
)

// CallAhead is how long before the opening the first places are called; HoldFor
// is how long a request is held at the door before it is answered and comes
// again (R2).
const (
	CallAhead = 10 * time.Second
	HoldFor   = 2 * time.Second
)

// publishEvery is how old the published figures get while nothing changes.
const publishEvery = time.Second

// Release decides, for one event, who is called and how many may be let in.
// It is the memory of whoever holds the lease; nothing in it needs to survive,
// for a successor starts from the Door. It reads no clock and asks nobody: the
// same facts and times give the same decisions. It is for one goroutine.
//
// Facts come from all replicas: late, out of order, and more than once. Each
// counts once, under its number or take.
//
// Whom to let in is not decided here: each replica picks from its door (lanes).
type Release struct {
	sale Sale
	now  time.Time // of the last step
	at   time.Time // and as it is written down

	flow   flow
	front  front
	drawn  bool  // the lobby was
	late   int64 // of those at the doors, who stand in the grace lane
	stuck  int64 // of the others, who stand at a door that is shut
	learnt learnt
	stock  stock
	dry    dry

	capacity capacity
	paying   Paying
	rate     float64 // in force whenever people are let in, at the last step
	by       Limit   // what bounds it, or how many come in at all

	within *Within
	stays  stays
	served served
	space  int64 // room by the organiser's cap, at the last step

	passes map[int64]*pass // by take
	inside []*pass         // those that had not ended at the last step
	base   int64           // takes up to it are an earlier holder's
	taken  int64           // takes seen in the door
	people float64         // I, at the last step

	called   int64 // the front as last decided
	claimers time.Time

	before Figures // an earlier holder's last

	state  SaleState
	reason Reason
	wave   int64
	minute minute

	refreshed, forgot, published time.Time
}

// NewRelease starts a holder's memory, right after Acquire returned door.
// Learnt figures go on from door.Doc. Of people let in before, it knows only
// those that it is told of: before the first Step, tell it every pass that has
// not run out (LetIn), what these bought (Claimed), and when they last showed
// life (Alive), or it lets others in instead.
func NewRelease(sale Sale, door Door, now time.Time) *Release {
	r := &Release{
		sale: sale, now: now,
		front:  front{left: map[int64]bool{}, turn: 0.5},
		passes: map[int64]*pass{},
		base:   door.Taken, taken: door.Taken, called: door.Front, wave: 1,
	}
	f, ok := Published(door)
	if !ok || door.Epoch != sale.Epoch {
		return r
	}
	r.front.unsure = f.Unsure
	if f.At != 0 {
		r.goOn(f, now)
	}
	return r
}

// goOn takes over what an earlier holder learnt and said.
func (r *Release) goOn(f Figures, now time.Time) {
	r.wave = max(1, f.Wave)
	r.dry.exhausted = f.State == Exhausted
	r.before = f
	r.capacity.goOn(f, now)
	r.served.goOn(f, now, r.taken)
	r.front.parted = parted{places: f.Left, from: r.called, to: f.LeftTo, at: time.UnixMilli(f.At)}
	r.front.last = f.LeftTo
	if r.called > 0 {
		r.front.goOn(f, now)
	}
}

// Set takes the organiser's settings. Another epoch forgets everything.
func (r *Release) Set(sale Sale) {
	if sale.Epoch != r.sale.Epoch {
		*r = *NewRelease(sale, Door{Event: sale.Event, Epoch: sale.Epoch}, r.now)
	}
	r.sale = sale
}

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
	r.look(now, door)
	share, tickets := r.guess()
	r.refresh(now, share)
	r.people = r.count(now, share)
	r.rate, r.by = r.pace(share)
	r.serves(now, door, atDoor-r.late-r.stuck)
	expected := r.stock.expected()
	budget := budget(expected, r.people, share, tickets, r.sale.Slack)
	calls := budget
	if room, capped := r.room(door); capped {
		r.space, calls = room, r.toCall(budget, room)
		budget = min(budget, room)
		if r.bounds(room) {
			r.by = ByInside
		}
	}

	r.follow(now, door, expected)
	if r.calls(now) {
		r.call(now, tail, atDoor-r.late-r.stuck, calls)
	}
	refill := Refill{
		Event: door.Event, Epoch: door.Epoch, Term: door.Term, Beat: door.Beat,
		Front: r.called, Budget: budget - door.Budget, Stopped: !r.state.lets(), At: r.at.UTC().Truncate(grain),
	}
	if refill.Stopped {
		r.flow.stop() // and what the door holds is emptied: Cap is 0
	} else {
		refill.Add, refill.Cap = r.flow.next(now, door, r.rate)
	}
	f := r.figures(now, tail, atDoor)
	refill.Doc = r.publish(now, f)
	return Decision{refill, f}
}

// look takes in what the door shows: whoever took a credit is inside, whether
// a replica has told us or not.
func (r *Release) look(now time.Time, door Door) {
	// A wall clock that is set back would have all who were let in since come at once.
	r.at = later(now, r.at.Add(now.Sub(r.now)))
	r.now = now
	// Nothing is known of the future, or it would never get old.
	r.stock.At, r.claimers, r.sale.ReadAt = earlier(r.stock.At, now), earlier(r.claimers, now), earlier(r.sale.ReadAt, now)
	r.paying.At, r.paying.Failed = earlier(r.paying.At, now), earlier(r.paying.Failed, now)
	r.capacity.notAfter(now)
	if r.paying.unanswered(now) && r.sale.paced() {
		r.capacity.lower(rateFloor*r.sale.Rate, ByPayments, time.Time{})
	}
	for r.taken < door.Taken {
		r.taken++
		r.find(r.taken, now)
	}
	for ; r.called < door.Front; r.called++ { // a refill of an earlier holder's landed late
		r.front.pass(r.called)
	}
	r.minute.note(now, r.taken)
	r.front.learn(now)
}

// follow moves the sale's state.
func (r *Release) follow(now time.Time, door Door, expected float64) {
	known := now.Sub(r.stock.At) <= stockFresh && !now.Before(r.sale.OpensAt)
	if known && r.dry.watch(now, r.stock.Free, expected) {
		r.wave++
	}
	was := r.state
	r.state, r.reason = r.judge(now, door)
	if r.state != was {
		r.published = time.Time{} // told at once
	}
}

// call moves the front (R3). Latecomers at the door are not waited for, and
// not counted on; nor are those at a door that is shut.
func (r *Release) call(now time.Time, tail, atDoor, budget int64) {
	if r.stock.Free == 0 && r.stock.Pending == 0 {
		return // nothing will ever come back
	}
	missing := r.front.target(r.rate, budget) - float64(atDoor) - r.front.coming(now)
	r.called = r.front.call(now, r.called, tail, missing, r.rate)
}

// publish is the document to store with this step, if any.
func (r *Release) publish(now time.Time, f Figures) []byte {
	if now.Sub(r.published) < publishEvery {
		return nil
	}
	doc, err := json.Marshal(f)
	if err != nil {
		return nil // what cannot be told is not told; the figures are finite
	}
	r.published = now
	return doc
}
