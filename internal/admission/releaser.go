package admission

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// LeaseFor is how long a releaser must stand still to be replaced. It stops by
// itself at two thirds of that.
const LeaseFor = 1500 * time.Millisecond

// releaser lets credit into one line's door, in whichever replica holds the
// lease. Of any number of replicas one steps; the others watch it.
//
// It is safe because the lease is in the door itself: a step of one who lost it
// changes nothing. Two thirds and the whole of a lease only keep two from
// trying, each measured on its own monotonic clock.
type releaser struct {
	line *Line
	wake chan struct{} // something was told that should act before the next step is due

	mu      sync.Mutex
	holding bool
	told    []func(*Release) // since the last step
	heard   []report         // the other replicas' last

	// Of gather alone: what it has read up to.
	takes []mark
	read  time.Time
}

func newReleaser(l *Line) *releaser { return &releaser{line: l, wake: make(chan struct{}, 1)} }

// tell keeps what the next step is to know. Nobody holding, nobody is told: a
// new holder asks for itself.
func (r *releaser) tell(f func(*Release)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holding {
		r.told = append(r.told, f)
	}
}

// hold begins or ends telling.
func (r *releaser) hold(holds bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding, r.told = holds, nil
	value := 0.0
	if holds {
		value = 1
	}
	r.line.cfg.Metrics.holding.WithLabelValues(r.line.event).Set(value)
}

func (r *releaser) holds() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holding
}

// hear takes in what the other replicas report.
func (r *releaser) hear(rs []report) {
	r.mu.Lock()
	r.heard = rs
	r.mu.Unlock()
	r.tell(func(release *Release) {
		for _, report := range rs {
			for k, list := range report.facts {
				for _, f := range list {
					factKind(k).tell(release, f)
				}
			}
		}
	})
}

// run contends for the lease, and steps while it has it.
func (r *releaser) run(ctx context.Context) {
	for ctx.Err() == nil {
		seen, err := r.watch(ctx)
		if err != nil {
			continue
		}
		begun := time.Now()
		if door, ok := r.acquire(ctx, seen); ok {
			r.release(ctx, door, begun)
		}
	}
}

// watch returns once whoever releases has stood still for a whole lease, or
// nobody ever did. It looks several times within the lease, so that a beat
// missed is seen before the end.
func (r *releaser) watch(ctx context.Context) (Door, error) {
	var seen Door
	var since time.Time
	for {
		door, err := r.line.door.look(ctx)
		now := time.Now()
		switch {
		case err != nil:
			since = time.Time{} // not seen to stand still
		case door.Owner == "":
			return door, nil
		case since.IsZero() || door.Term != seen.Term || door.Beat != seen.Beat || door.Epoch != seen.Epoch:
			seen, since = door, now
		case now.Sub(since) >= r.line.cfg.Lease:
			return seen, nil
		}
		if err := pause(ctx, r.line.cfg.Lease/6+rand.N(r.line.cfg.Lease/12)); err != nil {
			return Door{}, err
		}
	}
}

// acquire takes the lease. Of those who saw the same, one gets it.
func (r *releaser) acquire(ctx context.Context, seen Door) (Door, bool) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	begun := time.Now()
	door, ok, err := r.line.cfg.Store.Acquire(ctx, seen, r.line.cfg.Replica)
	if err != nil { // if it is ours all the same, it stands still, and is taken anew
		r.line.fault("acquire", err)
		return Door{}, false
	}
	r.line.door.saw(door, begun)
	return door, ok
}

// release steps until the lease is lost or given up.
func (r *releaser) release(ctx context.Context, door Door, begun time.Time) {
	r.hold(true)
	defer r.hold(false)
	h := &holder{releaser: r, line: r.line, term: door.Term, door: door, landed: begun}
	if !h.recall(ctx) {
		return
	}
	r.line.log.Info("releasing", "term", door.Term, "taken", door.Taken)
	t := time.NewTicker(Tick)
	defer t.Stop()
	for ctx.Err() == nil && h.step(ctx) {
		h.rest(ctx, t.C)
	}
	r.line.log.Info("not releasing any more", "term", door.Term, "taken", h.door.Taken)
}

