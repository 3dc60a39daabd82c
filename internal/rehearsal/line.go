package rehearsal

import (
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/course"
)

// fact is what a replica will report of somebody.
type fact struct {
	at            time.Time
	kind          factKind
	take, tickets int64
	number        int64
}

type factKind uint8

const (
	came factKind = iota
	leaves
	letIn
	alive
	bought
	nothing
	gone
)

// takeOver makes a new holder. It is told of the passes that are out: what they
// bought, and when they last showed life, as far as anybody remembers.
func (s *stage) takeOver() {
	s.door, _ = s.door.Acquire(s.door, "holder")
	s.sale.ReadAt = s.time()
	s.release = admission.NewRelease(s.sale, s.door, s.time())
	for i, id := range s.saw.takers {
		p, at := &s.people[id], s.saw.takes[i]
		if s.now-at > s.sale.PassLife {
			continue
		}
		s.release.LetIn(p.take, p.number, s.start.Add(at), s.start.Add(at+s.sale.PassLife))
		if p.got > 0 {
			s.release.Claimed(p.take, int64(p.got), s.start.Add(p.claimed))
		}
		s.release.Alive(p.take, s.start.Add(max(p.sign, at)))
	}
	s.observe()
}

// tick is the holder's step; its refill lands at once, or after a while.
func (s *stage) tick() {
	s.answer()
	if s.down {
		s.rest()
		return
	}
	d := s.release.Step(s.time(), s.door, int64(len(s.holder)), s.atDoor())
	s.last = d.Figures
	s.saw.states[d.Figures.State] = true
	s.landing = d.Refill
	if s.House.Store == 0 {
		s.land()
		return
	}
	s.in(s.upTo(s.House.Store), lands, 0)
}

func (s *stage) land() {
	if s.odds(s.losing) {
		if s.odds(0.5) {
			s.door, _ = s.door.Refill(s.landing)
		}
		s.release.Landed(s.time()) // the holder reads the door
	} else if door, ok := s.door.Refill(s.landing); ok {
		s.door = door
		s.release.Landed(s.time())
	}
	s.rest()
}

// rest gives every replica its turn, and waits for the next step.
func (s *stage) rest() {
	for _, i := range s.rng.Perm(s.House.Replicas) {
		s.serve(i)
	}
	s.check()
	s.in(admission.Tick-s.now%admission.Tick, ticks, 0)
}

// serve is a replica's turn: its lowest numbers, for the credit there is.
func (s *stage) serve(replica int) {
	q := &s.doors[replica]
	k := min(int64(q.Len()), s.door.Credit/admission.Milli, s.door.Budget)
	if k < 1 {
		return
	}
	after, ok := s.door.Take(s.sale.Epoch, k)
	if !ok {
		return
	}
	s.door = after
	for i, n := range q.Lowest(int(k)) {
		q.Drop(n)
		s.enter(s.holder[n], after.Taken-k+1+int64(i))
	}
}

// answer tells those who have been held long enough to come again.
func (s *stage) answer() {
	for i := range s.doors {
		for _, n := range s.doors[i].Expire(s.time()) {
			s.people[s.holder[n]].between = true
			s.between++
			pause := s.upTo(time.Duration(admission.PollJitter * float64(admission.HoldFor)))
			s.in(pause+s.upTo(s.House.Reply), comes, s.holder[n])
		}
	}
}

func (s *stage) held() (n int) {
	for i := range s.doors {
		n += s.doors[i].Len()
	}
	return n
}

func (s *stage) atDoor() int64 { return int64(s.held()) + s.between }

// check looks, after everybody had a turn, for somebody kept at the door for
// nothing.
func (s *stage) check() {
	held := s.held()
	s.saw.doorMost = max(s.saw.doorMost, held)
	if s.door.Credit >= admission.Milli && s.door.Budget >= 1 && !s.door.Stopped && held > 0 {
		s.saw.idle++
	}
	if s.free == 0 || s.live > 0 || held == 0 || s.door.Stopped {
		s.saw.stuckAt = s.now
	}
	s.saw.stuck = max(s.saw.stuck, s.now-s.saw.stuckAt)
}

// second is what happens once a second: reports, recount, settings, document.
func (s *stage) second() {
	s.hear()
	s.observe()
	s.front = max(s.front, s.door.Front)
	if f, ok := admission.Published(s.door); ok {
		s.doc = f
	}
	s.sample()
	s.in(time.Second, second, 0)
}

func (s *stage) observe() {
	if !s.noClaimers {
		s.release.Load(s.claimers.load(s.now, s.time()))
	}
	if s.sale.MaxInside > 0 {
		s.release.Within(admission.Within{Take: s.door.Taken, People: s.within(admission.BackAfter)})
	}
	if !s.noStock {
		s.release.Restock(s.recount())
	}
	s.sale.ReadAt = s.time()
	s.release.Set(s.sale)
}

// tell puts a fact into the next report of the replica that saw it, at that
// replica's time.
func (s *stage) tell(p *person, x fact) {
	x.at = s.time()
	if int(p.replica) < len(s.House.Skew) {
		x.at = x.at.Add(s.House.Skew[p.replica])
	}
	s.facts[p.replica] = append(s.facts[p.replica], x)
}

// hear takes in the reports: the holder's own replica's, and what the others
// had to say a second ago.
func (s *stage) hear() {
	heard := s.late
	s.late = nil
	for i := range s.facts {
		if i == 0 {
			heard = append(heard, s.facts[i]...)
		} else {
			s.late = append(s.late, s.facts[i]...)
		}
		s.facts[i] = s.facts[i][:0]
	}
	for _, x := range heard {
		s.note(x)
	}
}

func (s *stage) note(x fact) {
	switch x.kind {
	case came:
		s.release.Came(x.number, x.at)
	case leaves:
		s.release.GaveUp(x.number, x.at)
	case letIn:
		s.release.LetIn(x.take, x.number, x.at, x.at.Add(s.sale.PassLife))
	case alive:
		s.release.Alive(x.take, x.at)
	case bought:
		s.release.Claimed(x.take, x.tickets, x.at)
	case nothing:
		s.release.FoundNothing(x.take, x.tickets, x.at)
	case gone:
		s.release.Gone(x.take, x.at)
	}
}

// sample is this second in the course of the sale.
func (s *stage) sample() {
	f := s.last
	s.saw.wave, s.saw.lineMost = max(s.saw.wave, f.Wave), max(s.saw.lineMost, f.Waiting)
	x := course.Sample{
		T: (s.now - s.opens).Seconds(), State: string(f.State), Wave: f.Wave, Line: f.Waiting, Front: s.door.Front,
		AtDoor: f.AtDoor, Inside: f.Inside, Rate: f.Rate, Share: f.Share, Tickets: f.Tickets,
		Free: int64(s.free), Pending: int64(s.Seats - s.free - s.sold), Sold: int64(s.sold),
	}
	x.LetIn = float64(lately(s.saw.takes, s.now))
	x.Claims = float64(lately(s.saw.claims.lately, s.now))
	s.saw.samples = append(s.saw.samples, x)
}

// lately is how many of the times lie in the second before now.
func lately(times []time.Duration, now time.Duration) (n int) {
	for i := len(times) - 1; i >= 0 && now-times[i] < time.Second; i-- {
		n++
	}
	return n
}
