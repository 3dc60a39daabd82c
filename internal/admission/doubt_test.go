package admission

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// knowledge is what a releaser was told, by accounts of its own: times that lie
// in the future are of when they were told.
type knowledge struct {
	stock, claimers, settings time.Time
	paying                    Paying
	counted                   bool
}

// doubts says whether anything that has to be known is not. It restates P10, and
// shares nothing with the rules.
func (k *knowledge) doubts(now time.Time, s Sale) bool {
	dark := !k.paying.At.IsZero() && now.Sub(k.paying.At) > 10*time.Second
	down := !k.paying.Since.IsZero() && now.Sub(k.paying.Since) >= 10*time.Second && now.Sub(k.paying.Failed) <= 10*time.Second
	return now.Sub(k.stock) > 3*time.Second || now.Sub(k.claimers) > 3*time.Second ||
		now.Sub(k.settings) > 10*time.Second || !k.paying.At.IsZero() && (dark || down) ||
		s.MaxInside > 0 && !k.counted || !(s.Rate > 0 && s.Rate <= 10_000)
}

func (k *knowledge) ages(now time.Time, s Sale) string {
	return fmt.Sprintf("stock is %v old, claimers %v, settings %v; payments told %v ago, failed %v ago, since %v ago; counted %v; rate %v, cap %d, %s",
		now.Sub(k.stock), now.Sub(k.claimers), now.Sub(k.settings), now.Sub(k.paying.At), now.Sub(k.paying.Failed),
		now.Sub(k.paying.Since), k.counted, s.Rate, s.MaxInside, s.Control)
}

// turnBack is a clock that goes back: nothing is known of the future.
func (k *knowledge) turnBack(now time.Time) {
	for _, t := range []*time.Time{&k.stock, &k.claimers, &k.settings, &k.paying.At, &k.paying.Failed} {
		*t = earlier(*t, now)
	}
}

// doubter is one line with its releasers, one after the other.
type doubter struct {
	t    *rapid.T
	now  time.Time
	sale Sale
	door Door
	r    *Release
	k    knowledge
	in   int64 // people let in who are still inside, by the ledger

	stopped, lets, full int
}

// at is a time as somebody else's clock may tell it.
func (d *doubter) at() time.Time {
	return d.now.Add(rapid.SampledFrom([]time.Duration{0, 0, 0, 0, 0, 0, 0, 0, -time.Second, -20 * time.Second, time.Hour, -time.Hour}).Draw(d.t, "clock"))
}

func (d *doubter) takeOver() {
	d.door, _ = d.door.Acquire(d.door, "x")
	d.r = NewRelease(d.sale, d.door, d.now)
	d.k = knowledge{settings: d.k.settings}
}

// tell says one thing, or nothing.
func (d *doubter) tell() {
	at := d.at()
	known := earlier(at, d.now)
	switch rapid.IntRange(0, 9).Draw(d.t, "tell") {
	case 0, 1:
		d.r.Restock(Stock{Free: rapid.Int64Range(0, 500).Draw(d.t, "free"), Pending: 10, At: at})
		d.k.stock = later(d.k.stock, known)
	case 2, 3:
		l := healthy(at)
		l.Mark = d.now.UnixMicro()
		l.QueueAge = rapid.SampledFrom([]time.Duration{0, 0, time.Second}).Draw(d.t, "queue")
		d.r.Load(l)
		d.k.claimers = later(d.k.claimers, known)
	case 4, 5:
		d.sale.ReadAt = at
		d.r.Set(d.sale)
		d.k.settings, d.sale.ReadAt = known, known
	case 6:
		p := Paying{At: at}
		if rapid.IntRange(0, 3).Draw(d.t, "failing") == 0 {
			p.Failed, p.Since = d.at(), d.at()
		}
		d.r.Paying(p)
		d.k.paying = Paying{earlier(p.At, d.now), earlier(p.Failed, d.now), p.Since}
	case 7:
		d.r.Within(Within{Take: d.door.Taken, People: d.in})
		d.k.counted = true
	case 8:
		d.r.LetIn(rapid.Int64Range(1, d.door.Taken+2).Draw(d.t, "take"), 1, at, at.Add(d.sale.PassLife))
	}
}

