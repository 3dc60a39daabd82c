package admission

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// setting is one sale of the simulation: what is sold, and who comes.
type setting struct {
	seats, fans int
	rate        float64

	share    float64 // of those let in, who want to buy
	tickets  float64 // each of these wants, in the mean
	absent   float64 // of those called, who never come
	neverPay float64 // of those who claim
	quiet    float64 // pages that give no sign of life
	burned   float64 // numbers that nobody holds
	giveUp   float64 // who leave the line before they are called

	think, payWithin time.Duration
	early            float64       // share who join in the minute before the opening
	late             time.Duration // the others begin to come so long after it
	arrive           time.Duration // and take so long, in the mean
	limit            time.Duration // the run ends so long after the opening
	once             bool          // or two minutes after every seat was claimed, paid for or not

	replicas   int
	latency    time.Duration // of a refill, at most
	slack      float64
	sharePrior float64
	tickPrior  float64
	seed       uint64
}

// usual is the crowd that the design's figures are about.
func usual(seats, fans int, rate float64) setting {
	return setting{
		seats: seats, fans: fans, rate: rate,
		share: 0.4, tickets: 3, absent: 0.3, neverPay: 0.1,
		think: 45 * time.Second, payWithin: 10 * time.Minute,
		early: 0.6, arrive: 20 * time.Second, limit: 3 * time.Hour,
		replicas: 1, slack: 0.5, seed: 1,
	}
}

// opening is where a run's clock is at the opening.
const opening = time.Minute

// sim is one run: the real Release, Door and Queue, and everything around them
// on a virtual clock.
type sim struct {
	setting
	rng   *rand.Rand
	start time.Time
	now   time.Duration
	queue simEvents

	// The line.
	sale    Sale
	door    Door
	r       *Release
	doors   []Queue     // by replica
	facts   [][]simFact // not yet reported, by replica
	landing Refill
	doc     Figures // as the pages see it
	front   int64
	between int64 // people at the door, between two requests

	// What may fail.
	noStock, noClaimers bool

	// The crowd, and the hall.
	crowd             []simFan
	holder            []int32 // fan by number; -1: nobody
	free, sold        int
	pending           []int32
	expired, paidLate int64
	live              int // inside, and may yet claim

	saw     simSaw
	scripts []func()
}

// simSaw is what a run is judged by.
type simSaw struct {
	takes    []time.Duration
	takers   []int32
	inverted int // let in after a higher number

	idle     int           // steps that left credit and budget, and somebody at the door
	stuck    time.Duration // longest with free seats, nobody inside to buy them, and somebody at the door
	stuckAt  time.Duration
	doorMost int

	nothing, firstNothing int // who found nothing; of those let in before all was claimed once
	first                 int // let in by then
	claimed99, claimed    time.Duration
	final                 []time.Duration // when each seat was claimed for good
	states                map[SaleState]bool
}

func newSim(c setting) *sim {
	s := &sim{
		setting: c, rng: rand.New(rand.NewPCG(c.seed, 7)), start: time.Unix(1_790_000_000, 0),
		doors: make([]Queue, c.replicas), facts: make([][]simFact, c.replicas),
		free: c.seats, saw: simSaw{states: map[SaleState]bool{}},
	}
	limit := int64(max(4, math.Ceil(c.tickets)))
	s.sale = Sale{
		Event: "sim", Epoch: 1, Control: Run, OpensAt: s.start.Add(opening), Rate: c.rate,
		OrderLimit: limit, PassQuota: limit, PassLife: 10 * time.Minute,
		SharePrior: c.sharePrior, TicketsPrior: c.tickPrior, Slack: c.slack,
	}
	s.door = Door{Event: "sim", Epoch: 1}
	s.takeOver()
	s.gather()
	s.in(0, simTicks, 0)
	s.in(0, simSecond, 0)
	return s
}

// run goes on until every seat is paid for, or the time is up.
func (s *sim) run() *sim {
	for len(s.queue) > 0 && s.sold < s.seats && s.now < opening+s.limit && !s.over() {
		e := s.queue.pop()
		s.now = e.at
		s.handle(e)
	}
	sort.Slice(s.saw.final, func(i, j int) bool { return s.saw.final[i] < s.saw.final[j] })
	return s
}

func (s *sim) over() bool {
	return s.once && s.saw.claimed > 0 && s.now > opening+s.saw.claimed+2*time.Minute
}

// after runs f so long after the opening.
func (s *sim) after(d time.Duration, f func()) {
	s.scripts = append(s.scripts, f)
	s.queue.push(simEvent{opening + d, simScript, int32(len(s.scripts) - 1)})
}

func (s *sim) time() time.Time { return s.start.Add(s.now) }

func (s *sim) in(d time.Duration, k simKind, id int32) {
	s.queue.push(simEvent{s.now + max(0, d), k, id})
}

func (s *sim) exp(mean time.Duration) time.Duration {
	return time.Duration(s.rng.ExpFloat64() * float64(mean))
}

func (s *sim) uniform(a, b time.Duration) time.Duration {
	return a + time.Duration(s.rng.Float64()*float64(b-a))
}

func (s *sim) odds(p float64) bool { return s.rng.Float64() < p }

// finalBy is when this share of the seats had been claimed for good; 0 if never.
func (s *sim) finalBy(share float64) time.Duration {
	n := int(math.Ceil(share*float64(s.seats))) - 1
	if n >= len(s.saw.final) {
		return 0
	}
	return s.saw.final[n] - opening
}

// overPace is by how many people the takes break P8, over all windows: for all
// takes i ≤ j, j − i + 1 ≤ rate × (tj − ti + 0.1 s) + 1.
func overPace(takes []time.Duration, rate float64) float64 {
	worst, least := 0.0, math.Inf(1)
	for i, t := range takes {
		over := float64(i) - rate*t.Seconds()
		least = min(least, over)
		worst = max(worst, over-least-rate*0.1)
	}
	if worst < 1e-6 { // what float64 leaves of 1e5 people
		return 0
	}
	return worst
}

type simKind uint8

const (
	simJoins simKind = iota
	simPolls
	simComes
	simSigns
	simClaims
	simGoes
	simGivesUp
	simPays
	simLapses
	simIsFan // kinds before it are of a fan
	simTicks
	simLands
	simSecond
	simScript
)

type simEvent struct {
	at   time.Duration
	kind simKind
	id   int32
}

// simEvents is a heap of four children a node: 100,000 fans poll a million times.
type simEvents []simEvent

func (h *simEvents) push(e simEvent) {
	*h = append(*h, e)
	q, i := *h, len(*h)-1
	for i > 0 && q[(i-1)/4].at > q[i].at {
		q[(i-1)/4], q[i] = q[i], q[(i-1)/4]
		i = (i - 1) / 4
	}
}

func (h *simEvents) pop() simEvent {
	q := *h
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		least := i
		for c := 4*i + 1; c <= 4*i+4 && c < last; c++ {
			if q[c].at < q[least].at {
				least = c
			}
		}
		if least == i {
			break
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
	*h = q
	return top
}

func (s *sim) handle(e simEvent) {
	if e.kind < simIsFan {
		s.fan(&s.crowd[e.id], e)
		return
	}
	switch e.kind {
	case simTicks:
		s.tick()
	case simLands:
		s.land()
	case simSecond:
		s.second()
	case simScript:
		s.scripts[e.id]()
	}
}