// holder is one term of one replica.
type holder struct {
	releaser *releaser
	line     *Line
	release  *Release
	term     int64
	door     Door
	unsure   bool      // the last refill's outcome is not known
	landed   time.Time // when the last refill that was acknowledged began
	state    SaleState
}

// recall makes the memory of this term from what others wrote down: everybody
// who is inside, what they bought, and what the replicas saw lately. Without
// that nobody is let in. False: it cannot be had, or not in time.
func (h *holder) recall(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, h.line.cfg.Lease/2)
	defer cancel()
	sale, books := h.line.Sale(), h.line.cfg.Books
	now := time.Now()
	h.release = NewRelease(sale, h.door, now)
	inside, err := books.Inside(ctx, h.line.event, h.line.epoch)
	if err != nil {
		h.line.fault("inside", err)
		return false
	}
	bought, err := books.Bought(ctx, h.line.event, h.line.epoch, now.Add(-sale.PassLife))
	if err != nil {
		h.line.fault("bought", err)
		return false
	}
	for _, e := range inside {
		h.release.LetIn(e.Take, e.Place, e.TakenAt)
	}
	for _, b := range bought {
		h.release.Claimed(b.Take, b.Tickets, b.At)
	}
	h.rememberSigns(inside, now)
	if stock := h.line.stock.Load(); stock != nil {
		h.release.Restock(*stock)
	}
	h.releaser.claimers(ctx)
	return true
}

// rememberSigns tells the new memory what the replicas saw lately. Whoever was
// let in before and is not among those who gave a sign of life has likely gone,
// unless we cannot know: then they have the usual time to give one. Else all
// who ever left would be counted until their passes ran out, after each
// take-over.
func (h *holder) rememberSigns(inside []Entry, now time.Time) {
	h.releaser.mu.Lock()
	seen := append([]report{{facts: h.line.facts.lately(now)}}, h.releaser.heard...)
	h.releaser.mu.Unlock()
	living := map[int64]bool{}
	for _, r := range seen {
		for k, list := range r.facts {
			for _, f := range list {
				factKind(k).tell(h.release, f)
				if factKind(k) == alive {
					living[f.id] = true
				}
			}
		}
	}
	for _, e := range inside {
		switch {
		case living[e.Take]:
		case len(living) > 0:
			h.release.Alive(e.Take, e.TakenAt)
		default:
			h.release.Alive(e.Take, now)
		}
	}
}

// step decides, and refills the door. False: the lease is not ours any more.
func (h *holder) step(ctx context.Context) bool {
	l := h.line
	begun := time.Now()
	if begun.Sub(h.landed) > 2*l.cfg.Lease/3 {
		return h.end("late")
	}
	if h.unsure {
		h.lookAgain(ctx)
	}
	if !h.ours() {
		return h.end("lost")
	}
	if h.unsure { // nothing is refilled blindly; two thirds of the lease are left for looking
		return true
	}
	h.listen()
	d := h.release.Step(begun, h.door, l.tail.Load(), h.atDoor(begun))
	l.theta.Store(int64(h.release.Theta()))
	h.state = d.Figures.State
	return h.refill(ctx, d.Refill, begun)
}

// listen takes in what was told since the last step.
func (h *holder) listen() {
	h.releaser.mu.Lock()
	told := h.releaser.told
	h.releaser.told = nil
	h.releaser.mu.Unlock()
	for _, f := range told {
		f(h.release)
	}
}

// atDoor is how many stand at the doors of all replicas; who moved from one to
// another counts once.
func (h *holder) atDoor(now time.Time) int64 {
	h.releaser.mu.Lock()
	elsewhere := doors(h.releaser.heard)
	h.releaser.mu.Unlock()
	return int64(union(h.line.turnstile.atDoor(now), elsewhere))
}

// union counts the numbers of two ascending lists, each once.
func union(a, b []int64) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
		}
		n++
	}
	return n + len(a) + len(b)
}

