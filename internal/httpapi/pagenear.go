package httpapi

import (
	"cmp"
	"math"
	"slices"

	"waitroom/internal/inventory"
)

// nearSeat is offered in place of one that has just gone.
type nearSeat struct {
	GUID, Name  string
	AmountMinor int64
}

// nearEach is how many are offered for one that has gone.
const nearEach = 3

// near are the free seats closest to those that have gone, of their price before
// all others, and none of those that are chosen.
func (h *Hall) near(l *tongue, gone []string, chosen map[string]bool) (out []nearSeat) {
	count, not := h.last.Load(), map[string]bool{}
	if count == nil {
		return nil
	}
	for _, g := range gone {
		not[g] = true // the count may not know it yet
	}
	for _, g := range gone {
		at, ok := h.index[g]
		if !ok {
			continue
		}
		for _, s := range h.closest(count, h.plan.Seats[at], func(g string) bool { return not[g] || chosen[g] }) {
			not[s.GUID] = true
			out = append(out, nearSeat{s.GUID, l.Seat(s.Section, s.Row, s.Number), s.AmountMinor})
		}
	}
	return out
}

func (h *Hall) closest(count *inventory.Count, to inventory.Seat, not func(string) bool) []inventory.Seat {
	type candidate struct {
		seat inventory.Seat
		same int
		far  float64
	}
	var all []candidate
	for _, s := range h.plan.Seats {
		if s.Kind != to.Kind || s.Kind == "general" || !isFree(count, s.Pos) || not(s.GUID) {
			continue
		}
		one := candidate{s, 1, math.Hypot(s.X-to.X, s.Y-to.Y)}
		if s.Tier == to.Tier {
			one.same = 0
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.same, b.same), cmp.Compare(a.far, b.far), cmp.Compare(a.seat.Pos, b.seat.Pos))
	})
	var near []inventory.Seat
	for _, c := range all[:min(nearEach, len(all))] {
		near = append(near, c.seat)
	}
	return near
}
