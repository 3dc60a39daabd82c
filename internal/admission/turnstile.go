package admission

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// HeldAtOnce is how many places may stand at one line's door in one replica;
// more are told to come again.
const HeldAtOnce = 20_000

const (
	mostMine  = 20_000 // takes remembered
	letInKept = 4 * time.Second
	mostTaken = 256 // credits in one take, and passes written at once
	// comeBack is how long somebody who was answered and is to come again still
	// stands at the door: nobody behind is let in instead.
	comeBack = 1500 * time.Millisecond
	// restFor is how long nobody is let in here after a fault, so that a replica
	// that cannot finish burns few credits.
	restFor    = time.Second
	issueLimit = 4 * time.Second
)

// Answer is what somebody who asks for a pass is told.
type Answer struct {
	Position                 // where they stand
	Pass       string        // when View is ViewPassed
	Admitted   Pass          // what the pass says
	RetryAfter time.Duration // when waiting or called: when to ask again
}

// turnstile is one replica's door of one line. It holds requests for passes and
// lets the lowest numbers in as credit comes. A place stands here once, however
// many requests ask for it, and gets one answer.
type turnstile struct {
	line *Line

	mu     sync.Mutex
	queue  Queue
	asks   map[int64]*ask      // by number: in the queue, or chosen
	absent map[int64]time.Time // answered, expected again until then
	rest   time.Time           // nobody is let in before

	mine  []int64             // the takes that came here lately, ascending
	letIn map[int64]time.Time // and the places that they were for

	rivals      []int64 // who stands at the other replicas' doors, as last heard
	rivalsTaken int64   // people let in when they said so

	wake    chan struct{}
	closing chan struct{} // closed when the replica holds no more
	shut    sync.Once
	slots   chan struct{} // passes being written
	issuing sync.WaitGroup
}

// ask is a place at the door.
type ask struct {
	place   Place
	holds   int           // requests that wait for it
	settled chan struct{} // not nil: a credit is being taken for it; closed when that is known
	done    chan struct{} // closed when there is an answer:
	pass    Place         // as the line has it
	text    string        // "": no pass can be handed out now
	told    Pass
}

func newTurnstile(l *Line) *turnstile {
	return &turnstile{
		line: l, asks: map[int64]*ask{}, absent: map[int64]time.Time{}, letIn: map[int64]time.Time{},
		wake: make(chan struct{}, 1), closing: make(chan struct{}), slots: make(chan struct{}, mostTaken),
	}
}

// Pass asks for the pass of a called place. The request is held until the place
// is let in, or for as long as requests are held: then it comes again. A place
// that passed already gets the same pass at once, and uses no credit.
//
// It answers ErrEpoch when the event was reset, ErrBusy at the replica's bound,
// and ctx's error when that ends first; a pass that came of it meanwhile comes
// back when asked again. All doubt is the answer "called, come again".
func (l *Line) Pass(ctx context.Context, t Ticket) (Answer, error) {
	if front := l.front(ctx, t.Number); t.Number >= front {
		return l.notYet(t.Number, ViewWaiting), nil
	}
	place, err := l.place(ctx, t)
	switch {
	case errors.Is(err, ErrEpoch):
		return Answer{}, err
	case err != nil:
		l.fault("place", err)
		return l.notYet(t.Number, ViewCalled), nil
	}
	switch view := place.View(t.Number+1, time.Now()); view {
	case ViewPassed:
		return l.turnstile.again(ctx, place), nil
	case ViewCalled:
		return l.turnstile.hold(ctx, place)
	default:
		return Answer{Position: l.position(t.Number, view)}, nil
	}
}

// front is how far places have been called; read anew when number would have to
// wait by what this replica knows, for the page may know more.
func (l *Line) front(ctx context.Context, number int64) int64 {
	door, _ := l.door.last()
	if number >= door.Front {
		if fresh, err := l.door.within(ctx, 2*Tick); err == nil {
			return fresh.Front
		}
	}
	return door.Front
}

