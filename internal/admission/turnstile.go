package admission

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// HeldAtOnce is how many places may stand at one line's door in one replica;
// more are told to come again.
const HeldAtOnce = 20_000

const (
	// comeBack is how long somebody who was answered and is to come again still
	// stands at the door: nobody behind is let in instead.
	comeBack = 1500 * time.Millisecond
	// restFor is how long nobody is let in here after a fault, so that a replica
	// that cannot finish burns few credits.
	restFor = time.Second
)

// turnstile is one replica's door of one line. It holds requests for passes and
// lets the lowest numbers in as credit comes. A place stands here once, however
// many requests ask for it, and gets one answer.
type turnstile struct {
	line *Line

	mu     sync.Mutex
	queue  Queue              // the main lane
	grace  Queue              // latecomers
	asks   map[int64]*ask     // by number: in a queue, or chosen
	absent map[int64]absentee // answered, and expected again
	rest   time.Time          // nobody is let in before

	writings writings

	taken time.Time           // the last time that anybody was let in here
	mine  []int64             // the takes that came here lately, ascending
	letIn map[int64]time.Time // and the places that they were for

	calls   calls
	stood   map[int64]stood // by number
	allow   allowance
	counted int64 // takes that it was reckoned with
	graced  int64 // takes for latecomers here, ever

	rivals       []int64          // who stands at the other replicas' doors, as last heard
	rivalsOpen   []int64          // of these, at doors that let somebody in: credit is left to them
	rivalsLate   []int64          // latecomers among them all, ascending
	rivalsProve  []int64          // who came there in time and has something to prove, ascending
	rivalsTaken  int64            // people let in when they said so
	rivalsGraced map[string]int64 // latecomers that each replica let in, ever

	wake    chan struct{}
	closing chan struct{} // closed when the replica holds no more
	shut    sync.Once
	slots   chan struct{} // passes being written
	issuing sync.WaitGroup
}

// absentee is a place that was answered a moment ago, as it was then.
type absentee struct {
	place Place
	late  bool
	until time.Time
}

// ask is a place at the door.
type ask struct {
	place   Place
	late    bool          // stands in the grace lane
	holds   int           // requests that wait for it
	settled chan struct{} // not nil: a credit is being taken for it; closed when that is known
	done    chan struct{} // closed when there is an answer:
	pass    Place         // as the line has it
	text    string        // "": no pass can be handed out now
	told    Pass

	sentAway bool // by lower numbers, from a full door
}

func newTurnstile(l *Line) *turnstile {
	return &turnstile{
		line: l, asks: map[int64]*ask{}, absent: map[int64]absentee{}, stood: map[int64]stood{}, allow: 1, rivalsGraced: map[string]int64{}, letIn: map[int64]time.Time{},
		wake: make(chan struct{}, 1), closing: make(chan struct{}), slots: make(chan struct{}, mostTaken),
	}
}

// hold lets a request stand at the door until there is an answer, or it is
// time to come again. While a credit is being taken for its place, it waits.
func (t *turnstile) hold(ctx context.Context, place Place) (Answer, error) {
	a, err := t.enter(place)
	if err != nil {
		return Answer{}, err
	}
	over := time.NewTimer(t.line.cfg.Hold)
	defer over.Stop()
	for waits := true; waits; {
		select {
		case <-a.done:
		case <-t.closing:
		case <-ctx.Done():
		case <-over.C:
			if t.isNext(a) {
				over.Reset(onItsWay)
				continue
			}
		}
		waits = false
	}
	for {
		select {
		case <-a.done:
			return t.line.outcome(a), nil
		default:
		}
		settled := t.letGo(a, ctx.Err() != nil)
		if settled == nil {
			answer := t.line.notYet(place.Number, ViewCalled)
			answer.Late = a.late
			return answer, ctx.Err()
		}
		select {
		case <-settled:
		case <-ctx.Done():
		}
	}
}

// isNext reports whether the place will be let in so soon that sending it away
// now would keep everybody behind it waiting for its return.
func (t *turnstile) isNext(a *ask) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	soon := 2 + int(t.line.Sale().Rate*2*onItsWay.Seconds())
	next := t.queue.Lowest(soon)
	return time.Since(t.taken) < onItsWay && len(next) > 0 && !a.late && a.place.Number <= next[len(next)-1]
}

// enter puts the place into the queue, or joins the requests that wait for it.
func (t *turnstile) enter(place Place) (*ask, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.asks[place.Number]
	if a == nil {
		if len(t.asks) >= t.line.cfg.Held && !t.makeRoom(place.Number) {
			return nil, ErrBusy
		}
		a = &ask{place: place, late: t.isLate(place, time.Now()), done: make(chan struct{})}
		t.asks[place.Number] = a
		t.laneOf(a).Hold(place.Number, time.Time{})
		delete(t.absent, place.Number)
		t.line.note(came, noted{id: place.Number, at: time.Now()})
		signal(t.wake)
	}
	a.holds++
	return a, nil
}

