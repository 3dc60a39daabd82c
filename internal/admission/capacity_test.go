package admission

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// healthy is a report of claimers to whom nothing is too much.
func healthy(at time.Time) Load {
	return Load{At: at, Mark: at.UnixMicro(), Answers: 100, P95: 20 * time.Millisecond}
}

// Each sign of too much lowers the rate in force to 0.7 of itself, holds it for
// 5 s, and never goes below 5 % of what the organiser asked for; health brings
// 5 % of that back a second, and no more than all of it.
func TestCapacityFallsAndRises(t *testing.T) {
	for name, ill := range map[string]func(*Load){
		"slow":        func(l *Load) { l.P95 = 251 * time.Millisecond },
		"queue":       func(l *Load) { l.QueueAge = 501 * time.Millisecond },
		"errors":      func(l *Load) { l.Errors = 5 },
		"errors only": func(l *Load) { l.Answers, l.Errors, l.P95 = 3, 3, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.sale.Rate = 100
			b.r.Set(b.sale)
			second := func(ills ...func(*Load)) (float64, Limit) {
				b.fresh(time.Second)
				l := healthy(b.now)
				for _, ill := range ills {
					ill(&l)
				}
				b.r.Load(l)
				b.r.Load(l) // read again, it is the same report
				d := b.fresh(Tick)
				return d.Figures.Rate, d.Figures.By
			}
			if rate, by := second(); rate != 100 || by != ByRate {
				t.Fatalf("%v/s by %s in health, want 100 by the organiser", rate, by)
			}
			var rates []float64
			for range 100 {
				rate, by := second(ill)
				if by != ByClaims {
					t.Fatalf("%v/s by %s, want claims", rate, by)
				}
				if n := len(rates); n == 0 || rates[n-1] != rate {
					rates = append(rates, rate)
				}
			}
			for i, rate := range rates {
				if want := max(5, 100*math.Pow(0.7, float64(i+1))); math.Abs(rate-want) > 1e-9 {
					t.Fatalf("cut %d: %v/s, want %v", i, rate, want)
				}
			}
			if len(rates) != 9 {
				t.Errorf("%d cuts down to %v/s, want 9 down to 5", len(rates), rates[len(rates)-1])
			}
			seconds, last := 0, 5.0
			for {
				rate, by := second()
				seconds++
				if rate == last { // held
					continue
				}
				if rate == 100 && by == ByRate {
					break
				}
				if step := rate - last; step > 5.3 || step <= 0 || by != ByClaims {
					t.Fatalf("from %v to %v/s by %s in a second of health, want 5 more by claims", last, rate, by)
				}
				last = rate
			}
			if seconds < 19 || seconds > 26 {
				t.Errorf("all of the rate was back after %d s of health, want about 19 and the hold", seconds)
			}
		})
	}
}

// What says too little changes nothing: one slow answer, one error, a queue
// that is short; nor does a house whose claims always take that long.
func TestCapacityStands(t *testing.T) {
	for name, load := range map[string]func(second int, l *Load){
		"one slow answer a second": func(_ int, l *Load) { l.Answers, l.P95 = 0.9, 300*time.Millisecond },
		"an error now and then":    func(s int, l *Load) { l.Errors = []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}[s%10] },
		"one error in a hundred":   func(_ int, l *Load) { l.Errors = 1 },
		"half a second of queue":   func(_ int, l *Load) { l.QueueAge = 500 * time.Millisecond },
		"always as slow":           func(_ int, l *Load) { l.P95 = 400*time.Millisecond + time.Duration(l.Mark%100)*time.Millisecond },
		"nothing to do":            func(_ int, l *Load) { *l = Load{At: l.At, Mark: l.Mark} },
	} {
		var c capacity
		for s := range 9 {
			l := healthy(pacingStart.Add(time.Duration(s) * time.Second))
			load(s, &l)
			if c.hear(l, 50); c.bound(50) != 50 {
				t.Errorf("%s: %v/s after %d s, want 50", name, c.bound(50), s)
				break
			}
		}
	}
}

