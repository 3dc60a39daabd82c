package ordersmodel

import "fmt"

// Step is something that happens at once: a transaction that committed, a call that
// the provider did, a death.
type Step struct {
	Do      Do
	Buyer   int
	Order   int // of those that are there already, but for Claim
	Payment int
	Seats   uint8
	Lost    bool // of Claim: it is committed, and its answer comes to nobody
}

func (s Step) String() string {
	switch s.Do {
	case Claim:
		return fmt.Sprintf("buyer %d claims seats %02b as order %d, answer lost: %t", s.Buyer, s.Seats, s.Order, s.Lost)
	case List, Death:
		return string(s.Do)
	case Open, Capture, Tell, Send, Refund, Record, Look, Die:
		return fmt.Sprintf("%s order %d, payment %d", s.Do, s.Order, s.Payment)
	}
	return fmt.Sprintf("%s order %d", s.Do, s.Order)
}

// Do is a kind of step.
type Do string

// All that can happen.
const (
	Claim   Do = "claim"
	Again   Do = "ask again for" // the same attempt, after a lost answer
	Lapse   Do = "the time is over of"
	List    Do = "the expirer reads what is over"
	Expire  Do = "expire"           // what it has read, whatever happened since
	Death   Do = "the expirer dies" // and forgets what it has read
	Cancel  Do = "cancel"           // by its buyer
	Open    Do = "open"             // a payment at the provider
	Capture Do = "the provider captures"
	Tell    Do = "the provider tells of"
	Send    Do = "a refund's start is written down,"
	Refund  Do = "the provider refunds,"
	Record  Do = "its answer is written down,"
	Die     Do = "the outlet dies,"
	Look    Do = "a look,"
)

// Rules are what the sale does. The defects are what it would do without one of its
// guards: a model that finds nothing wrong with those looks at nothing.
type Rules struct {
	Orders, Payments int    // of the sale, and of an order
	Reclaim          bool   // late money may take the same seats again
	Calls            bool   // refunds are calls that are sent, lost and looked for; else they are done at once
	Without          Defect // "": every guard is there
}

// Defect names a guard that is left out.
type Defect string

// The guards.
const (
	FreeSeat      Defect = "a claim takes seats that are not free"
	OnePending    Defect = "the same attempt is another order"
	StillPending  Defect = "what was read to be over is ended, whatever it is by now"
	OneEnd        Defect = "money pays an order that has ended"
	CountedOnce   Defect = "the same money is counted again"
	OneKey        Defect = "a refund is sent again under another key"
	AllSeatsFree  Defect = "late money takes seats that are not free"
	OneCommit     Defect = "seats go back without a return row"
	OwesTheSecond Defect = "the second payment of an order is kept"
)

// Defects are all of them.
func Defects() []Defect {
	return []Defect{FreeSeat, OnePending, StillPending, OneEnd, CountedOnce, OneKey, AllSeatsFree, OneCommit, OwesTheSecond}
}

// Next are the steps that can be taken from a state, and where they lead.
func (r Rules) Next(s State, visit func(Step, State)) {
	r.claims(s, visit)
	for i, o := range s.Order {
		if o.Status == None {
			break
		}
		r.ends(s, i, visit)
		for p := range r.Payments {
			r.money(s, i, p, visit)
			r.refunds(s, i, p, visit)
		}
	}
	var over uint8
	for i, o := range s.Order {
		if o.Status == Pending && o.Lapsed {
			over |= 1 << i
		}
	}
	if t := s; over&^s.Listed != 0 {
		t.Listed |= over
		visit(Step{Do: List}, t)
	}
	if t := s; s.Listed != 0 {
		t.Listed = 0
		visit(Step{Do: Death}, t)
	}
}

// claims: orders whose time is over are ended by whoever wants their seats, or is
// their buyer, in the same transaction.
func (r Rules) claims(s State, visit func(Step, State)) {
	fresh := 0
	for fresh < r.Orders && s.Order[fresh].Status != None {
		fresh++
	}
	if fresh == r.Orders {
		return
	}
	for buyer := range Buyers {
		for seats := uint8(1); seats < 1<<Seats; seats++ {
			t := s
			for i, o := range t.Order[:fresh] {
				if o.Status == Pending && o.Lapsed && (o.Wants&seats != 0 || int(o.Buyer) == buyer) {
					r.end(&t, i, Expired)
				}
			}
			if !t.free(seats) && r.Without != FreeSeat || t.pendingOf(buyer) && r.Without != OnePending {
				continue
			}
			for _, lost := range []bool{false, true} {
				u := t
				u.Order[fresh] = Order{Buyer: uint8(buyer), Status: Pending, Wants: seats, Known: !lost}
				u.take(fresh)
				visit(Step{Do: Claim, Buyer: buyer, Order: fresh, Seats: seats, Lost: lost}, u)
			}
		}
	}
}

