package httpapi

import (
	"slices"
	"strconv"

	"waitroom/internal/block"
	"waitroom/internal/inventory"
)

// rowsOf reads out of a plan which numbered seats stand side by side.
func rowsOf(plan inventory.SeatPlan) (rows *block.Hall, at map[string]int) {
	at = map[string]int{}
	var seats []block.Seat
	for _, s := range plan.Seats {
		if s.Kind == "general" {
			continue
		}
		at[s.GUID] = len(seats)
		seats = append(seats, block.Seat{Section: s.Section, Row: s.Row, Number: s.Number, X: s.X, Y: s.Y})
	}
	return block.NewHall(seats, block.Ahead(seats)), at
}

// bestPage is the choice for who leaves the choice to us.
type bestPage struct {
	Event, Key, Currency string
	Quota, Most          int // seats that the pass is good for; and to begin with
	Tiers                []bestTier
	Wheelchairs          bool
}

type bestTier struct {
	Name        string
	AmountMinor int64
}

// bestOf is that choice in a hall; nil where there are no numbered seats.
func (h *Hall) bestOf(event, key string, quota int) *bestPage {
	if h.rows.Len() == 0 {
		return nil
	}
	b := &bestPage{Event: event, Key: key, Currency: h.plan.Currency, Quota: quota, Most: min(2, quota)}
	for _, s := range h.plan.Seats {
		if s.Kind == "general" {
			continue
		}
		b.Wheelchairs = b.Wheelchairs || s.Kind == "accessible"
		if !slices.ContainsFunc(b.Tiers, func(t bestTier) bool { return t.Name == s.Tier }) {
			b.Tiers = append(b.Tiers, bestTier{s.Tier, s.AmountMinor})
		}
	}
	return b
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
	among := func(has func(inventory.Seat) bool) bool {
		return slices.ContainsFunc(h.plan.Seats, func(s inventory.Seat) bool { return s.Kind != "general" && has(s) })
	}
	switch {
	case b.Tier != "" && !among(func(s inventory.Seat) bool { return s.Tier == b.Tier }):
		return problem("unknown_tier", strconv.Quote(b.Tier)+" has no numbered seats")
	case b.Section != "" && !among(func(s inventory.Seat) bool { return s.Section == b.Section }):
		return problem("unknown_section", strconv.Quote(b.Section)+" has no numbered seats")
	}
	return nil
}
