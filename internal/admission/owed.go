package admission

import (
	"context"
	"time"
)

const (
	// slowWriting is how long one pass may take to be written before nobody else is
	// let in here: a replica that cannot finish is not to take what others can use. A
	// store that is merely slow, at both of its tries and at the ledger's, is not that:
	// while this door is shut the others leave it no credit, and who stands at it is
	// passed by higher numbers (P7).
	slowWriting = 2500 * time.Millisecond
	// owedFor is how long a pass that could not be written is tried again. After that
	// its credit is burned; its holder, who asks again, stands at a door as before.
	owedFor = time.Minute
)

// writings are the passes that credits were taken for here, and that are not written
// down yet. A credit stays its place's: what failed is tried again by the same take,
// which is harmless whatever the first try did, and shows whether more can be written
// without using one more credit. Until it does nobody is let in here.
type writings struct {
	begun    map[int64]time.Time // by take: the try that is under way
	first    map[int64]time.Time // and the first one
	owed     []Place             // could not be written, those tried longest ago first
	unproved bool                // nothing was written since something could not be
}

func (w *writings) begin(take int64, now time.Time) {
	if w.begun == nil {
		w.begun, w.first = map[int64]time.Time{}, map[int64]time.Time{}
	}
	w.begun[take] = now
	if w.first[take].IsZero() {
		w.first[take] = now
	}
}

// end says what became of one of them. Once one could be written, so can the others.
func (w *writings) end(p Place, err error) (again []Place) {
	delete(w.begun, p.Take)
	if err != nil {
		w.owed, w.unproved = append(w.owed, p), true
		return nil
	}
	delete(w.first, p.Take)
	again, w.owed, w.unproved = w.owed, nil, false
	return again
}

// next is the one to try again. Those that are too old are given up.
func (w *writings) next(now time.Time) (p Place, some bool, lost int) {
	for len(w.owed) > 0 && now.Sub(w.first[w.owed[0].Take]) > owedFor {
		delete(w.first, w.owed[0].Take)
		w.owed, lost = w.owed[1:], lost+1
	}
	if len(w.owed) == 0 {
		return Place{}, false, lost
	}
	p, w.owed = w.owed[0], w.owed[1:]
	return p, true, lost
}

// most is how many credits may be taken in one go: none while something is owed or
// is being written for too long, one until that is known to work again.
func (w *writings) most(now time.Time) int {
	if len(w.owed) > 0 || w.unproved && len(w.begun) > 0 {
		return 0
	}
	for _, at := range w.begun {
		if now.Sub(at) > slowWriting {
			return 0
		}
	}
	if w.unproved {
		return 1
	}
	return mostTaken
}

// shuts says that nobody is let in here now, for a fault or for what is owed.
func (t *turnstile) shuts(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return now.Before(t.rest) || t.writings.unproved || t.writings.most(now) == 0
}

// settle tries to write one of the passes that are owed.
func (t *turnstile) settle(ctx context.Context, now time.Time) {
	t.mu.Lock()
	p, some, lost := t.writings.next(now)
	if some {
		t.writings.begin(p.Take, now)
	}
	t.mu.Unlock()
	for range lost {
		t.burn("unknown")
	}
	if some {
		t.wrote(ctx, p, t.record(ctx, &ask{}, p))
	}
}

// wrote takes in what became of a writing. If it shows that this works, the others
// that were owed are tried again too.
func (t *turnstile) wrote(ctx context.Context, p Place, err error) {
	now := time.Now()
	t.mu.Lock()
	again := t.writings.end(p, err)
	for _, p := range again {
		t.writings.begin(p.Take, now)
	}
	t.mu.Unlock()
	for _, p := range again {
		t.issuing.Go(func() { t.wrote(ctx, p, t.record(context.WithoutCancel(ctx), &ask{}, p)) })
	}
}

func (t *turnstile) most(now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writings.most(now)
}
