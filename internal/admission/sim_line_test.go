package admission

import "time"

// takeOver makes a new holder. It is told of the passes that are out: what they
// bought, and when they last showed life, as far as anybody remembers.
func (s *sim) takeOver() {
	s.door, _ = s.door.Acquire(s.door, "holder")
	s.sale.ReadAt = s.time()
	s.r = NewRelease(s.sale, s.door, s.time())
	for i, id := range s.saw.takers {
		f := &s.crowd[id]
		if s.now-s.saw.takes[i] > s.sale.PassLife {
			continue
		}
		s.r.LetIn(f.take, f.number, s.start.Add(s.saw.takes[i]))
		if f.got > 0 {
			s.r.Claimed(f.take, int64(f.got), s.start.Add(f.claimed))
		}
		s.r.Alive(f.take, s.start.Add(max(f.sign, s.saw.takes[i])))
	}
	s.observe()
}

// tick is the holder's step; its refill lands at once, or after the latency.
func (s *sim) tick() {
	s.release()
	d := s.r.Step(s.time(), s.door, int64(len(s.holder)), s.atDoor())
	s.saw.states[d.Figures.State] = true
	s.landing = d.Refill
	if s.latency == 0 {
		s.land()
		return
	}
	s.in(s.uniform(0, s.latency), simLands, 0)
}

func (s *sim) land() {
	if door, ok := s.door.Refill(s.landing); ok {
		s.door = door
	}
	s.r.Landed(s.time())
	for _, i := range s.rng.Perm(s.replicas) {
		s.serve(i)
	}
	s.check()
	s.in(Tick-s.now%Tick, simTicks, 0)
}

// serve is a replica's turn: its lowest numbers, for the credit there is.
func (s *sim) serve(replica int) {
	q := &s.doors[replica]
	k := min(int64(q.Len()), s.door.Credit/Milli, s.door.Budget)
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

// release answers those who have been held long enough; they come again.
func (s *sim) release() {
	for i := range s.doors {
		for _, n := range s.doors[i].Expire(s.time()) {
			s.crowd[s.holder[n]].between = true
			s.between++
			s.in(Jitter(1900*time.Millisecond, s.rng), simComes, s.holder[n])
		}
	}
}

func (s *sim) held() (n int) {
	for i := range s.doors {
		n += s.doors[i].Len()
	}
	return n
}

func (s *sim) atDoor() int64 { return int64(s.held()) + s.between }

// check looks, after everybody had a turn, for somebody kept at the door for
// nothing.
func (s *sim) check() {
	held := s.held()
	s.saw.doorMost = max(s.saw.doorMost, held)
	if s.door.Credit >= Milli && s.door.Budget >= 1 && !s.door.Stopped && held > 0 {
		s.saw.idle++
	}
	if s.free == 0 || s.live > 0 || held == 0 || s.door.Stopped {
		s.saw.stuckAt = s.now
	}
	s.saw.stuck = max(s.saw.stuck, s.now-s.saw.stuckAt)
}

// second is what happens once a second: reports, recount, settings, document.
func (s *sim) second() {
	for i := range s.facts {
		for _, x := range s.facts[i] {
			s.report(x)
		}
		s.facts[i] = s.facts[i][:0]
	}
	s.observe()
	s.front = s.door.Front
	if f, ok := Published(s.door); ok {
		s.doc = f
	}
	s.in(time.Second, simSecond, 0)
}

func (s *sim) observe() {
	if !s.noClaimers {
		s.r.Claimers(s.time())
	}
	if !s.noStock {
		s.r.Restock(s.recount())
	}
	s.sale.ReadAt = s.time()
	s.r.Set(s.sale)
}

func (s *sim) report(x simFact) {
	at := s.start.Add(x.at)
	switch {
	case x.kind == simComes:
		s.r.Came(x.number, at)
	case x.kind == simLands:
		s.r.LetIn(x.take, x.number, at)
	case x.kind == simSigns:
		s.r.Alive(x.take, at)
	case x.kind == simClaims && x.nothing:
		s.r.FoundNothing(x.take, x.tickets, at)
	case x.kind == simClaims:
		s.r.Claimed(x.take, x.tickets, at)
	case x.kind == simGoes:
		s.r.Gone(x.take, at)
	case x.kind == simGivesUp:
		s.r.GaveUp(x.number, at)
	}
}

func (s *sim) recount() Stock {
	n := Stock{Free: int64(s.free), Sold: int64(s.sold), Expired: s.expired, PaidLate: s.paidLate, At: s.time()}
	open := s.pending[:0]
	for _, id := range s.pending {
		f := &s.crowd[id]
		if f.payBy == 0 {
			continue
		}
		open = append(open, id)
		n.Pending += int64(f.got)
		if f.payBy <= s.now+s.r.Theta() {
			n.Due += int64(f.got)
		}
	}
	s.pending = open
	return n
}
