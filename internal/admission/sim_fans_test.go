package admission

import (
	"math"
	"sort"
	"time"
)

// simFan is one person.
type simFan struct {
	number  int64
	take    int64
	want    int32
	got     int32
	replica int8

	absent, buyer, pays, quiet bool

	called  bool // saw that it was called, and came
	between bool // at the door, between two requests
	silent  bool // gave its last sign of life
	done    bool // claimed, gone, or out of the line

	sign, claimed, payBy time.Duration
}

// simFact is what a replica will report of a fan.
type simFact struct {
	at            time.Duration
	kind          simKind
	take, tickets int64
	number        int64
	nothing       bool
}

// gather makes the crowd up, in the order in which it will join.
func (s *sim) gather() {
	at := make([]time.Duration, s.fans)
	for i := range at {
		at[i] = s.uniform(0, opening)
		if !s.odds(s.early) {
			at[i] = opening + s.late + s.exp(s.arrive)
		}
	}
	sort.Slice(at, func(i, j int) bool { return at[i] < at[j] })
	s.crowd = make([]simFan, s.fans)
	for i := range s.crowd {
		whole, part := math.Modf(s.tickets)
		f := simFan{want: int32(whole), absent: s.odds(s.absent), buyer: s.odds(s.share), pays: !s.odds(s.neverPay), quiet: s.odds(s.quiet)}
		if s.odds(part) {
			f.want++
		}
		s.crowd[i] = f
		s.queue.push(simEvent{at[i], simJoins, int32(i)})
	}
}

func (s *sim) fan(f *simFan, e simEvent) {
	switch e.kind {
	case simJoins:
		s.join(f, e.id)
	case simPolls:
		s.poll(f, e.id)
	case simComes:
		s.come(f)
	case simSigns:
		s.sign(f, e.id)
	case simClaims:
		s.claim(f, e.id)
	case simGoes:
		s.goAway(f)
	case simGivesUp:
		s.giveWay(f)
	case simPays:
		s.pay(f)
	case simLapses:
		s.free += int(f.got)
		s.expired++
		f.payBy = 0
	}
}

func (s *sim) join(f *simFan, id int32) {
	for s.odds(s.burned) {
		s.holder = append(s.holder, -1)
	}
	f.number = int64(len(s.holder))
	s.holder = append(s.holder, id)
	if s.odds(s.giveUp) {
		s.in(s.exp(time.Minute), simGivesUp, id)
	}
	s.poll(f, id)
}

func (s *sim) giveWay(f *simFan) {
	if !f.called && !f.done {
		f.done = true
		s.tell(f, simFact{kind: simGivesUp, number: f.number})
	}
}

// poll is the page's look at the shared document.
func (s *sim) poll(f *simFan, id int32) {
	switch {
	case f.done:
	case f.number >= s.front:
		s.in(Jitter(s.doc.Poll(Ahead(f.number, s.front), s.time()), s.rng), simPolls, id)
	case !f.absent:
		f.called = true
		s.in(s.uniform(100*time.Millisecond, 500*time.Millisecond), simComes, id)
	}
}

// come is the request for a pass.
func (s *sim) come(f *simFan) {
	if f.between {
		f.between = false
		s.between--
	}
	f.replica = int8(s.rng.IntN(s.replicas))
	s.tell(f, simFact{kind: simComes, number: f.number})
	s.doors[f.replica].Hold(f.number, s.time().Add(HoldFor))
	s.serve(int(f.replica))
}

// enter is the pass in hand.
func (s *sim) enter(id int32, take int64) {
	f := &s.crowd[id]
	f.take = take
	s.live++
	if n := len(s.saw.takers); n > 0 && f.number < s.crowd[s.saw.takers[n-1]].number {
		s.saw.inverted++
	}
	s.saw.takes, s.saw.takers = append(s.saw.takes, s.now), append(s.saw.takers, id)
	s.tell(f, simFact{kind: simLands, take: take, number: f.number})
	if !f.quiet {
		s.in(s.uniform(0, time.Second), simSigns, id)
	}
	if f.buyer {
		s.in((s.exp(s.think)+s.exp(s.think))/2, simClaims, id)
		return
	}
	s.in(s.exp(30*time.Second), simGoes, id)
}

func (s *sim) sign(f *simFan, id int32) {
	if f.done || f.silent {
		return
	}
	f.sign = s.now
	s.tell(f, simFact{kind: simSigns, take: f.take})
	s.in(s.uniform(9*time.Second, 10*time.Second), simSigns, id)
}

// claim takes what is left, if it is less than wanted.
func (s *sim) claim(f *simFan, id int32) {
	got := min(f.want, int32(s.free))
	if got < f.want {
		s.tell(f, simFact{kind: simClaims, take: f.take, tickets: int64(f.want), nothing: true})
	}
	if got == 0 {
		s.findNothing(f, id)
		return
	}
	f.got, f.done, f.claimed, f.payBy = got, true, s.now, s.now+s.payWithin
	s.live--
	s.free -= int(got)
	s.tell(f, simFact{kind: simClaims, take: f.take, tickets: int64(got)})
	s.pending = append(s.pending, id)
	if s.saw.claimed99 == 0 && 100*s.free <= s.seats {
		s.saw.claimed99 = s.now - opening
	}
	if s.saw.claimed == 0 && s.free == 0 {
		s.saw.claimed, s.saw.first = s.now-opening, len(s.saw.takes)
	}
	if f.pays {
		s.in(s.uniform(s.payWithin/6, s.payWithin*5/6), simPays, id)
		return
	}
	s.in(s.payWithin+s.uniform(0, time.Second), simLapses, id)
}

func (s *sim) findNothing(f *simFan, id int32) {
	s.saw.nothing++
	if f.take <= int64(s.saw.first) {
		s.saw.firstNothing++
	}
	s.in(s.exp(10*time.Second), simGoes, id)
}

// goAway buys nothing; half of them say so.
func (s *sim) goAway(f *simFan) {
	s.live--
	if f.silent = true; s.odds(0.5) {
		f.done = true
		s.tell(f, simFact{kind: simGoes, take: f.take})
	}
}

func (s *sim) pay(f *simFan) {
	s.sold += int(f.got)
	for range f.got {
		s.saw.final = append(s.saw.final, f.claimed)
	}
	if f.payBy-s.now <= s.r.Theta() {
		s.paidLate++
	}
	f.payBy = 0
}

// tell puts a fact into the next report of the replica that saw it.
func (s *sim) tell(f *simFan, x simFact) {
	x.at = s.now
	s.facts[f.replica] = append(s.facts[f.replica], x)
}