// place is what the store has of the ticket's place. The signed ticket is the
// place: what the store lacks, it says.
func (l *Line) place(ctx context.Context, t Ticket) (Place, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	place, err := l.cfg.Store.Place(ctx, l.event, l.epoch, t.Holder())
	switch {
	case errors.Is(err, ErrNoPlace):
		return Place{Event: l.event, Epoch: l.epoch, Holder: t.Holder(), Number: t.Number, State: Waiting, JoinedAt: t.IssuedAt}, nil
	case err != nil:
		return Place{}, err
	case place.Number != t.Number: // the holder joined again since: this one is over
		place.Number, place.State, place.PassUntil = t.Number, Passed, time.Time{}
	}
	return place, nil
}

// again hands out the pass of a place that has one.
func (t *turnstile) again(ctx context.Context, place Place) Answer {
	text, pass, err := t.line.admit(ctx, place)
	if err != nil {
		t.fault("ledger", err)
		return t.line.notYet(place.Number, ViewCalled)
	}
	t.line.cfg.Metrics.passes.WithLabelValues("again").Inc()
	return t.line.passed(place.Number, text, pass)
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
	select {
	case <-a.done:
	case <-over.C:
	case <-t.closing:
	case <-ctx.Done():
	}
	for {
		select {
		case <-a.done:
			return t.line.outcome(a), nil
		default:
		}
		settled := t.letGo(a, ctx.Err() != nil)
		if settled == nil {
			return t.line.notYet(place.Number, ViewCalled), ctx.Err()
		}
		select {
		case <-settled:
		case <-ctx.Done():
		}
	}
}

