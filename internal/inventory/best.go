package inventory

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/block"
)

// Best is a wish for seats side by side that leaves the choice to us.
type Best struct {
	Count      int    `json:"count"`
	Accessible int    `json:"accessible,omitempty"` // of these, places for wheelchairs
	Tier       string `json:"tier,omitempty"`       // none: of any
	Section    string `json:"section,omitempty"`    // none: in any
	Split      bool   `json:"split,omitempty"`      // rather apart than not at all
}

// sense says what of a wish makes none.
func (b Best) sense() bool {
	return b.Count >= 1 && b.Count <= mostSeats && b.Accessible >= 0 && b.Accessible <= b.Count &&
		(b.Tier == "" || text(b.Tier, 400)) && (b.Section == "" || text(b.Section, 400))
}

// chosen is what was found for an attempt that leaves the choice to us.
type chosen struct {
	seats  []int64
	lapsed []uuid.UUID // orders over time: once they have ended there are seats
	none   bool        // no block that fits is free, nor will be by their end
	left   int         // seats of the largest block that is free
	kept   bool        // there would be a block, were it not for a presale
	over   bool        // or for a tier's limit
}

// leavesChoice says that some of the attempts do.
func leavesChoice(attempts []*asked) bool {
	return slices.ContainsFunc(attempts, func(a *asked) bool { return a.Best != nil })
}

// oneChooser makes whoever chooses in the same halls wait: what two choose from
// the same free seats would be the same. Whoever names seats waits for nobody,
// and may be faster; then it is chosen again.
func oneChooser(b *pgx.Batch, attempts []*asked) {
	var events []string
	for _, a := range attempts {
		if a.Best != nil {
			events = append(events, a.Event)
		}
	}
	b.Queue(`
		SELECT pg_advisory_xact_lock(hashtext('waitroom best seats'), hashtext(event))
		FROM (SELECT DISTINCT event FROM unnest($1::text[]) AS e (event) ORDER BY event) e`, events)
}

// openHall is a hall at one instant: what is free, and what is as good as free.
type openHall struct {
	*seating
	free   *block.Free
	lapsed map[int]uuid.UUID // seats of orders whose time is over, by place in the hall
	left   bool              // some of these were left to who names them
	rules  rules
}

// choose finds the attempts that leave the choice to us the best seats, one
// after the other. It is done with what is free now, after whoever chose before
// has committed, and only for those whom nothing else stands in the way of.
func (c *Claimer) choose(ctx context.Context, tx pgx.Tx, attempts []*asked) error {
	may, err := allowed(ctx, tx, attempts)
	if err != nil {
		return err
	}
	open, err := c.openHalls(ctx, tx, attempts)
	if err != nil {
		return err
	}
	who, err := standings(ctx, tx, attempts, open)
	if err != nil {
		return err
	}
	for i, a := range attempts {
		a.chosen = chosen{}
		if hall := open[a.Event]; a.Best != nil && may[i] {
			a.chosen = hall.best(*a.Best, who[i])
		}
	}
	return nil
}

// doubt takes back what was found for whoever stood behind an attempt that was
// promised seats and did not get them: these may be free. They are chosen for anew.
func doubt(refused []*asked) {
	broken := map[string]bool{}
	for _, a := range refused {
		if broken[a.Event] {
			a.chosen.none, a.chosen.kept, a.chosen.over = false, false, false
		}
		broken[a.Event] = broken[a.Event] || len(a.chosen.seats) > 0
	}
}

// allowed are the attempts that leave the choice to us and are within all limits.
func allowed(ctx context.Context, tx pgx.Tx, attempts []*asked) (may map[int]bool, err error) {
	c := columnsOf(attempts)
	rows, err := tx.Query(ctx, `WITH asked AS MATERIALIZED (`+askedFor+`), allowed AS (`+withinLimits+`) SELECT i FROM allowed`, c.all()...)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	may = make(map[int]bool, len(ids))
	for _, i := range ids {
		may[i] = true
	}
	return may, err
}

