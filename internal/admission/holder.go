package admission

import (
	"context"
	"time"
)

// holder is one term of one replica.
type holder struct {
	releaser *releaser
	line     *Line
	release  *Release
	term     int64
	door     Door
	unsure   bool      // the last refill's outcome is not known
	blind    time.Time // since when this replica cannot read what a release needs; zero: it can
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
	if h.line.isDrawn() {
		h.release.Drawn()
	}
	inside, err := books.Inside(ctx, h.line.event, h.line.epoch)
	if err != nil {
		h.line.fault("inside", err)
		return false
	}
	since := now
	for _, e := range inside {
		since = earlier(since, e.TakenAt)
	}
	bought, err := books.Bought(ctx, h.line.event, h.line.epoch, since)
	if err != nil {
		h.line.fault("bought", err)
		return false
	}
	h.release.Earlier(inside)
	for _, b := range bought {
		h.release.Claimed(b.Take, b.Tickets, b.At)
	}
	h.rememberSigns(inside, now)
	if stock := h.line.stock.Load(); stock != nil {
		h.release.Restock(*stock)
	}
	h.releaser.health(ctx)
	h.releaser.within(ctx, h.releaser.first())
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
	if h.yields(begun) {
		return h.end("blind")
	}
	h.listen()
	d := h.release.Step(begun, h.door, l.tail.Load(), h.atDoor(begun))
	l.theta.Store(int64(h.release.Theta()))
	h.state = d.Figures.State
	return h.refill(ctx, d.Refill, begun)
}

// blindFor is how long a holder that cannot read the settings, the stock or what
// the claimers bear keeps the lease all the same, closed on doubt.
const blindFor = 5 * time.Second

// yields says that another replica is to release: this one's own reads fail, and
// the sale need not stand still for that. Where it is alone it goes on as it is:
// nobody would reopen sooner.
func (h *holder) yields(now time.Time) bool {
	if h.line.sees(now, h.releaser.readHealth()) || h.releaser.alone() {
		h.blind = time.Time{}
		return false
	}
	if h.blind.IsZero() {
		h.blind = now
	}
	if now.Sub(h.blind) < blindFor {
		return false
	}
	h.releaser.shy = now.Add(shyLeases * h.line.cfg.Lease)
	return true
}

// sees says whether this replica itself can read what a release needs to let
// anybody in; health is when it last read what the claimers and the payment
// provider bear. Of a sale that is over nothing is read.
func (l *Line) sees(now, health time.Time) bool {
	sale := l.Sale()
	return sale.over(now) || now.Sub(sale.ReadAt) <= settingsFresh &&
		now.Sub(l.Stock().At) <= stockFresh && now.Sub(health) <= claimersFresh
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
// another counts once. The release is told how many of these came late, and how
// many of the others stand where nobody is let in.
func (h *holder) atDoor(now time.Time) int64 {
	here, lateHere, _ := h.line.turnstile.atDoor(now)
	all, open := h.releaser.elsewhere()
	people, late := union(here, all.all), union(lateHere, all.late)
	h.release.Latecomers(int64(late))
	h.release.Stuck(int64(max(0, people-union(here, open.all)-(late-union(lateHere, open.late)))))
	return int64(people)
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
	switch {
	case h.state == Closed || h.state == Paused:
		return true
	case h.state.Early():
		return time.Until(h.line.Sale().OpensAt) > CallAhead+h.line.cfg.Lease
	}
	return false
}