// enter puts the place into the queue, or joins the requests that wait for it.
func (t *turnstile) enter(place Place) (*ask, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.asks[place.Number]
	if a == nil {
		if len(t.asks) >= t.line.cfg.Held {
			return nil, ErrBusy
		}
		a = &ask{place: place, done: make(chan struct{})}
		t.asks[place.Number] = a
		t.queue.Hold(place.Number, time.Time{})
		delete(t.absent, place.Number)
		t.line.note(came, noted{id: place.Number, at: time.Now()})
		signal(t.wake)
	}
	a.holds++
	return a, nil
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

// drop takes a place from the door that no request waits for. back says that it
// will ask again.
func (t *turnstile) drop(a *ask, back bool) {
	t.queue.Drop(a.place.Number)
	delete(t.asks, a.place.Number)
	if back {
		t.absent[a.place.Number] = time.Now().Add(comeBack)
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

// atDoor is who stands here now, ascending: held, or to come again at once.
func (t *turnstile) atDoor(now time.Time) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	numbers := t.queue.Lowest(t.queue.Len())
	for n, until := range t.absent {
		if now.After(until) {
			delete(t.absent, n)
		} else {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// close answers everybody who is held and holds nobody any more.
func (t *turnstile) close() { t.shut.Do(func() { close(t.closing) }) }

// run serves the door, while somebody stands at it, a little more often than
// credit comes. The pause differs, so that of two replicas none is always first.
func (t *turnstile) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		for t.serve(ctx) && pause(ctx, Tick/2+rand.N(Tick/4)) == nil {
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
	door, err := t.line.door.within(ctx, Tick+Tick/4)
	if err != nil {
		t.fault("door", err)
		return t.held() > 0
	}
	chosen := t.choose(door, now)
	for tries := 0; len(chosen) > 0 && tries < 2; tries++ {
		at := time.Now()
		door, ok, err := t.take(ctx, int64(len(chosen)))
		if err != nil { // used by nobody, if at all
			t.fault("take", err)
			break
		}
		if ok {
			t.assign(ctx, chosen, door, at)
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
	return t.queue.Len()
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

// credits is how many people may be let in by what the door shows.
func (d Door) credits() int64 {
	if d.Stopped {
		return 0
	}
	return max(0, min(d.Credit/Milli, d.Budget))
}

// choose picks whom the credit is for: those of ours who are among the lowest
// of all who stand at the doors. Whoever was answered a moment ago and is
// coming again stands there too, and so does who stands at another replica's.
// The chosen leave the queue; their requests are not let go any more.
func (t *turnstile) choose(door Door, now time.Time) (chosen []*ask) {
	credits := min(int(door.credits()), mostTaken)
	if credits == 0 {
		return nil
	}
	elsewhere := t.elsewhere(door, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, number := range t.queue.Lowest(credits) {
		before, _ := slices.BinarySearch(elsewhere, number)
		if i+before >= credits {
			break
		}
		a := t.asks[number]
		a.settled = make(chan struct{})
		chosen = append(chosen, a)
	}
	for _, a := range chosen {
		t.queue.Drop(a.place.Number)
	}
	return chosen
}

// elsewhere are the numbers that stand at a door but are not held here, as far
// as this replica knows: answered here a moment ago, or heard of a second ago.
// As many as were let in elsewhere since are left out, the lowest first.
func (t *turnstile) elsewhere(door Door, now time.Time) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var numbers []int64
	for _, n := range t.rivals {
		if t.asks[n] == nil && t.letIn[n].IsZero() {
			numbers = append(numbers, n)
		}
	}
	for n, until := range t.absent {
		if now.Before(until) {
			numbers = append(numbers, n)
		} else {
			delete(t.absent, n)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	since, _ := slices.BinarySearch(t.mine, t.rivalsTaken+1)
	letIn := int(door.Taken-t.rivalsTaken) - (len(t.mine) - since)
	return numbers[min(max(0, letIn), len(numbers)):]
}

// hear takes in who stands at the other replicas' doors. Without any, all that
// is let in is let in here.
func (t *turnstile) hear(rs []report, taken int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rivals, t.rivalsTaken = nil, taken
	gone := map[int64]bool{}
	for _, r := range rs {
		t.rivals = append(t.rivals, r.atDoor...)
		t.rivalsTaken = min(t.rivalsTaken, r.taken)
		for _, n := range r.letIn {
			gone[n] = true
			delete(t.absent, n)
		}
	}
	t.rivals = slices.DeleteFunc(t.rivals, func(n int64) bool { return gone[n] })
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

// unchoose puts places back: no credit was to be had. Those whose requests gave
// up meanwhile leave.
func (t *turnstile) unchoose(asks []*ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range asks {
		close(a.settled)
		a.settled = nil
		if a.holds > 0 {
			t.queue.Hold(a.place.Number, time.Time{})
		} else {
			t.drop(a, false)
		}
	}
}

func (t *turnstile) take(ctx context.Context, k int64) (Door, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	begun := time.Now()
	door, ok, err := t.line.cfg.Store.Take(ctx, t.line.event, t.line.epoch, k)
	if err != nil {
		t.line.door.doubt()
		return door, false, err
	}
	t.line.door.saw(door, begun)
	return door, ok, nil
}

// assign gives the takes that the door just counted to the chosen, in order.
// From here on each stands, whoever still waits for the answer. at is when the
// credit was seen to be there: whatever the store's reply took, P8 holds for it.
func (t *turnstile) assign(ctx context.Context, chosen []*ask, door Door, at time.Time) {
	first := door.Taken - int64(len(chosen)) + 1
	at = at.UTC().Truncate(time.Millisecond)
	t.line.cfg.Metrics.takes.Add(float64(len(chosen)))
	t.mu.Lock()
	for i, a := range chosen {
		t.mine = append(t.mine, first+int64(i))
		t.letIn[a.place.Number] = at
	}
	if over := len(t.mine) - mostMine; over > 0 {
		t.mine = slices.Delete(t.mine, 0, over)
	}
	t.mu.Unlock()
	for i, a := range chosen {
		take := first + int64(i)
		t.line.cfg.Books.Evidence(Evidence{
			Event: t.line.event, Epoch: t.line.epoch, Term: door.Term, Seq: take,
			Kind: "take", Milli: Milli, Front: door.Front, At: at,
		})
		t.issuing.Go(func() { t.issue(context.WithoutCancel(ctx), a, take, at) })
	}
}

// issue writes the pass down, in the line and then in the ledger, and only then
// answers. A place that had a pass already keeps that one; this credit is
// burned. So it is when nobody can say what became of it.
func (t *turnstile) issue(ctx context.Context, a *ask, take int64, at time.Time) {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	ctx, cancel := context.WithTimeout(ctx, issueLimit)
	defer cancel()
	defer t.finish(a)

	sale := t.line.Sale()
	p := a.place
	p.State, p.Take, p.TakenAt = Passed, take, at
	p.PassUntil = at.Add(sale.PassLife).Truncate(time.Second)
	got, err := t.write(ctx, p)
	switch {
	case errors.Is(err, ErrNoPlace):
		t.burn("left")
		a.pass = Place{State: Left}
		return
	case err != nil:
		t.fault("pass", err)
		t.burn("unknown")
		return
	case got.Take != take:
		t.burn("again")
	default:
		t.line.tell(func(r *Release) { r.LetIn(take, p.Number, at) })
	}
	if a.text, a.told, err = t.line.admit(ctx, got); err != nil {
		t.fault("ledger", err)
		return
	}
	t.line.cfg.Metrics.passes.WithLabelValues("new").Inc()
	a.pass = got
}

// write asks again with the same take: harmless, whatever the first try did.
func (t *turnstile) write(ctx context.Context, p Place) (got Place, err error) {
	for range 2 {
		once, cancel := context.WithTimeout(ctx, storeLimit)
		got, err = t.line.cfg.Store.Pass(once, p)
		cancel()
		if err == nil || errors.Is(err, ErrNoPlace) || errors.Is(err, ErrEpoch) {
			break
		}
	}
	return got, err
}

func (t *turnstile) burn(why string) {
	t.line.cfg.Metrics.burned.WithLabelValues(why).Inc()
}

// finish answers every request of the place.
func (t *turnstile) finish(a *ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.asks, a.place.Number)
	close(a.done)
	close(a.settled)
}

// outcome is the answer to a place that was chosen.
func (l *Line) outcome(a *ask) Answer {
	switch {
	case a.pass.State == Left:
		return Answer{Position: l.position(a.place.Number, ViewLeft)}
	case a.text == "":
		return l.notYet(a.place.Number, ViewCalled)
	case !time.Now().Before(a.pass.PassUntil):
		return Answer{Position: l.position(a.place.Number, ViewOver)}
	}
	return l.passed(a.place.Number, a.text, a.told)
}

func (l *Line) passed(number int64, text string, p Pass) Answer {
	return Answer{Position: l.position(number, ViewPassed), Pass: text, Admitted: p}
}

// notYet tells somebody when to ask again. Who stands at the door comes back
// at once, spread over what R2 leaves beside the hold.
func (l *Line) notYet(number int64, view View) Answer {
	p := l.position(number, view)
	a := Answer{Position: p, RetryAfter: p.Poll}
	if view == ViewCalled {
		a.RetryAfter = time.Duration(float64(l.cfg.Hold) * PollJitter * rand.Float64())
	}
	return a
}

// admit writes the pass into the ledger and signs it. Nobody holds a pass that
// is not written there.
func (l *Line) admit(ctx context.Context, p Place) (string, Pass, error) {
	pass := Pass{
		Event: l.event, Holder: p.Holder, Epoch: l.epoch, Place: p.Number, Take: p.Take,
		IssuedAt: p.TakenAt.Truncate(time.Second), ExpiresAt: p.PassUntil, Quota: int(l.Sale().PassQuota),
	}
	if err := l.cfg.Books.LetIn(ctx, Entry{Pass: pass, TakenAt: p.TakenAt}); err != nil {
		return "", Pass{}, err
	}
	text, err := l.cfg.Passes.Sign(pass)
	return text, pass, err
}
