package admission

import (
	"context"
	"slices"
	"sync"
	"time"
)

// overlap is how far back each look goes beyond the last: a transaction shows
// itself later than the time it bears.
const overlap = 10 * time.Second

// inFlight is how many passes may still be on their way to the ledger.
const inFlight = 2_000

// gather reads, once a second, what the holder cannot see by itself.
func (r *releaser) gather(ctx context.Context) {
	if !r.holds() || r.line.Sale().over(time.Now()) {
		r.takes, r.read = nil, time.Time{}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, claimersFresh)
	defer cancel()
	var parts sync.WaitGroup
	parts.Go(func() { r.passes(ctx) })
	parts.Go(func() { r.bought(ctx) })
	parts.Go(func() { r.health(ctx) })
	parts.Wait()
}

// passes hears from the ledger who was let in lately, at any replica.
func (r *releaser) passes(ctx context.Context) {
	now := time.Now()
	if r.takes == nil {
		r.takes = []mark{{now, r.first()}}
	}
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
	r.within(ctx, r.takes[0].taken)
	r.letIn(list, now)
	r.tell(func(release *Release) {
		for _, e := range list {
			release.LetIn(e.Take, e.Place, e.TakenAt, e.ExpiresAt)
		}
	})
}

func (r *releaser) first() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from
}

// letIn remembers who cannot stand at a door any more, for as long as a dead
// replica's last report still has them there.
func (r *releaser) letIn(list []Entry, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range list {
		r.inside[e.Place] = now
	}
	for place, at := range r.inside {
		if now.Sub(at) > reportDead+overlap {
			delete(r.inside, place)
		}
	}
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

// health hears what the claimers and the payment provider bear.
func (r *releaser) health(ctx context.Context) {
	now := time.Now()
	load, loadErr := r.line.cfg.Books.Load(ctx)
	if loadErr != nil {
		r.line.fault("claimers", loadErr)
	} else {
		r.tell(func(release *Release) { release.Load(load) })
	}
	paying, err := r.line.cfg.Books.Paying(ctx, r.line.event)
	if err != nil {
		r.line.fault("payments", err)
		return
	}
	r.tell(func(release *Release) { release.Paying(paying) })
	if loadErr == nil {
		r.mu.Lock()
		r.healthAt = now
		r.mu.Unlock()
	}
}

// within counts who is inside, where the organiser has a cap. Takes after since
// may not have reached the ledger yet.
func (r *releaser) within(ctx context.Context, since int64) {
	door, _ := r.line.door.last()
	if r.line.Sale().MaxInside == 0 || door.Epoch != r.line.epoch {
		return
	}
	count, err := r.line.cfg.Books.Within(ctx, r.line.event, r.line.epoch, min(since, door.Taken), door.Taken)
	if err != nil {
		r.line.fault("within", err)
		return
	}
	r.tell(func(release *Release) { release.Within(count) })
}

// crowd is who stands at doors, ascending, and the latecomers among them.
type crowd struct{ all, late []int64 }

// elsewhere are who stands at the other replicas' doors, as last heard, but for
// those who were let in since; open are those at doors that are not shut.
func (r *releaser) elsewhere() (all, open crowd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := func(rs []report) crowd {
		gone := func(n int64) bool { return !r.inside[n].IsZero() }
		return crowd{
			slices.DeleteFunc(doors(rs, func(r report) []int64 { return r.atDoor }), gone),
			slices.DeleteFunc(doors(rs, func(r report) []int64 { return r.late }), gone),
		}
	}
	all = at(r.heard)
	shut := func(r report) bool { return r.shut }
	if !slices.ContainsFunc(r.heard, shut) {
		return all, all
	}
	return all, at(slices.DeleteFunc(slices.Clone(r.heard), shut))
}