// organise changes what the organiser wants.
func (d *doubter) organise() {
	switch rapid.IntRange(0, 3).Draw(d.t, "organise") {
	case 0:
		d.sale.Rate = rapid.SampledFrom([]float64{50, 50, 50, 1000, 1000, 0.4, 0, -1, 1e9}).Draw(d.t, "rate")
	case 1:
		d.sale.MaxInside = rapid.SampledFrom([]int64{0, 5, 40}).Draw(d.t, "cap")
	case 2:
		d.sale.Control = rapid.SampledFrom([]Control{Run, Run, Run, Pause}).Draw(d.t, "control")
	}
	d.r.Set(d.sale)
}

// step is one of the releaser's, and what the takers make of it.
func (d *doubter) step() {
	front := d.door.Front
	dec := d.r.Step(d.now, d.door, 1_000_000, 50)
	d.k.turnBack(d.now)
	d.sale.ReadAt = d.k.settings
	doubt := d.k.doubts(d.now, d.sale) || d.sale.Control != Run
	if doubt != dec.Refill.Stopped {
		d.t.Fatalf("stopped: %v, %s %q, and %s", dec.Refill.Stopped, dec.Figures.State, dec.Figures.Reason, d.k.ages(d.now, d.sale))
	}
	if f := dec.Figures; f.Rate > d.sale.Rate && d.sale.Rate > 0 {
		d.t.Fatalf("%v/s in force, the organiser asked for %v", f.Rate, d.sale.Rate)
	}
	d.door, _ = d.door.Refill(dec.Refill)
	d.r.Landed(d.now)
	if d.door.Front < front {
		d.t.Fatalf("the front fell from %d to %d", front, d.door.Front)
	}
	if dec.Refill.Stopped {
		if d.stopped++; d.door.credits() > 0 {
			d.t.Fatalf("%d may be let in at a stopped door", d.door.credits())
		}
		return
	}
	k := d.door.credits()
	if k == 0 {
		return
	}
	d.door, _ = d.door.Take(d.sale.Epoch, k)
	d.lets, d.in = d.lets+int(k), d.in+k
	if d.sale.MaxInside > 0 && d.in > d.sale.MaxInside {
		d.t.Fatalf("%d inside after letting %d in, the cap is %d", d.in, k, d.sale.MaxInside)
	}
	if d.sale.MaxInside > 0 && d.in == d.sale.MaxInside {
		d.full++
	}
}

// Whatever is told or not, in whatever order and by whatever clock, through
// take-overs, pauses, changed settings and clocks that jump: nobody is let in
// while anything is unknown (P10), nobody above the cap, and as soon as all is
// known the door is open again.
func TestDoubtNeverLetsAnybodyIn(t *testing.T) {
	var stopped, lets, full int
	rapid.Check(t, func(t *rapid.T) {
		d := &doubter{t: t, now: pacingStart.Add(time.Hour), door: Door{Event: "e", Epoch: 1}, sale: Sale{
			Event: "e", Epoch: 1, Control: Run, OpensAt: pacingStart, Rate: 50,
			OrderLimit: 4, PassQuota: 4, PassLife: time.Minute, SharePrior: 0.5,
		}}
		d.takeOver()
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			d.now = d.now.Add(rapid.SampledFrom([]time.Duration{
				Tick, Tick, Tick, Tick, Tick, Tick, Tick, Tick, 700 * time.Millisecond, 4 * time.Second, 11 * time.Second, -5 * time.Second,
			}).Draw(t, "after"))
			for range rapid.IntRange(0, 16).Draw(t, "tells") {
				d.tell()
			}
			switch rapid.IntRange(0, 20).Draw(t, "then") {
			case 0:
				d.takeOver()
			case 1, 2:
				d.organise()
			case 3, 4:
				d.in -= min(d.in, 3) // some check out; nobody has counted them yet
			}
			d.step()
		}
		stopped, lets, full = stopped+d.stopped, lets+d.lets, full+d.full
	})
	t.Logf("%d steps stopped, %d people let in, %d times up to the cap", stopped, lets, full)
	if stopped < 100 || lets < 100 || full == 0 {
		t.Error("too little happened to judge anything")
	}
}