// makeRoom sends the highest number away from a full door, if it is behind this one:
// whoever comes last to a full door is not passed over for it.
func (t *turnstile) makeRoom(number int64) bool {
	last, some := t.queue.Last()
	if !some || last <= number {
		return false
	}
	a := t.asks[last]
	t.drop(a, true)
	a.sentAway = true
	close(a.done)
	return true
}

// knows is the ticket's place if it stood here a moment ago, waiting. Should it
// have been let in or left elsewhere since, the store says so at the pass.
func (t *turnstile) knows(k Ticket) (Place, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.asks[k.Number]; a != nil {
		return a.place, a.place.Holder == k.Holder()
	}
	a := t.absent[k.Number]
	return a.place, time.Now().Before(a.until) && a.place.Holder == k.Holder()
}

// letGo ends one request's hold; its place leaves the door with the last. While
// a credit is being taken for the place, only who gave up is let go: the others
// wait for the channel that comes back, and see.
func (t *turnstile) letGo(a *ask, gaveUp bool) (settled <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.settled != nil && !gaveUp {
		return a.settled
	}
	a.holds--
	if a.holds == 0 && a.settled == nil {
		t.drop(a, !gaveUp)
	}
	return nil
}

func (t *turnstile) laneOf(a *ask) *Queue {
	if a.late {
		return &t.grace
	}
	return &t.queue
}

// drop takes a place from the door that no request waits for. back says that it
// will ask again.
func (t *turnstile) drop(a *ask, back bool) {
	now := time.Now()
	t.laneOf(a).Drop(a.place.Number)
	delete(t.asks, a.place.Number)
	t.stood[a.place.Number] = stood{late: a.late, until: now.Add(stoodFor)}
	if back {
		t.absent[a.place.Number] = absentee{a.place, a.late, now.Add(comeBack)}
	}
}

// left answers the requests of a place that was given up. If a credit is being
// taken for it, the store decides which came first.
func (t *turnstile) left(number int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.absent, number)
	a := t.asks[number]
	if a == nil || a.settled != nil {
		return
	}
	t.drop(a, false)
	a.pass = Place{State: Left}
	close(a.done)
}

// atDoor is who stands here now, ascending: held, or to come again at once. late
// are the latecomers among them; graced, how many of these were ever let in here.
func (t *turnstile) atDoor(now time.Time) (numbers, late []int64, graced int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	numbers, late = t.queue.Lowest(t.queue.Len()), t.grace.Lowest(t.grace.Len())
	numbers = append(numbers, late...)
	for n, a := range t.absent {
		if now.After(a.until) {
			delete(t.absent, n)
			continue
		}
		numbers = append(numbers, n)
		if a.late {
			late = append(late, n)
		}
	}
	slices.Sort(numbers)
	slices.Sort(late)
	return numbers, late, t.graced
}

// close answers everybody who is held and holds nobody any more.
func (t *turnstile) close() { t.shut.Do(func() { close(t.closing) }) }

func (t *turnstile) drained() bool {
	select {
	case <-t.closing:
		return true
	default:
		return false
	}
}

// run serves the door, while somebody stands at it, a little more often than
// credit comes. The pause differs, so that of two replicas none is always first.
// It runs beside what the store takes: added to that, it would let the door's
// credit run over, which holds one step's.
func (t *turnstile) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		for begun := time.Now(); t.serve(ctx) && pause(ctx, Tick/2+rand.N(Tick/4)-time.Since(begun)) == nil; begun = time.Now() {
		}
	}
}

// serve lets in whom the credit allows, lowest numbers first, with one take.
// False: nobody is held.
func (t *turnstile) serve(ctx context.Context) bool {
	now := time.Now()
	if t.resting(now) || !t.line.Sale().takes(now) {
		return t.held() > 0
	}
	if t.settle(ctx, now); t.most(time.Now()) == 0 {
		return t.held() > 0
	}
	door, err := t.line.door.within(ctx, Tick+Tick/4)
	if err != nil {
		t.fault("door", err)
		return t.held() > 0
	}
	chosen := t.choose(door, now)
	for tries := 0; len(chosen) > 0 && tries < 2; tries++ {
		door, ok, err := t.take(ctx, int64(len(chosen)))
		if err != nil { // used by nobody, if at all
			t.fault("take", err)
			break
		}
		if ok {
			t.assign(ctx, chosen, door)
			return t.held() > 0
		}
		fewer := min(int(door.credits()), len(chosen))
		t.unchoose(chosen[fewer:])
		chosen = chosen[:fewer]
	}
	t.unchoose(chosen)
	return t.held() > 0
}

func (t *turnstile) held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queue.Len() + t.grace.Len()
}

func (t *turnstile) resting(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.rest)
}

// fault counts what failed, and lets nobody in for a while.
func (t *turnstile) fault(what string, err error) {
	t.line.fault(what, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = time.Now().Add(restFor)
}
