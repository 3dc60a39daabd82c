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

	mu       sync.Mutex
	holding  bool
	told     []func(*Release)    // since the last step
	heard    []report            // the other replicas' last
	inside   map[int64]time.Time // places let in lately, by when we heard of it
	from     int64               // the first take that this term has to hear of
	healthAt time.Time           // when the claimers' and the provider's health was last read

	// Of run alone: it contends for no lease before, having given one up.
	shy time.Time

	// Of gather alone: what it has read up to.
	takes []mark
	read  time.Time
}

func newReleaser(l *Line) *releaser {
	return &releaser{line: l, wake: make(chan struct{}, 1), inside: map[int64]time.Time{}}
}

// tell keeps what the next step is to know. Nobody holding, nobody is told: a
// new holder asks for itself.
func (r *releaser) tell(f func(*Release)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holding {
		r.told = append(r.told, f)
	}
}

// hold begins or ends telling. Passes by takes up to that one are old enough to
// be in the ledger.
func (r *releaser) hold(holds bool, taken int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding, r.told, r.from = holds, nil, max(0, taken-inFlight)
	r.healthAt = time.Now() // a term begins without a doubt of its own
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

// shyLeases is for how many leases a replica that gave one up lets others have
// the next. If they cannot either, it is as good as they are.
const shyLeases = 4

// alone says that no other replica was heard of lately.
func (r *releaser) alone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.heard) == 0
}

func (r *releaser) readHealth() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.healthAt
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
		if now := time.Now(); r.line.rests(now) || now.Before(r.shy) {
			pause(ctx, every) //nolint:errcheck // the loop looks
			continue
		}
		seen, err := r.watch(ctx)
		if err != nil {
			continue
		}
		begun := time.Now()
		if door, ok := r.acquire(ctx, seen); ok {
			r.release(ctx, door, begun)
		} else {
			pause(ctx, r.line.cfg.Lease/6) //nolint:errcheck // the loop looks
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
	r.hold(true, door.Taken)
	defer r.hold(false, 0)
	h := &holder{releaser: r, line: r.line, term: door.Term, door: door, landed: begun}
	if !h.recall(ctx) {
		return
	}
	r.line.log.Info("releasing", "term", door.Term, "taken", door.Taken)
	t := time.NewTicker(Tick)
	defer t.Stop()
	for ctx.Err() == nil && !r.line.rests(time.Now()) && h.step(ctx) {
		h.rest(ctx, t.C)
	}
	r.line.log.Info("not releasing any more", "term", door.Term, "taken", h.door.Taken)
}