func (s State) pendingOf(buyer int) bool {
	for _, o := range s.Order {
		if o.Status == Pending && int(o.Buyer) == buyer {
			return true
		}
	}
	return false
}

func (r Rules) end(s *State, order int, how Status) {
	o := &s.Order[order]
	o.Status = how
	before := s.Returned
	s.release(order)
	if r.Without == OneCommit {
		s.Returned = before
	}
}

func (r Rules) ends(s State, i int, visit func(Step, State)) {
	o := s.Order[i]
	if t := s; !o.Known {
		t.Order[i].Known = true
		visit(Step{Do: Again, Order: i}, t)
	}
	if t := s; o.Status == Pending && !o.Lapsed {
		t.Order[i].Lapsed = true
		visit(Step{Do: Lapse, Order: i}, t)
	}
	if t := s; s.Listed&(1<<i) != 0 {
		t.Listed &^= 1 << i
		if o.Status == Pending && o.Lapsed || r.Without == StillPending {
			r.end(&t, i, Expired)
		}
		visit(Step{Do: Expire, Order: i}, t)
	}
	if t := s; o.Status == Pending && o.Known {
		r.end(&t, i, Cancelled)
		visit(Step{Do: Cancel, Order: i}, t)
	}
}

// money: the provider takes it for as long as the payment is open there, whatever
// became of the order, and tells of it at any time and as often as it likes.
func (r Rules) money(s State, i, n int, visit func(Step, State)) {
	o, p := s.Order[i], s.Order[i].Payments[n]
	step := func(do Do, t State) { visit(Step{Do: do, Order: i, Payment: n}, t) }
	if t := s; !p.Open && !p.Captured && o.Status == Pending && !o.Lapsed && o.Known && (n == 0 || o.Payments[n-1].Open || o.Payments[n-1].Captured) {
		t.Order[i].Payments[n].Open = true
		step(Open, t)
	}
	if t := s; p.Open {
		t.Order[i].Payments[n].Open, t.Order[i].Payments[n].Captured = false, true
		step(Capture, t)
	}
	if p.Captured {
		t := s
		r.count(&t, i, n)
		step(Tell, t)
	}
}

func (r Rules) count(s *State, i, n int) {
	o := &s.Order[i]
	p := &o.Payments[n]
	switch {
	case p.Stands != Uncounted && r.Without != CountedOnce:
	case o.Status == Pending || o.Status == Expired && r.Without == OneEnd:
		o.Status, o.PaidBy, p.Stands = Paid, uint8(n+1), OnOrder
	case o.Status == Expired && r.Reclaim && (s.free(o.Wants) || r.Without == AllSeatsFree):
		o.Status, o.PaidBy, p.Stands = Paid, uint8(n+1), OnOrder
		s.take(i)
	case o.Status == Paid && r.Without == OwesTheSecond:
		p.Stands = OnOrder
	default:
		p.Stands, p.Refund = ToRefund, Owed
	}
}

// refunds: the start is written before the call and the answer after it; whoever
// comes after a death looks first.
func (r Rules) refunds(s State, i, n int, visit func(Step, State)) {
	p := s.Order[i].Payments[n]
	step := func(do Do, change func(*Payment)) {
		t := s
		change(&t.Order[i].Payments[n])
		visit(Step{Do: do, Order: i, Payment: n}, t)
	}
	if !r.Calls {
		if p.Refund == Owed {
			step(Refund, func(p *Payment) { p.Refund, p.Refunded = Confirmed, p.Refunded+1 })
		}
		return
	}
	if p.Flying {
		// It may come to the provider long after who made it is dead. What the key
		// stands for is done once.
		step(Refund, func(p *Payment) {
			p.Flying = false
			if p.Refunded == 0 || r.Without == OneKey {
				p.Refunded++
			}
		})
	}
	switch p.Refund {
	case Owed:
		step(Send, func(p *Payment) { p.Refund, p.Flying = Sending, true })
	case Sending:
		if p.Refunded > 0 {
			step(Record, func(p *Payment) { p.Refund = Confirmed })
		}
		step(Die, func(p *Payment) { p.Refund = Unknown })
	case Unknown:
		step(Look, func(p *Payment) {
			if p.Refund = Owed; p.Refunded > 0 {
				p.Refund = Confirmed
			}
		})
	}
}
