package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// pacing is one run of the door: controllers that contend for it over a store
// that is slow and loses replies, and takers who take whatever they can get.
type pacing struct {
	rng  *rand.Rand
	sale Sale
	door Door
	now  time.Duration

	tick    time.Duration // between a holder's steps
	slow    time.Duration // of a refill, and of its reply, at most
	lost    float64       // refills, and replies, each
	eager   float64       // odds of a taker's turn in each millisecond
	ill     float64       // odds that the claimers say they cannot bear it, at each step
	hoards  bool          // takers wait for the worst moment, then take all for a while
	until   time.Duration // that while's end
	holders []*pacer
	takes   judged // as the store took them
	counted judged // as they are written down: Door.At
}

// pacer is one controller. It steps as long as it believes that it holds.
type pacer struct {
	name  string
	r     *Release
	seen  Door
	next  time.Duration // it acts then
	sent  *paced
	lands time.Duration // sent: when it reaches the store; 0: it did, or never will
	reply time.Duration // and when its holder hears of it, or stops waiting
	heard bool          // hears of it
	ok    bool
	door  Door
}

// paced is a refill, and the rate that it was decided under.
type paced struct {
	Refill
	rate float64
}

// judged is takes, and the rates that they are held against.
type judged struct {
	takes []time.Duration
	pace  []inForce
}

// inForce is the rate from then on: that of the last refill that landed.
type inForce struct {
	from time.Duration
	rate float64
}

var pacingStart = time.Unix(1_790_000_000, 0)

func (p *pacing) time() time.Time { return pacingStart.Add(p.now) }

func (p *pacing) odds(x float64) bool { return p.rng.Float64() < x }

func (p *pacing) upTo(d time.Duration) time.Duration {
	return time.Duration(p.rng.Int64N(int64(d) + 1))
}

func (p *pacing) acquire(h *pacer) {
	door, ok := p.door.Acquire(p.door, h.name)
	if !ok {
		return
	}
	p.door = door
	*h = pacer{name: h.name, r: NewRelease(p.sale, door, p.time()), seen: door, next: p.now, sent: h.sent, lands: h.lands}
}

// millisecond is everything that happens in one.
func (p *pacing) millisecond() {
	p.now += time.Millisecond
	for _, h := range p.holders {
		p.land(h)
		if h.r != nil && p.now >= h.next {
			p.act(h)
		}
	}
	if p.hoards && p.now > p.until && p.worst() {
		p.until = p.now + 200*time.Millisecond
	}
	if p.now <= p.until || !p.hoards && p.odds(p.eager) {
		p.take()
	}
}

// worst is a full door, and a refill that has been long on its way and lands
// next: what the door holds, that refill and the next may meet in one moment.
func (p *pacing) worst() bool {
	full := float64(p.door.Credit) >= Milli*(1+0.9*p.sale.Rate*tau.Seconds())
	for _, h := range p.holders {
		if h.sent != nil && h.lands > 0 && h.lands <= p.now+time.Millisecond {
			return full
		}
	}
	return false
}

func (p *pacing) take() {
	k := min(p.door.Credit/Milli, p.door.Budget)
	if k < 1 {
		return
	}
	if door, ok := p.door.Take(p.sale.Epoch, k); ok {
		p.door = door
		for range k {
			p.takes.takes = append(p.takes.takes, p.now)
			p.counted.takes = append(p.counted.takes, door.At.Sub(pacingStart))
		}
	}
}

// land applies what was sent, when it arrives: even after its sender stopped
// waiting, even after the next one.
func (p *pacing) land(h *pacer) {
	if h.sent == nil || h.lands == 0 || p.now < h.lands {
		return
	}
	h.lands = 0
	h.door, h.ok = p.door.Refill(h.sent.Refill)
	if !h.ok {
		h.door = p.door
		return
	}
	p.door = h.door
	p.takes.now(p.now, h.sent.rate)
	p.counted.now(h.sent.At.Sub(pacingStart), h.sent.rate)
}

