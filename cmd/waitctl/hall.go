package main

import (
	"fmt"
	"io"

	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

// hall carries what seating read to where inventory keeps it.
type hall struct{ seating.Hall }

// kept is the hall in the seats table's terms; nil for no hall.
func (h *hall) kept() *inventory.Hall {
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

func (h *hall) heldBack() (n int) {
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

// describe tells what was imported, and how many seats are held back.
func (h *hall) describe(out io.Writer, held int) {
	if h == nil {
		return
	}
	seats := make([]int, len(h.Tiers))
	for pos := range h.Plan.Seats {
		seats[h.TierOf[pos]]++
	}
	fmt.Fprintf(out, "%d seats, %d of them held back\n", len(h.Plan.Seats), held)
	for i, t := range h.Tiers {
		fmt.Fprintf(out, "  %s: %d at %s %s\n", t.ID, seats[i], seating.FormatAmount(h.Currency, t.AmountMinor), h.Currency)
	}
	remarks(out, h.Plan)
}
