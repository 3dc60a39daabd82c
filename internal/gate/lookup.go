package gate

import "context"

// Ordered asks Postgres which of these attempts have an order, of any state.
type Ordered func(ctx context.Context, event string, asked []Name) ([]Name, error)

// lookups is the lane of those who are about to be refused: what waits while a
// question is under way is the next question's, and an event has one at a time.
const lookups = -1

// unless is the refusal of an attempt that has no order. Records may be lost, or never
// have been made, while Redis was away; so they alone tell nobody who has an order that
// all is gone. What Postgres does not say is not known, and let through.
func (g *Gate) unless(ctx context.Context, refusal Decision, a Attempt) Decision {
	l := lane{event: a.Event, epoch: a.Epoch, shard: lookups}
	d := g.wait(ctx, l, &waiting{record: record{id: a.id()}})
	if d.Outcome == none {
		return refusal
	}
	return d
}

// none: the attempt has no order.
const none Outcome = ""

// byOrder looks up who has an order already.
func (g *Gate) byOrder(ctx context.Context, l lane, batch []*waiting) []Decision {
	asked := make([]Name, len(batch))
	for i, w := range batch {
		asked[i] = nameOf(w.id)
	}
	within, cancel := context.WithTimeout(ctx, g.Limit)
	defer cancel()
	found, err := g.find(within, l.event, asked)
	has := make(map[string]bool, len(found))
	for _, n := range found {
		has[n.id()] = true
	}
	out := make([]Decision, len(batch))
	for i, w := range batch {
		outcome := "none"
		switch {
		case err != nil:
			out[i].Outcome, outcome = Unknown, "failed"
		case has[w.id]:
			out[i].Outcome, outcome = Again, "ordered"
		}
		g.metrics.lookups.WithLabelValues(outcome).Inc()
	}
	return out
}
