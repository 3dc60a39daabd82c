package block

// apart is the best way to seat a party that no free block takes whole: in as
// few parts as may be, as even as may be, the later ones near the first. Nobody
// of a larger party sits alone where another way of as many parts avoids it.
//
// Places for wheelchairs stay with the first part, and who comes along sits there.
// Only where nothing else seats the party they are spread too, as even as may be.
func (h *Hall) apart(free *Free, w Wish) (seats []int, ok bool) {
	for _, spread := range []bool{false, true} {
		for parts := 2; parts <= w.Count && (w.Accessible > 1 || !spread); parts++ {
			for largest := (w.Count + parts - 1) / parts; largest <= w.Count-parts+1; largest++ {
				if seats, ok = h.inParts(free, w, parts, largest, spread); ok {
					return seats, true
				}
			}
		}
	}
	return nil, false
}

// inParts seats a party in so many parts, the first of a size, the others even.
func (h *Hall) inParts(free *Free, w Wish, parts, first int, spread bool) (seats []int, ok bool) {
	var near *Point
	defer func() {
		for _, s := range seats {
			free.Let(s)
		}
	}()
	wheels := w.Accessible
	for size, rest := first, w.Count; rest > 0; parts-- {
		part := w
		part.Count, part.Accessible = size, wheels
		if spread {
			part.Accessible = (wheels + parts - 1) / parts
		}
		if part.Accessible > part.Count {
			return seats, false
		}
		wheels -= part.Accessible
		b := h.best(free, part, near)
		if b.run < 0 {
			return seats, false
		}
		for _, s := range h.seatsOf(b) {
			free.Take(s)
			seats = append(seats, s)
			if near == nil {
				near = &Point{h.seats[s].X, h.seats[s].Y}
			}
		}
		rest -= size
		if parts > 1 {
			size = (rest + parts - 2) / (parts - 1)
		}
	}
	return seats, true
}