// refill does what was decided. An unknown outcome counts as flowed in; the
// door is read before the next.
func (h *holder) refill(ctx context.Context, r Refill, begun time.Time) bool {
	l := h.line
	limited, cancel := context.WithTimeout(ctx, l.cfg.Lease/3)
	defer cancel()
	door, ok, err := l.cfg.Store.Refill(limited, r)
	if err == nil && !ok {
		l.cfg.Metrics.refills.WithLabelValues("late").Inc()
		h.door = door
		l.door.saw(door, begun)
		return true // the next step sees whose it is
	}
	if r.Add > 0 {
		l.cfg.Books.Evidence(Evidence{
			Event: l.event, Epoch: l.epoch, Term: r.Term, Seq: r.Beat + 1, Kind: "refill", Milli: r.Add, Front: r.Front, At: begun,
		})
	}
	if err != nil {
		l.cfg.Metrics.refills.WithLabelValues("unknown").Inc()
		l.fault("refill", err)
		h.unsure = true
		return true
	}
	l.cfg.Metrics.refills.WithLabelValues("ok").Inc()
	h.door, h.landed = door, begun
	h.release.Landed(time.Now())
	l.door.saw(door, begun)
	return true
}

// lookAgain reads the door after an unknown outcome.
func (h *holder) lookAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.line.cfg.Lease/3)
	defer cancel()
	door, err := h.line.door.look(ctx)
	if err != nil {
		h.line.fault("door", err)
		return
	}
	h.unsure, h.door = false, door
	h.release.Landed(time.Now())
}

// ours reports whether the door, as last seen, is this term's.
func (h *holder) ours() bool {
	return h.door.Owner == h.line.cfg.Replica && h.door.Term == h.term && h.door.Epoch == h.line.epoch
}

func (h *holder) end(why string) bool {
	h.line.cfg.Metrics.refills.WithLabelValues(why).Inc()
	return false
}

// rest waits for the next step: a tick, while it matters; a third of the lease
// while nobody is called nor let in, unless something was told that changes it.
func (h *holder) rest(ctx context.Context, tick <-chan time.Time) {
	ticks := 1
	if h.idle() {
		ticks = max(1, int(h.line.cfg.Lease/3/Tick))
	}
	for range ticks {
		select {
		case <-tick:
		case <-h.releaser.wake:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (h *holder) idle() bool {
	switch h.state {
	case Closed, Paused:
		return true
	case Scheduled:
		return time.Until(h.line.Sale().OpensAt) > CallAhead+h.line.cfg.Lease
	}
	return false
}

// gather reads, once a second, what the holder cannot see by itself.
func (r *releaser) gather(ctx context.Context) {
	if !r.holds() {
		r.takes, r.read = nil, time.Time{}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, claimersFresh)
	defer cancel()
	var parts sync.WaitGroup
	parts.Go(func() { r.passes(ctx) })
	parts.Go(func() { r.bought(ctx) })
	parts.Go(func() { r.claimers(ctx) })
	parts.Wait()
}

// passes hears from the ledger who was let in lately, at any replica.
func (r *releaser) passes(ctx context.Context) {
	now := time.Now()
	door, _ := r.line.door.last()
	r.takes = append(r.takes, mark{now, door.Taken})
	list, err := r.line.cfg.Books.After(ctx, r.line.event, r.line.epoch, r.takes[0].taken)
	if err != nil {
		r.line.fault("passes", err)
		return
	}
	for len(r.takes) > 1 && now.Sub(r.takes[1].at) >= overlap {
		r.takes = r.takes[1:]
	}
	r.tell(func(release *Release) {
		for _, e := range list {
			release.LetIn(e.Take, e.Place, e.TakenAt)
		}
	})
}

// bought hears from the ledger who has claimed lately.
func (r *releaser) bought(ctx context.Context) {
	now := time.Now()
	if r.read.IsZero() {
		r.read = now
	}
	list, err := r.line.cfg.Books.Bought(ctx, r.line.event, r.line.epoch, r.read.Add(-overlap))
	if err != nil {
		r.line.fault("bought", err)
		return
	}
	r.read = now
	r.tell(func(release *Release) {
		for _, b := range list {
			release.Claimed(b.Take, b.Tickets, b.At)
		}
	})
}

// claimers hears whether anybody takes claims.
func (r *releaser) claimers(ctx context.Context) {
	asked := time.Now()
	age, err := r.line.cfg.Books.Claimers(ctx)
	if err != nil {
		r.line.fault("claimers", err)
		return
	}
	r.tell(func(release *Release) { release.Claimers(asked.Add(-age)) })
}

// overlap is how far back each look goes beyond the last: a transaction shows
// itself later than the time it bears.
const overlap = 10 * time.Second
