package rehearsal

import (
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/audience"
)

// claim takes the seats wanted, or what is left of them; who finds none looks
// again for a while.
func (s *stage) claim(p *person, id int32) {
	got := min(int32(p.Seats), int32(s.free))
	if p.Together && got < int32(p.Seats) {
		got = 0
	}
	if got > 0 {
		s.order(p, id, got)
		return
	}
	if p.tries++; p.tries < audience.Tries {
		s.in(admission.Jitter(audience.TryAgain, s.rng), claims, id)
		return
	}
	s.saw.nothing++
	if p.take <= int64(s.saw.first) || s.saw.gone == 0 {
		s.saw.firstNothing++
	}
	s.goAway(p)
}

func (s *stage) order(p *person, id, got int32) {
	p.got, p.done, p.claimed, p.payBy = got, true, s.now, s.now+s.PayWithin
	s.live--
	s.free -= int(got)
	s.open = append(s.open, id)
	s.tell(p, fact{kind: bought, take: p.take, tickets: int64(got)})
	s.saw.claims.note(s.now)
	for range got {
		s.saw.claimed = append(s.saw.claimed, s.now)
	}
	if s.saw.claimed99 == 0 && 100*s.free <= s.Seats {
		s.saw.claimed99 = s.now
	}
	if s.saw.gone == 0 && s.free == 0 {
		s.saw.gone, s.saw.first = s.now, len(s.saw.takes)
	}
	due := p.UntilPaying + s.upTo(s.House.Notice)
	switch {
	case p.Ends == audience.Cancels && p.UntilPaying < s.PayWithin:
		s.in(p.UntilPaying, cancels, id)
	case (p.Ends == audience.Pays || p.Ends == audience.PaysTwice) && due < s.PayWithin:
		s.in(due, pays, id)
	default:
		s.in(s.PayWithin+s.upTo(200*time.Millisecond), lapses, id)
	}
}

func (s *stage) pay(p *person) {
	s.sold += int(p.got)
	for range p.got {
		s.saw.final, s.saw.paid = append(s.saw.final, p.claimed), append(s.saw.paid, s.now)
	}
	if p.payBy-s.now <= s.release.Theta() {
		s.payLate++
	}
	p.payBy = 0
}

// end gives the seats back.
func (s *stage) end(p *person) {
	s.free += int(p.got)
	p.payBy = 0
}

func (s *stage) recount() admission.Stock {
	n := admission.Stock{Free: int64(s.free), Sold: int64(s.sold), Expired: s.expired, PaidLate: s.payLate, At: s.time()}
	still := s.open[:0]
	for _, id := range s.open {
		p := &s.people[id]
		if p.payBy == 0 {
			continue
		}
		still = append(still, id)
		n.Pending += int64(p.got)
		if p.payBy <= s.now+s.release.Theta() {
			n.Due += int64(p.got)
		}
	}
	s.open = still
	return n
}
