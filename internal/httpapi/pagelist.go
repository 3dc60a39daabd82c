package httpapi

import "waitroom/internal/inventory"

type sectionGroup struct {
	Name string
	Free int64
	From int64 // the lowest price that is free, but for wheelchair places
	Open bool
	More string // of a large hall: its rows are asked for by this; "": they are here
	Rows []*rowGroup
}

type rowGroup struct {
	Section, Name string
	Free          int64
	Price         int64 // of its seats, unless one says another
	Open          bool
	Seats         []seatChoice
	regular       int // seats that are no wheelchair places
}

type seatChoice struct {
	GUID, Number string
	AmountMinor  int64
	Accessible   bool
	Chosen       bool
	Kept         bool // for a presale's code
}

// longList is how many seats a list may have in whole. The rows of a larger hall
// are asked for a section at a time: a page of all of them is 2 MB.
const longList = 3000

// shorten leaves only those rows in a long list that are open, and what leads to
// the others.
func (h *Hall) shorten(all []*sectionGroup, open string) {
	if len(h.numbered) <= longList {
		return
	}
	for _, s := range all {
		s.Open = s.Open || s.Name == open
		if !s.Open {
			s.More, s.Rows = s.Name, nil
		}
	}
}

func isFree(count *inventory.Count, pos int) bool { return bitsOf(count, pos) == 0 }

// isKept: free, and to be had by a presale's code alone.
func isKept(count *inventory.Count, pos int) bool { return bitsOf(count, pos) == 3 }

// bitsOf are a seat's; what was not counted is gone.
func bitsOf(count *inventory.Count, pos int) byte {
	if pos/4 >= len(count.Bitmap) {
		return 2
	}
	return count.Bitmap[pos/4] >> (pos % 4 * 2) & 3
}

// sections are the numbered seats that are free, by a code or without one, or chosen,
// in the plan's order.
func (h *Hall) sections(count *inventory.Count, chosen map[string]bool) (out []*sectionGroup) {
	if count == nil {
		return nil
	}
	for _, seat := range h.plan.Seats {
		kept := isKept(count, seat.Pos)
		if seat.Kind == "general" || !kept && !isFree(count, seat.Pos) && !chosen[seat.GUID] {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Name != seat.Section {
			out = append(out, &sectionGroup{Name: seat.Section})
		}
		out[len(out)-1].add(seat, chosen[seat.GUID], kept)
	}
	return out
}

func (s *sectionGroup) add(seat inventory.Seat, chosen, kept bool) {
	if len(s.Rows) == 0 || s.Rows[len(s.Rows)-1].Name != seat.Row {
		s.Rows = append(s.Rows, &rowGroup{Section: s.Name, Name: seat.Row})
	}
	row := s.Rows[len(s.Rows)-1]
	s.Free, row.Free = s.Free+1, row.Free+1
	s.Open, row.Open = s.Open || chosen, row.Open || chosen
	accessible := seat.Kind == "accessible"
	if s.From == 0 || s.From > seat.AmountMinor && !accessible {
		s.From = seat.AmountMinor
	}
	if row.Price == 0 || !accessible && row.regular == 0 {
		row.Price = seat.AmountMinor
	}
	if !accessible {
		row.regular++
	}
	row.Seats = append(row.Seats, seatChoice{seat.GUID, seat.Number, seat.AmountMinor, accessible, chosen, kept})
}
