package bench

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"waitroom/examples"
	"waitroom/internal/availability"
	"waitroom/internal/block"
	"waitroom/internal/document"
	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

// sizes are what a phone in a crowd fetches of an arena of 20,560 seats, in kB
// compressed, against what each may be: its layout, and what of it is free when
// half is sold at random, and when a third is in carts besides. Nothing tells three
// states apart in less than log2(3) bits a seat: that is the last one's anchor.
func sizes(_ context.Context, _ string, _ Effort, _ io.Writer) ([]Figure, error) {
	plan, err := arena()
	if err != nil {
		return nil, err
	}
	offer := seating.Offer{Currency: "EUR"}
	for _, c := range plan.Categories {
		offer.Prices = append(offer.Prices, seating.Price{Category: c.Name, AmountMinor: 5000})
	}
	hall, err := seating.Sell(plan, offer)
	if err != nil {
		return nil, err
	}
	body, hash := hall.Seatmap()
	layout, err := document.Named(hash, body)
	if err != nil {
		return nil, err
	}
	half, err := freeOf(plan.Seats, 0, .5)
	if err != nil {
		return nil, err
	}
	worst, err := freeOf(plan.Seats, 1./3, 1./3)
	if err != nil {
		return nil, err
	}
	seats := float64(len(plan.Seats))
	kB := float64(len(layout.Gzip)) / 1000
	return []Figure{
		times("layout_size", "kB", kB, 30),
		times("layout_size_per_1000_seats", "kB", kB*1000/seats, 3),
		times("availability_size_half_sold", "kB", float64(half)/1000, 4),
		times("availability_size_at_worst_vs_entropy", "kB", float64(worst)/1000, seats*math.Log2(3)/8000),
	}, nil
}

// freeOf is how many bytes it takes to say what is free where seats are in carts
// and gone by these odds.
func freeOf(seats []seating.Seat, carts, gone float64) (int, error) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same hall each time
	n := inventory.Count{At: time.UnixMilli(1_800_000_000_000), Bitmap: make([]byte, (len(seats)+3)/4)}
	at := map[string]int{}
	var stand []block.Seat
	var pos []int
	for i, s := range seats {
		stand, pos = append(stand, block.Seat{Section: s.Section, Row: s.Row, Number: s.Number, X: s.X, Y: s.Y}), append(pos, i)
		row, known := at[s.Section]
		if !known {
			row = len(n.Sections)
			at[s.Section] = row
			n.Sections = append(n.Sections, inventory.SectionCount{Section: s.Section, Tier: s.Category})
		}
		switch p := r.Float64(); {
		case p < carts:
			n.Bitmap[i/4] |= 1 << (i % 4 * 2)
			n.Sections[row].Pending++
		case p < carts+gone:
			n.Bitmap[i/4] |= 2 << (i % 4 * 2)
			n.Sections[row].Sold++
		default:
			n.Sections[row].Free++
		}
	}
	board := availability.New("gala", "plan", block.NewHall(stand, block.Ahead(stand)), pos)
	err := board.Show(n)
	doc, _ := board.Since("")
	return len(doc.Gzip), err
}

// arena is the plan of 20,560 seats.
func arena() (plan seating.Plan, err error) {
	data, err := examples.Arena()
	if err != nil {
		return plan, err
	}
	return seating.Parse("arena.json", data)
}
