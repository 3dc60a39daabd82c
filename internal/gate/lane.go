package gate

import (
	"context"
	"errors"
	"slices"
)

// waiting is an attempt that waits for its lane.
type waiting struct {
	record
	seats []int64
	// uncounted: its account has been counted a moment ago, and it takes nothing.
	uncounted bool
	told      chan Decision // holds one
}

// line is who waits for a lane. What came while a script was under way is the next
// script's.
type line struct {
	waits []*waiting
	busy  int // scripts under way
}

// push says false when the lane's queue is full: nothing was asked.
func (g *Gate) push(ctx context.Context, l lane, w *waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.lanes[l]
	if q == nil {
		q = &line{}
		g.lanes[l] = q
	}
	if len(q.waits) >= g.Queue {
		return false
	}
	q.waits = append(q.waits, w)
	if q.busy < g.Calls {
		q.busy++
		g.calls.Add(1)
		// The script decides for others too, whoever of them goes.
		go g.serve(context.WithoutCancel(ctx), l, q)
	}
	return true
}

// serve decides batch after batch until nobody waits.
func (g *Gate) serve(ctx context.Context, l lane, q *line) {
	defer g.calls.Done()
	for batch := g.next(l, q); len(batch) > 0; batch = g.next(l, q) {
		g.metrics.batch.Observe(float64(len(batch)))
		decided := g.batch(ctx, l, batch)
		for i, w := range batch {
			w.told <- decided[i]
		}
	}
}

// next takes who waits, at most one script's worth. None: the server is to go, and
// a lane that nobody serves is forgotten.
func (g *Gate) next(l lane, q *line) []*waiting {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(q.waits), g.Batch)
	if n == 0 {
		if q.busy--; q.busy == 0 {
			delete(g.lanes, l)
		}
		return nil
	}
	batch := slices.Clone(q.waits[:n])
	q.waits = slices.Delete(q.waits, 0, n)
	return batch
}

func (g *Gate) batch(ctx context.Context, l lane, batch []*waiting) []Decision {
	if l.shard == lookups {
		return g.byOrder(ctx, l, batch)
	}
	if l.tier == "" {
		return g.bySeat(ctx, l, batch)
	}
	return g.byCount(ctx, l, batch)
}

// doubtful lets all of them through. What they may have taken is known by name, unless
// nothing was.
func doubtful(l lane, batch []*waiting, err error) []Decision {
	out := make([]Decision, len(batch))
	for i, w := range batch {
		if out[i].Outcome = Unknown; errors.Is(err, errNoCount) || errors.Is(err, errResting) {
			continue
		}
		out[i].lane, out[i].record, out[i].seats = l, w.record, w.seats
	}
	return out
}
