package main

import (
	"fmt"
	"io"

	"waitroom/internal/listing"
	"waitroom/internal/seating"
)

// describeHall tells what was imported, and how many seats are held back.
func describeHall(out io.Writer, h *listing.Hall, held int) {
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
