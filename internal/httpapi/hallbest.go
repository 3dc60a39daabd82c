package httpapi

import (
	"slices"
	"strconv"

	"waitroom/internal/block"
	"waitroom/internal/inventory"
)

// seat reads out of a plan which numbered seats stand side by side, and what there
// is to choose among. bits are where each of them stands in a count.
func (h *Hall) seat(plan inventory.SeatPlan) (bits []int) {
	h.numbered = map[string]int{}
	var seats []block.Seat
	for _, s := range plan.Seats {
		if s.Kind == "general" {
			continue
		}
		h.numbered[s.GUID] = len(seats)
		seats = append(seats, block.Seat{
			Section: s.Section, Row: s.Row, Number: s.Number, X: s.X, Y: s.Y, Accessible: s.Kind == "accessible",
		})
		bits = append(bits, s.Pos)
		h.best.add(s)
	}
	h.rows = block.NewHall(seats, block.Ahead(seats))
	return bits
}

// bestPage is the choice for who leaves the choice to us.
type bestPage struct {
	offered
	Event, Key, Currency string
	Quota, Most          int // seats that the pass is good for; and to begin with
}

// offered is what of its numbered seats a hall offers to choose among.
type offered struct {
	Tiers       []bestTier
	Wheelchairs bool
	sections    []string
}

type bestTier struct {
	Name        string
	AmountMinor int64
}

func (o *offered) add(s inventory.Seat) {
	o.Wheelchairs = o.Wheelchairs || s.Kind == "accessible"
	if !o.tier(s.Tier) {
		o.Tiers = append(o.Tiers, bestTier{s.Tier, s.AmountMinor})
	}
	if !slices.Contains(o.sections, s.Section) {
		o.sections = append(o.sections, s.Section)
	}
}

func (o *offered) tier(name string) bool {
	return slices.ContainsFunc(o.Tiers, func(t bestTier) bool { return t.Name == name })
}

// bestOf is that choice in a hall; nil where there are no numbered seats.
func (h *Hall) bestOf(event, key string, quota int) *bestPage {
	if h.rows.Len() == 0 {
		return nil
	}
	return &bestPage{h.best, event, key, h.plan.Currency, quota, min(2, quota)}
}

// together says whether seats that are an order's stand side by side. Nil: they
// have no places to stand at.
func (h *Hall) together(seats []inventory.OrderSeat) *bool {
	var places []int
	for _, s := range seats {
		if at, numbered := h.numbered[s.GUID]; numbered && !s.GivenBack {
			places = append(places, at)
		}
	}
	if len(places) == 0 {
		return nil
	}
	side := h.rows.Together(places)
	return &side
}

// offers refuses a wish for the best of what the hall does not have at all.
func (h *Hall) offers(b inventory.Best) error {
	switch {
	case b.Tier != "" && !h.best.tier(b.Tier):
		return problem("unknown_tier", strconv.Quote(b.Tier)+" has no numbered seats")
	case b.Section != "" && !slices.Contains(h.best.sections, b.Section):
		return problem("unknown_section", strconv.Quote(b.Section)+" has no numbered seats")
	}
	return nil
}
