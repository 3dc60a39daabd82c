package listing

import (
	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

// Hall carries what seating read to where inventory keeps it.
type Hall struct{ seating.Hall }

// Kept is the hall in the seats table's terms; nil for no hall.
func (h *Hall) Kept() *inventory.Hall {
	if h == nil {
		return nil
	}
	var kept inventory.Hall
	kept.Seatmap, kept.Hash = h.Seatmap()
	kept.Orphans = inventory.Orphans(h.Orphans)
	if h.Focus != nil {
		kept.Focus = &inventory.Focus{X: h.Focus.X, Y: h.Focus.Y}
	}
	for _, t := range h.Tiers {
		kept.Tiers = append(kept.Tiers, inventory.Tier{ID: t.ID, AmountMinor: t.AmountMinor, Color: t.Color})
	}
	for pos, s := range h.Plan.Seats {
		kept.Seats = append(kept.Seats, inventory.HallSeat{
			GUID: s.GUID, Kind: string(s.Kind), Section: s.Section, Row: s.Row, Number: s.Number,
			X: s.X, Y: s.Y, Tier: h.Tiers[h.TierOf[pos]].ID, HeldBack: h.HeldBack[pos],
		})
	}
	return &kept
}

// HeldBackSeats is how many seats nobody can claim.
func (h *Hall) HeldBackSeats() (n int) {
	if h == nil {
		return 0
	}
	for _, held := range h.HeldBack {
		if held {
			n++
		}
	}
	return n
}

// FreeSeats is how many seats can be bought.
func (h *Hall) FreeSeats() (n int) {
	for _, held := range h.HeldBack {
		if !held {
			n++
		}
	}
	return n
}