// act is a holder's turn: hear of the last refill, or step.
func (p *pacing) act(h *pacer) {
	if h.sent != nil && h.reply > 0 {
		h.reply = 0
		h.seen = p.door // read again
		if h.heard {
			h.seen = h.door
		}
		h.r.Landed(p.time())
		h.next = p.now + p.upTo(p.tick)
		if h.seen.Term != p.door.Term || h.seen.Owner != h.name {
			h.r = nil // somebody else holds it
		}
		return
	}
	load := healthy(p.time())
	if p.odds(p.ill) {
		load.QueueAge = time.Second
	}
	h.r.Load(load)
	p.sale.ReadAt = p.time()
	h.r.Set(p.sale)
	h.r.Restock(Stock{Free: 1e6, At: p.time()})
	d := h.r.Step(p.time(), h.seen, 0, 0)
	old, waits := h.sent, h.lands
	h.sent, h.lands, h.heard = &paced{d.Refill, d.Figures.Rate}, p.now+p.upTo(p.slow), true
	h.reply = h.lands + p.upTo(p.slow)
	switch {
	case p.odds(p.lost): // never arrives
		h.lands, h.heard = 0, false
		if old != nil && waits > 0 { // the one before it still may
			h.sent, h.lands = old, waits
		}
	case p.odds(p.lost): // arrives, sooner or later; nobody hears of it
		h.heard = false
		h.lands += p.upTo(200 * time.Millisecond)
	}
	h.next = h.reply
}

// check holds the takes against P8, at the times when they were taken and at those
// that are written down, which is all that an audit can know.
func (p *pacing) check(t interface{ Fatalf(string, ...any) }) {
	p.takes.check(t, "taken")
	p.counted.check(t, "written down")
}

func (j *judged) now(at time.Duration, rate float64) {
	if n := len(j.pace); n == 0 || j.pace[n-1].rate != rate {
		j.pace = append(j.pace, inForce{at, rate})
	}
}

// check holds every window against P8: people let in ≤ the rate in force,
// integrated, plus 0.1 s of the highest rate in it, plus one.
func (j *judged) check(t interface{ Fatalf(string, ...any) }, how string) {
	for from, a := range j.takes {
		for to, b := range j.takes[from:] {
			area, most := j.flowed(a, b)
			if most := area + 0.1*most + 1; float64(to+1) > most+1e-9 {
				t.Fatalf("%d people let in from %v to %v, as %s; P8 allows %.3f (%+v)", to+1, a, b, how, most, j.pace)
			}
		}
	}
}

func (j *judged) flowed(a, b time.Duration) (area, most float64) {
	for i, f := range j.pace {
		end := b
		if i+1 < len(j.pace) {
			end = min(b, j.pace[i+1].from)
		}
		if from := max(a, f.from); from <= end {
			area += f.rate * (end - from).Seconds()
			most = max(most, f.rate)
		}
	}
	return area, most
}

func newPacing(seed uint64, rate float64) *pacing {
	p := &pacing{
		rng: rand.New(rand.NewPCG(seed, 3)),
		sale: Sale{
			Event: "e", Epoch: 1, Control: Run, OpensAt: pacingStart, Rate: rate,
			OrderLimit: 4, PassQuota: 4, PassLife: time.Minute, SharePrior: 1,
		},
		door:    Door{Event: "e", Epoch: 1},
		tick:    Tick,
		eager:   1,
		holders: []*pacer{{name: "a"}, {name: "b"}},
	}
	return p
}

// Two controllers, pauses, take-overs, slow and lost refills and replies, rates
// that change, by the organiser or by what is borne: no window ever holds more people than P8 allows.
func TestPaceIsNeverExceeded(t *testing.T) {
	var people, windows int
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SampledFrom([]float64{0.4, 3, 10, 50, 200, 1000})
		p := newPacing(rapid.Uint64().Draw(t, "seed"), rates.Draw(t, "rate"))
		p.tick = time.Duration(rapid.IntRange(1, 120).Draw(t, "tick ms")) * time.Millisecond
		p.slow = time.Duration(rapid.SampledFrom([]int{0, 5, 30, 60, 150}).Draw(t, "slow ms")) * time.Millisecond
		p.lost = rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(t, "lost")
		p.ill = rapid.SampledFrom([]float64{0, 0.01, 0.5}).Draw(t, "ill")
		p.hoards = rapid.Bool().Draw(t, "hoards")
		p.eager = rapid.SampledFrom([]float64{1, 0.3, 0.02}).Draw(t, "eager")
		p.acquire(p.holders[0])
		for range rapid.SampledFrom([]int{2, 5, 10}).Draw(t, "turns") {
			for range rapid.SampledFrom([]int{10, 90, 400, 2000}).Draw(t, "ms") {
				if p.millisecond(); len(p.takes.takes) > 800 {
					break
				}
			}
			switch rapid.SampledFrom([]string{"", "take over", "take over", "pause", "run", "rate"}).Draw(t, "then") {
			case "take over":
				p.acquire(p.holders[rapid.IntRange(0, 1).Draw(t, "who")])
			case "pause":
				p.sale.Control = Pause
			case "run":
				p.sale.Control = Run
			case "rate":
				p.sale.Rate = rates.Draw(t, "rate")
			}
		}
		p.check(t)
		people, windows = people+len(p.takes.takes), windows+len(p.takes.takes)*len(p.takes.takes)/2
	})
	t.Logf("%d people let in, %d windows judged", people, windows)
	if people < 500 {
		t.Errorf("only %d people were let in: nothing was judged", people)
	}
}