// A queue does not excuse itself: what is answered under load is not taken for
// what is usual.
func TestLoadIsNotUsual(t *testing.T) {
	var c capacity
	now := pacingStart
	for range 600 {
		now = now.Add(time.Second)
		l := healthy(now)
		l.P95, l.QueueAge = 400*time.Millisecond, 300*time.Millisecond
		c.hear(l, 50)
	}
	if c.bound(50) != rateFloor*50 || c.usual != 0 {
		t.Errorf("%v/s after ten minutes of a queue, usual p95 %v; want the least there is, and none", c.bound(50), c.usual)
	}
}

// Whatever is reported, and whenever: the rate in force is at least 5 % of the
// organiser's, at most all of it, falls by no more than three tenths at once and
// not within 5 s of a fall, and rises by no more than 5 % of it a second.
func TestCapacityKeepsItsBounds(t *testing.T) {
	moves := 0
	rapid.Check(t, func(t *rapid.T) {
		var c capacity
		now, rate := pacingStart, rapid.SampledFrom([]float64{0.4, 50, 1000}).Draw(t, "rate")
		var fell time.Time
		last := c.bound(rate)
		for range rapid.IntRange(1, 120).Draw(t, "reports") {
			after := time.Duration(rapid.IntRange(0, 2500).Draw(t, "after ms")) * time.Millisecond
			now = now.Add(after)
			c.hear(Load{
				At: now, Mark: now.UnixMicro(),
				Answers:  rapid.SampledFrom([]float64{0, 0.3, 20, 5000}).Draw(t, "answers"),
				Errors:   rapid.SampledFrom([]float64{0, 0, 0, 1, 60}).Draw(t, "errors"),
				P95:      time.Duration(rapid.SampledFrom([]int{0, 5, 240, 260, 5000}).Draw(t, "p95")) * time.Millisecond,
				QueueAge: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 400, 3000}).Draw(t, "queue")) * time.Millisecond,
			}, rate)
			is := c.bound(rate)
			switch {
			case is < rateFloor*rate-1e-9 || is > rate:
				t.Fatalf("%v/s in force of %v", is, rate)
			case is < last && (is < 0.7*last-1e-9 && is > rateFloor*rate+1e-9 || now.Sub(fell) < rateHold):
				t.Fatalf("from %v to %v/s, %v after the last fall", last, is, now.Sub(fell))
			case is > last+rateStep*rate*min(1, after.Seconds())+1e-9:
				t.Fatalf("from %v to %v/s within %v", last, is, after)
			}
			if is < last {
				fell = now
			}
			if is != last {
				moves++
			}
			last = is
		}
	})
	if moves < 100 {
		t.Errorf("%d moves: nothing was judged", moves)
	}
}

// A house that bears less than the organiser asks for, and whose people claim
// most of a minute after they were let in: what it bears is used, and what
// waits for its claim is bounded.
func TestCapacityIsFound(t *testing.T) {
	const rate, share, bears = 100.0, 0.5, 20.0 // claims a second
	rng := rand.New(rand.NewPCG(1, 1))
	var c capacity
	var queue, done, worst float64
	due := map[int]float64{} // claims by the second in which they are made
	const seconds = 1800
	for s := range seconds {
		now := pacingStart.Add(time.Duration(s) * time.Second)
		for range int(c.bound(rate) * share) {
			due[s+int(20*(rng.ExpFloat64()+rng.ExpFloat64()))]++
		}
		queue += due[s]
		delete(due, s)
		served := min(queue, bears)
		queue -= served
		wait := time.Duration(queue / bears * float64(time.Second))
		c.hear(Load{At: now, Mark: now.UnixMicro(), Answers: served, P95: 20*time.Millisecond + wait, QueueAge: wait}, rate)
		if s >= 300 {
			done, worst = done+served, max(worst, queue/bears)
		}
	}
	used := done / bears / (seconds - 300)
	t.Logf("asked for %v/s, borne %v/s: %.0f %% of it used, the longest wait for a claim %.0f s", rate, bears/share, 100*used, worst)
	if used < 0.5 {
		t.Errorf("%.0f %% of what is borne was used, want at least half", 100*used)
	}
}

