package rehearsal

import (
	"time"

	"waitroom/internal/admission"
)

// claimers answer claims one after the other, if there is a limit to how many.
type claimers struct {
	free     time.Duration // when the last claim so far is answered
	answered int           // since the last report
	slowest  time.Duration
	most     time.Duration // in all
}

// ask puts a claim before the claimers; it is decided when they come to it.
func (s *stage) ask(p *person, id int32) {
	if s.House.Claims == 0 {
		s.claimers.answered++
		s.claim(p, id)
		return
	}
	if p.asked = !p.asked; !p.asked {
		s.claim(p, id)
		return
	}
	c := &s.claimers
	c.free = max(c.free, s.now) + time.Duration(float64(time.Second)/s.House.Claims)
	c.answered++
	c.slowest = max(c.slowest, c.free-s.now)
	c.most = max(c.most, c.slowest)
	s.in(c.free-s.now, claims, id)
}

// load is their report of the last second.
func (c *claimers) load(now time.Duration, at time.Time) admission.Load {
	l := admission.Load{At: at, Mark: at.UnixMilli(), Answers: float64(c.answered), P95: c.slowest, QueueAge: max(0, c.free-now)}
	c.answered, c.slowest = 0, 0
	return l
}

// within is how many are inside as the organiser's cap counts them.
func (s *stage) within(back time.Duration) (n int64) {
	for i, id := range s.saw.takers {
		p := &s.people[id]
		if p.payBy > 0 || p.got == 0 && s.now-s.saw.takes[i] < s.sale.PassLife && !(p.done && s.now-p.left >= back) {
			n++
		}
	}
	return n
}
