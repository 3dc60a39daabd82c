package admission

import (
	"cmp"
	"time"
)

// Load is what the claimers said of themselves, all of them together, each for
// about the last second.
type Load struct {
	At   time.Time // when the youngest report was written, on the holder's clock
	Mark int64     // of that report: it is counted once, however often it is read

	Answers  float64       // attempts answered a second, granted or not
	Errors   float64       // of these, that were not served: busy, failed, unknown
	P95      time.Duration // from arrival to answer, at the slowest
	QueueAge time.Duration // how long the first of a queue has waited, at the slowest
}

// Limit says what bounds the rate in force.
type Limit string

const (
	ByRate     Limit = "organiser" // what was asked for is in force
	ByClaims   Limit = "claims"    // the claimers do not bear more
	ByPayments Limit = "payments"  // the payment provider does not
	ByInside   Limit = "inside"    // as many are inside as the organiser allows
	ByStore    Limit = "store"     // people stand at the door: the line's store, or the ledger, is slow
)

// How the ceiling moves. A step up is small beside a step down, so that it
// stays near what is borne; the hold is for what was let in before to be seen.
const (
	rateCut   = 0.7
	rateHold  = 5 * time.Second
	rateStep  = 0.05 // of the organiser's rate, each second
	rateFloor = 0.05 // of the organiser's rate
)

// What is unhealthy.
const (
	slowClaim  = 250 * time.Millisecond // or twice the usual p95, if that is longer
	slowest    = time.Second            // no usual p95 is longer
	longQueue  = 500 * time.Millisecond
	shortQueue = 50 * time.Millisecond // what is answered then shows the usual p95
	errorShare = 0.01
	// fewAnswers in a row have to be slow: a p95 of one answer says nothing.
	fewAnswers = 10
	// errorMemory is the share of what was counted that the next report leaves:
	// about five seconds' worth. One error in these says nothing.
	errorMemory = 0.8
)

// capacity is how many people a second the house bears, as measured: a ceiling
// over the organiser's rate. While nothing was ever wrong there is none.
type capacity struct {
	ceiling float64 // people a second; 0: none
	by      Limit   // what lowered it
	cut     time.Time

	mark int64     // of the last load
	at   time.Time // and its time

	usual           time.Duration // the baseline: p95 while nobody waits for a claim
	slow            float64       // answers of reports in a row that were too slow
	answers, errors float64       // lately
}

// burden is what a successor needs to judge the next report as this holder would
// have. Without it a burst would be excused as usual, what was slow counted from
// nothing, and a cut forgotten.
type burden struct {
	Usual   int64   `json:"usual,omitempty"` // µs
	Slow    float64 `json:"slow,omitempty"`
	Answers float64 `json:"answers,omitempty"`
	Errors  float64 `json:"errors,omitempty"`
	Mark    int64   `json:"mark,omitempty"`
	Cut     int64   `json:"cut,omitempty"` // Unix ms; 0: never, or long ago
	By      Limit   `json:"by,omitempty"`  // what lowered the ceiling
}

func (c *capacity) burden() burden {
	b := burden{
		Usual: c.usual.Microseconds(), Slow: short(c.slow), Answers: short(c.answers), Errors: short(c.errors), Mark: c.mark, By: c.by,
	}
	if !c.cut.IsZero() {
		b.Cut = c.cut.UnixMilli()
	}
	return b
}

// goOn takes over what an earlier holder measured. The time since its last report
// raises nothing.
func (c *capacity) goOn(f Figures, now time.Time) {
	b := f.Burden
	*c = capacity{
		ceiling: f.Ceiling, by: cmp.Or(b.By, f.By), at: now, mark: b.Mark,
		usual: time.Duration(b.Usual) * time.Microsecond, slow: b.Slow, answers: b.Answers, errors: b.Errors,
	}
	if b.Cut != 0 {
		c.cut = time.UnixMilli(b.Cut)
	}
}

// bound is the organiser's rate, or what of it is borne.
func (c *capacity) bound(rate float64) float64 {
	if c.ceiling == 0 {
		return rate
	}
	return min(rate, max(c.ceiling, rateFloor*rate))
}

// hear moves the ceiling by one more report. Time without reports moves
// nothing: soon it closes the line.
func (c *capacity) hear(l Load, rate float64) {
	if l.Mark == c.mark {
		return
	}
	elapsed := max(0, min(l.At.Sub(c.at), time.Second))
	c.mark, c.at = l.Mark, l.At
	c.learn(l)
	switch {
	case !c.cut.IsZero() && l.At.Sub(c.cut) < rateHold: // it shows what was let in before
	case c.unhealthy(l):
		c.lower(max(rateCut*c.bound(rate), rateFloor*rate), ByClaims, l.At)
	default:
		c.raise(rateStep*rate*elapsed.Seconds(), rate)
	}
}

// notAfter keeps the times of a clock that went back from holding anything up.
func (c *capacity) notAfter(now time.Time) {
	c.at, c.cut = earlier(c.at, now), earlier(c.cut, now)
}

func (c *capacity) lower(to float64, by Limit, at time.Time) {
	c.ceiling, c.by, c.cut = to, by, at
	c.slow, c.answers, c.errors = 0, 0, 0 // used up: one burst is one cut
}

func (c *capacity) raise(step, rate float64) {
	if c.ceiling == 0 {
		return
	}
	if c.ceiling = max(c.ceiling, rateFloor*rate) + step; c.ceiling >= rate {
		c.ceiling, c.by = 0, ByRate
	}
}

// learn renews the baseline, from answers that nobody had to wait for: under
// load a p95 measures the queue, and would excuse it. It falls quickly and
// rises slowly.
func (c *capacity) learn(l Load) {
	if l.Answers == 0 || l.Errors > 0 || l.QueueAge > shortQueue {
		return
	}
	p95 := min(l.P95, slowest)
	switch {
	case c.usual == 0:
		c.usual = p95
	case p95 < c.usual:
		c.usual += (p95 - c.usual) / 4
	default:
		c.usual += (p95 - c.usual) / 300
	}
}

func (c *capacity) unhealthy(l Load) bool {
	c.answers = errorMemory*c.answers + l.Answers
	c.errors = errorMemory*c.errors + l.Errors
	switch {
	case l.Answers == 0: // nothing said
	case l.P95 > max(2*c.usual, slowClaim):
		c.slow += l.Answers
	default:
		c.slow = 0
	}
	return c.slow >= fewAnswers || l.QueueAge > longQueue || c.errors > errorShare*c.answers+1
}

// leastShare keeps a share that is not learnt yet from allowing anything.
const leastShare = 0.02

// pace is how many people a second are let in whenever anybody is, and what
// bounds that. 0: the organiser's rate makes no sense.
func (r *Release) pace(share float64) (float64, Limit) {
	rate, by := r.sale.Rate, ByRate
	if !r.sale.paced() {
		return 0, by
	}
	if borne := r.capacity.bound(rate); borne < rate {
		rate, by = borne, r.capacity.by
	}
	if quota := r.sale.PaymentQuota; quota > 0 && quota < rate*max(share, leastShare) {
		rate, by = quota/max(share, leastShare), ByPayments
	}
	return rate, by
}