// openHalls reads what is free in the halls that are chosen in. Seats that
// others of the attempts name are left to them.
func (c *Claimer) openHalls(ctx context.Context, tx pgx.Tx, attempts []*asked) (map[string]*openHall, error) {
	named := map[int64]bool{}
	var events []string
	for _, a := range attempts {
		if a.Best != nil {
			events = append(events, a.Event)
		}
		for _, s := range a.Seats {
			named[s] = true
		}
	}
	rows, err := tx.Query(ctx, `
		SELECT e.id, e.version,
		  ARRAY(SELECT s.pos FROM seats s
		    WHERE s.event_id = e.id AND s.kind <> 'general' AND s.order_id IS NULL AND NOT s.held_back),
		  lapsed.seats, lapsed.orders, e.tier_limits, e.presales, now()
		FROM events e CROSS JOIN LATERAL (
		  SELECT coalesce(array_agg(s.pos), '{}') AS seats, coalesce(array_agg(o.id), '{}') AS orders
		  FROM orders o JOIN seats s ON s.order_id = o.id
		  WHERE o.event_id = e.id AND o.status = 'pending' AND o.ended_at IS NULL AND o.pay_by <= now() AND s.kind <> 'general'
		) lapsed
		WHERE e.id = ANY($1)`, events)
	if err != nil {
		return nil, err
	}
	type instant struct {
		event        string
		version      int64
		free, lapsed []int32
		orders       []uuid.UUID
		limits       TierLimits
		presales     []Presale
		at           time.Time
	}
	seen, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i instant, err error) {
		return i, row.Scan(&i.event, &i.version, &i.free, &i.lapsed, &i.orders, &i.limits, &i.presales, &i.at)
	})
	if err != nil {
		return nil, err
	}
	open := make(map[string]*openHall, len(seen))
	for _, now := range seen {
		s, err := c.halls.seating(ctx, tx, now.event, now.version)
		if err != nil {
			return nil, err
		}
		h := &openHall{seating: s, free: s.hall.NoneFree(), lapsed: map[int]uuid.UUID{}, rules: rulesOf(now.limits, now.presales, now.at)}
		for _, pos := range now.free {
			if at, known := s.at[pos]; known && named[s.ids[at]] {
				h.left = true
			} else if known {
				h.free.Let(at)
			}
		}
		for i, pos := range now.lapsed {
			if at, known := s.at[pos]; known && named[s.ids[at]] {
				h.left = true
			} else if known {
				h.lapsed[at] = now.orders[i]
			}
		}
		open[now.event] = h
	}
	return open, nil
}

// best takes the best block out of the hall, or says what stands in the way.
func (h *openHall) best(wish Best, who standingOf) (found chosen) {
	w := block.Wish{Count: wish.Count, Accessible: wish.Accessible, Split: wish.Split, Strict: h.strict, Among: h.open(who, wish), Most: h.most(who, wish)}
	seats, ok := h.hall.Best(h.free, w)
	if ok {
		for _, at := range seats {
			h.free.Take(at)
			found.seats = append(found.seats, h.ids[at])
		}
		return found
	}
	found.lapsed = h.inLapsed(w)
	found.none, found.left = len(found.lapsed) == 0 && !h.left, h.hall.Largest(h.free, w)
	if found.none && !h.rules.none() {
		found.kept, found.over = h.ruledOut(w, wish, who)
	}
	return found
}

// ruledOut says which rule stands in the way where nothing else does.
func (h *openHall) ruledOut(w block.Wish, wish Best, who standingOf) (kept, over bool) {
	among := h.among(wish)
	w.Among = func(s block.Seat) bool {
		return (among == nil || among(s)) && h.rules.room(who, h.tiers[s.Tier]) > 0
	}
	if _, kept = h.hall.Best(h.free, w); kept {
		return kept, false
	}
	w.Among, w.Most = among, nil
	_, over = h.hall.Best(h.free, w)
	return false, over
}

// inLapsed are the orders over time that hold the best block there would be
// without them. None: there would be none.
func (h *openHall) inLapsed(w block.Wish) (orders []uuid.UUID) {
	if len(h.lapsed) == 0 {
		return nil
	}
	for at := range h.lapsed {
		h.free.Let(at)
	}
	seats, _ := h.hall.Best(h.free, w)
	for at := range h.lapsed {
		h.free.Take(at)
	}
	for _, at := range seats {
		if order, lapsed := h.lapsed[at]; lapsed && !slices.Contains(orders, order) {
			orders = append(orders, order)
		}
	}
	return orders
}

func (h *openHall) among(wish Best) func(block.Seat) bool {
	if wish.Tier == "" && wish.Section == "" {
		return nil
	}
	tier := slices.Index(h.tiers, wish.Tier)
	return func(s block.Seat) bool {
		return (wish.Tier == "" || s.Tier == tier) && (wish.Section == "" || s.Section == wish.Section)
	}
}