// Time in which the holder stood still is lost, and no more than that: right
// after it the pace is what it was.
func TestPaceAfterAStall(t *testing.T) {
	p := newPacing(1, 50)
	p.acquire(p.holders[0])
	between := func(d time.Duration) int {
		before := len(p.takes.takes)
		for end := p.now + d; p.now < end; {
			p.millisecond()
		}
		return len(p.takes.takes) - before
	}
	between(time.Second)
	for p.holders[0].reply > 0 { // the last refill was heard of
		p.millisecond()
	}
	p.holders[0].next = p.now + 5*time.Second
	stall, first, then := between(5*time.Second), between(200*time.Millisecond), between(2*time.Second)
	t.Logf("let in: %d in a stall of 5 s, %d in the 0.2 s after, %d in 2 s more", stall, first, then)
	if stall > 4 || first > 13 || then < 98 || then > 101 {
		t.Error("want what the door held, no catch-up, and 50/s from then on")
	}
	p.check(t)
}

// A refill that lands late, after the line was paused and went on, still counts.
func TestLateRefillCounts(t *testing.T) {
	var f flow
	at := func(ms int) time.Time { return pacingStart.Add(time.Duration(ms) * time.Millisecond) }
	f.next(at(0), Door{Beat: 1}, 1000)
	if add, _ := f.next(at(50), Door{Beat: 2}, 1000); add != 49*Milli {
		t.Fatalf("%d thousandths after 50 ms at 1,000/s, want 49,000", add)
	}
	f.stop() // the reply is lost; the line is paused
	f.next(at(60), Door{Beat: 2}, 1000)
	if add, _ := f.next(at(110), Door{Beat: 3}, 1000); add != 0 { // it landed just now
		t.Errorf("%d thousandths right on top of a refill of 49 people", add)
	}
	if add, limit := f.next(at(160), Door{Beat: 4}, 1000); add != 49*Milli || limit != 51*Milli {
		t.Errorf("%d of %d thousandths 50 ms later, want 49,000 of 51,000", add, limit)
	}
}

// The pace is also reached: a store that is not slow loses nothing.
func TestPaceIsReached(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		slow  time.Duration
		least float64 // share of the rate
	}{
		{0.4, 0, 0.97},
		{10, 5 * time.Millisecond, 0.98},
		{50, 5 * time.Millisecond, 0.98},
		{1000, 5 * time.Millisecond, 0.98},
		{50, 40 * time.Millisecond, 0.7},
	} {
		t.Run(fmt.Sprintf("%v/s, %v", c.rate, c.slow), func(t *testing.T) {
			p := newPacing(1, c.rate)
			p.slow = c.slow / 2
			p.acquire(p.holders[0])
			seconds := min(100, 10_000/c.rate)
			for p.now.Seconds() < seconds {
				p.millisecond()
			}
			got := float64(len(p.takes.takes)) / seconds / c.rate
			t.Logf("%d people in %.0f s: %.1f %% of the rate", len(p.takes.takes), seconds, 100*got)
			if got < c.least || got > 1+1/(c.rate*seconds) {
				t.Errorf("%.1f %% of the rate, want at least %.0f %% and never more than all", 100*got, 100*c.least)
			}
			if over := OverPace(p.takes.takes, c.rate); over > 0 {
				t.Errorf("over by %.3f people", over)
			}
		})
	}
}
