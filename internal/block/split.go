package block

// apart is the best way to seat a party that no free block takes whole: in as
// few parts as may be, as even as may be, the later ones near the first. Nobody
// of a larger party sits alone where another way of as many parts avoids it.
//
// Places for wheelchairs stay with the first part, and who comes along sits there
// as far as there is room. Only where nothing else seats the party they are spread
// too, as even as may be.
func (h *Hall) apart(free *Free, w Wish) (seats []int, ok bool) {
	for _, spread := range []bool{false, true} {
		for parts := 2; parts <= w.Count && (w.Accessible > 1 || !spread); parts++ {
			for _, least := range []int{2, 1} {
				s := split{h, free, w, spread, least, tries}
				if seats, ok = s.seat(w.Count, w.Accessible, parts, w.Count, nil); ok {
					return seats, true
				}
			}
		}
	}
	return nil, false
}

// tries bounds how often a hall is looked through for one number of parts, a single
// seat for everybody included: others wait while a claim looks.
const tries = 200

// split is a way to divide a party.
type split struct {
	hall   *Hall
	free   *Free
	wish   Wish
	spread bool // places for wheelchairs too
	least  int  // how many sit together at least
	tries  int
}

// seat seats what is left of a party in so many parts, of which none is larger
// than most, and none than one before it but for the first with wheelchairs: that
// one has only the room beside them.
func (s *split) seat(rest, wheels, parts, most int, near *Point) (seats []int, ok bool) {
	even := (rest + parts - 1) / parts
	for size := even; size <= min(most, rest-(parts-1)*s.least); size++ {
		seats, none, ok := s.part(size, rest, wheels, parts, size, near)
		if ok {
			return seats, true
		}
		if none && wheels == 0 {
			break // and no larger one
		}
	}
	for size := even - 1; size >= max(s.least, wheels) && wheels > 0 && !s.spread; size-- {
		if seats, _, ok := s.part(size, rest, wheels, parts, rest, near); ok {
			return seats, true
		}
	}
	return nil, false
}

// part seats one part, and the others after it. None: no block of the size is free.
func (s *split) part(size, rest, wheels, parts, most int, near *Point) (seats []int, none, ok bool) {
	wish := s.wish
	wish.Count, wish.Accessible = size, wheels
	if s.spread {
		wish.Accessible = (wheels + parts - 1) / parts
	}
	if s.tries--; s.tries < 0 || size < s.least || wish.Accessible > size {
		return nil, false, false
	}
	b := s.hall.best(s.free, wish, near)
	if b.run < 0 {
		return nil, true, false
	}
	seats = s.hall.seatsOf(b)
	if parts == 1 {
		return seats, false, true
	}
	for _, seat := range seats {
		s.free.Take(seat)
		defer s.free.Let(seat)
		tier := s.hall.seats[seat].Tier
		if _, few := s.wish.Most[tier]; few { // the other parts may have so many less
			s.wish.Most[tier]--
			defer func() { s.wish.Most[tier]++ }()
		}
	}
	if near == nil {
		near = &Point{s.hall.seats[seats[0]].X, s.hall.seats[seats[0]].Y}
	}
	others, ok := s.seat(rest-size, wheels-wish.Accessible, parts-1, most, near)
	return append(seats, others...), false, ok
}