// A successor goes on from the ceiling that was found.
func TestCapacityIsHandedOver(t *testing.T) {
	b := newBench()
	l := healthy(b.now)
	l.QueueAge = time.Second
	b.fresh(0)
	b.r.Load(l)
	d := b.fresh(time.Second)
	next := NewRelease(b.sale, b.door, b.now)
	next.Restock(Stock{Free: 100, At: b.now})
	next.Claimers(b.now)
	if f := next.Step(b.now, b.door, 0, 0).Figures; f.Rate != 35 || f.By != ByClaims || d.Figures.Rate != 35 {
		t.Errorf("%v/s by %s, and %v/s by %s after the take-over; want 35 by claims", d.Figures.Rate, d.Figures.By, f.Rate, f.By)
	}
}

// Whatever the claimers report and however often the lease changes hands, the
// rate is what it would be under one holder: none is forgotten of a cut and the
// time that it stands, of what is usual, of what has been slow or failed so far,
// and no report counts twice.
func TestASuccessorIsNoMoreGenerous(t *testing.T) {
	cuts, overs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		const rate = 100.0
		now := pacingStart
		var one, many capacity
		most := time.Duration(rapid.SampledFrom([]int{60, 300, 900}).Draw(t, "p95 at most, ms")) * time.Millisecond
		for i := range rapid.IntRange(5, 60).Draw(t, "reports") {
			now = now.Add(time.Second)
			l := Load{
				At: now, Mark: now.UnixMicro(), Answers: rapid.SampledFrom([]float64{0, 1, 4, 9, 50}).Draw(t, "answers"),
				P95:      time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(most)).Draw(t, "p95")),
				QueueAge: rapid.SampledFrom([]time.Duration{0, 0, 0, 0, 60 * time.Millisecond, time.Second}).Draw(t, "queue"),
			}
			l.Errors = min(l.Answers, rapid.SampledFrom([]float64{0, 0, 0, 1, 3}).Draw(t, "errors"))
			before := one.bound(rate)
			one.hear(l, rate)
			many.hear(l, rate)
			if one.bound(rate) < before {
				cuts++
			}
			if rapid.IntRange(0, 3).Draw(t, "then") == 0 {
				door := Door{}
				door.Doc, _ = json.Marshal(Figures{Ceiling: short(many.ceiling), By: many.by, Burden: many.burden()})
				f, _ := Published(door)
				many = capacity{}
				many.goOn(f, now)
				many.hear(l, rate) // which is still the claimers' last
				overs++
			}
			if got, want := many.bound(rate), one.bound(rate); math.Abs(got-want) > 0.01 {
				t.Fatalf("report %d: %v/s over take-overs, %v/s under one holder (%+v, %+v)", i, got, want, many, one)
			}
		}
	})
	t.Logf("%d cuts, %d take-overs", cuts, overs)
	if cuts < 100 || overs < 100 {
		t.Errorf("%d cuts and %d take-overs: nothing was judged", cuts, overs)
	}
}

// Latecomers' share is each replica's own and outlives the lease. One that begins
// in the middle of a sale saves nothing of the takes before it: one latecomer may
// go beside the others, and then a fifth.
func TestAReplicaThatBeginsHasNoLatecomersSaved(t *testing.T) {
	n := newTurnstile(&Line{cfg: &Config{}})
	sale := newBench().sale
	n.line.sale.Store(&sale)
	n.saw(Door{Taken: 10_000})
	if n.allow != 1 {
		t.Errorf("after 10,000 takes of before its time, it would let %v latecomers in", float64(n.allow))
	}
	n.saw(Door{Taken: 10_010})
	if n.allow != 3 {
		t.Errorf("and %v after 10 more, want 2 more", float64(n.allow))
	}
}

