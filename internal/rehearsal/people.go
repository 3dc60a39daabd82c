package rehearsal

import (
	"slices"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/audience"
)

// person is one fan, and how far they have come.
type person struct {
	audience.Fan
	number, take int64
	got          int32
	tries        int8
	asked        bool // the claim is with the claimers
	replica      int32

	called  bool // saw that it was called, and came
	between bool // at the door, between two requests
	silent  bool // gave its last sign of life
	done    bool // claimed, gone, or out of the line

	joined, sign, claimed, left, payBy time.Duration
}

// gather has everybody on their way, those who come first before the others.
func (s *stage) gather() {
	s.people = make([]person, s.Audience.Fans)
	earliest := -max(time.Minute, 2*s.Lobby)
	for i := range s.people {
		s.people[i].Fan = s.Audience.Fan(i)
		earliest = min(earliest, s.people[i].Arrive)
	}
	slices.SortStableFunc(s.people, func(a, b person) int { return int(a.Arrive - b.Arrive) })
	s.opens = -earliest
	for i := range s.people {
		s.in(s.opens+s.people[i].Arrive, joins, int32(i))
	}
}

func (s *stage) act(p *person, e event) {
	switch e.kind {
	case joins:
		s.join(p, e.id)
	case polls:
		s.poll(p, e.id)
	case comes:
		s.come(p)
	case signs:
		s.giveSign(p, e.id)
	case claims:
		s.ask(p, e.id)
	case goes:
		s.goAway(p)
	case pays:
		s.pay(p)
	case cancels:
		s.end(p)
	case lapses:
		s.expired++
		s.end(p)
	}
}

func (s *stage) join(p *person, id int32) {
	s.saw.joins.note(s.now)
	if s.sale.LineCap > 0 && s.waiting() >= s.sale.LineCap {
		s.saw.refused++
		p.done = true
		return
	}
	s.saw.joined++
	p.joined = s.now
	if s.Lobby > 0 && s.now < s.opens-s.Lobby {
		s.lobby = append(s.lobby, id)
		return
	}
	for s.odds(s.House.Holes) {
		s.holder = append(s.holder, -1)
	}
	p.number = int64(len(s.holder))
	s.holder = append(s.holder, id)
	if !p.Absent { // who is not there does not look either
		s.poll(p, id)
	}
}

// waiting is how many the line's cap counts: the lobby before its draw, then whoever
// is not called, and not known to have left.
func (s *stage) waiting() int64 {
	return int64(max(len(s.lobby), len(s.holder))) - s.front - s.last.Left
}

// draw puts the lobby in its order; the pages see theirs at their next look.
func (s *stage) draw() {
	s.rng.Shuffle(len(s.lobby), func(i, j int) { s.lobby[i], s.lobby[j] = s.lobby[j], s.lobby[i] })
	for _, id := range s.lobby {
		p := &s.people[id]
		p.number = int64(len(s.holder))
		s.holder = append(s.holder, id)
		if !p.Absent {
			s.in(s.upTo(admission.PollMin), polls, id)
		}
	}
}

// poll is the page's look at the shared document.
func (s *stage) poll(p *person, id int32) {
	switch {
	case s.doc.State == admission.Closed:
		s.shutOut(p)
	case p.number < s.front:
		p.called = true
		s.in(s.upTo(s.House.Reply), comes, id)
	case p.Leaves && s.odds(0.3):
		p.done = true
		s.tell(p, fact{kind: leaves, number: p.number})
	default:
		s.in(admission.Jitter(s.doc.Poll(admission.Ahead(p.number, s.front), s.time()), s.rng), polls, id)
	}
}

// shutOut is somebody in the line of a sale that has closed.
func (s *stage) shutOut(p *person) {
	p.done = true
	s.saw.shutOut++
}

// come is the request for a pass.
func (s *stage) come(p *person) {
	if p.between {
		p.between = false
		s.between--
	}
	if s.doc.State == admission.Closed {
		s.shutOut(p)
		return
	}
	p.replica = int32(s.rng.IntN(s.House.Replicas))
	s.tell(p, fact{kind: came, number: p.number})
	s.doors[p.replica].Hold(p.number, s.time().Add(admission.HoldFor))
	s.serve(int(p.replica))
}

// enter is the pass in hand.
func (s *stage) enter(id int32, take int64) {
	p := &s.people[id]
	p.take = take
	s.live++
	if n := len(s.saw.takers); n > 0 && p.number < s.people[s.saw.takers[n-1]].number {
		s.saw.inverted++
	}
	s.saw.takes, s.saw.takers = append(s.saw.takes, s.now), append(s.saw.takers, id)
	s.saw.waits = append(s.saw.waits, s.now-p.joined)
	s.tell(p, fact{kind: letIn, take: take, number: p.number})
	if !p.Quiet {
		s.in(s.upTo(s.House.Reply), signs, id)
	}
	if p.Buys {
		s.in(p.Think, claims, id)
		return
	}
	s.in(p.Browse, goes, id)
}

func (s *stage) giveSign(p *person, id int32) {
	if p.done || p.silent {
		return
	}
	p.sign = s.now
	s.tell(p, fact{kind: alive, take: p.take})
	s.in(audience.Pulse, signs, id)
}

// goAway buys nothing. Who wanted to says so, if they say anything.
func (s *stage) goAway(p *person) {
	s.live--
	p.silent = true
	if p.Silent {
		return
	}
	p.done, p.left = true, s.now
	if p.Buys {
		s.tell(p, fact{kind: nothing, take: p.take, tickets: int64(p.Seats)})
	}
	s.tell(p, fact{kind: gone, take: p.take})
}
