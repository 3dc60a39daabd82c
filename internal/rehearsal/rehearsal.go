// Package rehearsal plays a sale before it takes place: the line's own
// decisions (admission's Release, Door and Queue, as the waiting room runs
// them) on a virtual clock, with an audience and a hall around them. A sale of
// hours takes seconds, and the same setting plays the same each time.
//
// It leaves out what is not decided: requests, ledgers, leases. What of these
// moves a sale's figures (how long the store takes, reports that are a second
// old, clocks that differ, releasers that change) is in House.
package rehearsal

import (
	"context"
	"math/rand/v2"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/audience"
	"waitroom/internal/course"
)

// Setting is one sale: what is sold, how, to whom.
type Setting struct {
	Sale      admission.Sale    `json:"sale"`
	Seats     int               `json:"seats"`
	PayWithin time.Duration     `json:"pay_within"`
	Lobby     time.Duration     `json:"lobby"` // before the opening it closes, and is drawn; 0: first come, first served
	Audience  audience.Audience `json:"audience"`
	House     House             `json:"house"`
	Limit     time.Duration     `json:"limit"` // the run ends so long after the opening at the latest
}

// House is what the line runs on.
type House struct {
	Replicas int             `json:"replicas"` // at least 1
	Store    time.Duration   `json:"store"`    // that the line's store takes for a refill, at most
	Reply    time.Duration   `json:"reply"`    // that a fan's request takes, at most
	Notice   time.Duration   `json:"notice"`   // that the provider takes to tell of a payment, at most
	Claims   float64         `json:"claims"`   // that the claimers answer in a second; 0: as many as come
	Holes    float64         `json:"holes"`    // numbers that nobody holds, of all
	Skew     []time.Duration `json:"skew"`     // each replica's clock, against the holder's
}

// Usual is a house in order.
func Usual() House {
	return House{Replicas: 1, Store: 5 * time.Millisecond, Reply: 300 * time.Millisecond, Notice: 2 * time.Second}
}

// Run plays the sale: until every seat is paid for, nobody is left who could do
// anything more, or the time is up. Its error is ctx's, with how far it came.
func Run(ctx context.Context, c Setting) (Report, error) {
	s := newStage(c)
	s.over = func() bool { return ctx.Err() != nil }
	return s.run().report(), ctx.Err()
}

// stage is one run.
type stage struct {
	Setting
	rng   *rand.Rand
	start time.Time
	opens time.Duration // when the sale does, on this clock
	now   time.Duration
	queue events
	alive int // events of people that are still to come

	// The line.
	sale    admission.Sale
	door    admission.Door
	release *admission.Release
	doors   []admission.Queue // by replica
	facts   [][]fact          // not yet reported, by replica
	late    []fact            // of other replicas: heard of a second later
	landing admission.Refill
	last    admission.Figures // of the last step
	doc     admission.Figures // as the pages see it
	front   int64             // as they see it
	between int64             // people at the door, between two requests

	// What may fail.
	noStock, noClaimers bool
	down                bool    // nobody releases
	losing              float64 // of all refills, whose reply is lost: one half of them landed

	// The people, and the hall.
	people           []person
	holder           []int32 // person by number; -1: nobody
	lobby            []int32 // who is in it
	free, sold       int
	open             []int32 // orders pending, by person
	expired, payLate int64
	live             int // inside, and may yet claim
	claimers         claimers

	saw     saw
	over    func() bool // ends the run early
	scripts []func()
}

// saw is what a run is judged and told by.
type saw struct {
	takes    []time.Duration
	takers   []int32
	waits    []time.Duration
	inverted int // let in after a higher number

	idle     int           // steps that left credit and budget, and somebody at the door (P14)
	stuck    time.Duration // longest with free seats, nobody inside to buy them, and somebody at the door
	stuckAt  time.Duration
	doorMost int
	lineMost int64
	joined   int
	refused  int // joins beyond the line's cap
	shutOut  int // who stood in the line as the sale closed
	joins    most
	claims   most

	nothing, firstNothing int             // who found nothing; of those let in before all was claimed once
	first                 int             // let in by then
	claimed               []time.Duration // when each claimed seat was, over all waves
	claimed99, gone       time.Duration   // when 99 of 100, and all, were claimed for the first time; 0: never
	final                 []time.Duration // when each seat was claimed that was paid for
	paid                  []time.Duration // when each was paid for
	states                map[admission.SaleState]bool
	wave                  int64
	samples               []course.Sample
}

func newStage(c Setting) *stage {
	c.House.Replicas = max(1, c.House.Replicas)
	s := &stage{
		Setting: c, rng: rand.New(rand.NewPCG(c.Audience.Seed, 7)), sale: c.Sale, free: c.Seats,
		doors: make([]admission.Queue, c.House.Replicas), facts: make([][]fact, c.House.Replicas),
		saw: saw{states: map[admission.SaleState]bool{}},
	}
	s.gather()
	s.start = c.Sale.OpensAt.Add(-s.opens)
	s.sale.Epoch, s.sale.Control = 1, admission.Run
	s.door = admission.Door{Event: s.sale.Event, Epoch: 1}
	s.takeOver()
	s.in(0, ticks, 0)
	s.in(0, second, 0)
	if c.Lobby > 0 {
		s.after(-c.Lobby, s.draw)
	}
	return s
}

func (s *stage) run() *stage {
	for s.sold < s.Seats && (s.alive > 0 || s.held() > 0) && s.now < s.opens+s.Limit && (s.over == nil || !s.over()) {
		e := s.queue.pop()
		s.now = e.at
		if e.kind < ofPeople {
			s.alive--
			s.act(&s.people[e.id], e)
			continue
		}
		switch e.kind {
		case ticks:
			s.tick()
		case lands:
			s.land()
		case second:
			s.second()
		case script:
			s.scripts[e.id]()
		}
	}
	return s
}

// after runs f so long after the opening.
func (s *stage) after(d time.Duration, f func()) {
	s.scripts = append(s.scripts, f)
	s.queue.push(event{s.opens + d, script, int32(len(s.scripts) - 1)})
}

func (s *stage) time() time.Time { return s.start.Add(s.now) }

func (s *stage) in(d time.Duration, k kind, id int32) {
	if k < ofPeople {
		s.alive++
	}
	s.queue.push(event{s.now + max(0, d), k, id})
}

func (s *stage) upTo(d time.Duration) time.Duration {
	return time.Duration(s.rng.Float64() * float64(d))
}

func (s *stage) odds(p float64) bool { return s.rng.Float64() < p }