// The rate in force is at most what the provider opens payments for, by the
// share who buy.
func TestPaymentQuotaBoundsTheRate(t *testing.T) {
	for _, c := range []struct {
		quota, prior, want float64
		by                 Limit
	}{
		{0, 0.5, 50, ByRate},
		{13, 0.5, 13 / (0.5 * doubt), ByPayments},
		{13, 0, 13, ByPayments}, // nothing is known of a large sale: all may buy
		{100, 0, 50, ByRate},
	} {
		b := newBench()
		b.sale.PaymentQuota, b.sale.SharePrior = c.quota, c.prior
		b.r.Set(b.sale)
		b.fresh(0)
		if f := b.fresh(Tick).Figures; math.Abs(f.Rate-c.want) > 0.01 || f.By != c.by {
			t.Errorf("%+v: %v/s by %s", c, f.Rate, f.By)
		}
	}
	for _, quota := range []float64{-1, math.NaN()} {
		b := newBench()
		b.sale.PaymentQuota = quota
		b.r.Set(b.sale)
		if f := b.fresh(0).Figures; f.State != OnDoubt || f.Reason != NoRate || f.Rate != 0 {
			t.Errorf("quota %v: %s, %s, %v/s; a senseless quota is closed", quota, f.State, f.Reason, f.Rate)
		}
	}
}

// Payments that fail for 10 s close the line. Once nobody tries any more a few
// are let in to find out, and the first answer brings the rate back, step by
// step.
func TestFailingPaymentsClose(t *testing.T) {
	b := newBench()
	began := b.now
	ago := func(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }
	look := func(at float64, p Paying) string {
		for b.now.Before(ago(at)) {
			p.At = b.now
			b.r.Paying(p)
			b.r.Load(healthy(b.now))
			b.fresh(500 * time.Millisecond)
		}
		f := b.fresh(0).Figures
		return fmt.Sprintf("%s %s %.4g/s %s", f.State, f.Reason, f.Rate, f.By)
	}
	for _, c := range []struct {
		at   float64
		p    Paying
		want string
	}{
		{1, Paying{}, "open  50/s organiser"},
		{9.5, Paying{Since: ago(0), Failed: ago(9)}, "open  50/s organiser"},
		{10.5, Paying{Since: ago(0), Failed: ago(10)}, "closed_on_doubt payments 2.5/s payments"},
		{20, Paying{Since: ago(0), Failed: ago(10)}, "closed_on_doubt payments 2.5/s payments"},
		{30, Paying{Since: ago(0), Failed: ago(10)}, "open  2.5/s payments"},                      // nobody can know
		{31, Paying{Since: ago(0), Failed: ago(30.5)}, "closed_on_doubt payments 2.5/s payments"}, // one found out
		{45, Paying{Since: ago(0), Failed: ago(30.5)}, "open  2.5/s payments"},
		{50, Paying{Failed: ago(30.5)}, "open  15/s payments"}, // answered: 5 % of the rate a second
		{70, Paying{Failed: ago(30.5)}, "open  50/s organiser"},
	} {
		if got := look(c.at, c.p); got != c.want {
			t.Errorf("after %v s: %s; want %s", c.at, got, c.want)
		}
	}
	b.r.Paying(Paying{At: b.now})
	if f := b.fresh(10 * time.Second).Figures; f.State != Open {
		t.Errorf("%s, %s 10 s after the last report of payments", f.State, f.Reason)
	}
	if f := b.fresh(Tick).Figures; f.Reason != NoPayments {
		t.Errorf("%s, %s more than 10 s after the last report of payments, want closed: nobody can pay", f.State, f.Reason)
	}
	b.r.Paying(Paying{})
	if f := b.fresh(Tick).Figures; f.State != Open {
		t.Errorf("%s, %s in a sale that takes its payments elsewhere", f.State, f.Reason)
	}
}
