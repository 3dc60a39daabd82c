package admission

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// row is a run in the printed table.
func (s *sim) row() string {
	sec := func(d time.Duration) string { return fmt.Sprintf("%4.0f", d.Seconds()) }
	return fmt.Sprintf("%5d seats %6d fans %6.1f/s | all sold %-5v claimed 99 %% %s s, all %s s | for good 99 %% %s s, all %s s | let in %5d, found nothing %4.1f %% | waves %2d, door ≤ %4d, stuck ≤ %s s | P8 over by %.3f",
		s.seats, s.fans, s.rate, s.sold == s.seats, sec(s.saw.claimed99), sec(s.saw.claimed), sec(s.finalBy(0.99)), sec(s.finalBy(1)),
		len(s.saw.takes), s.lost(), s.r.wave, s.saw.doorMost, sec(s.saw.stuck), overPace(s.saw.takes, s.rate))
}

// lost is the percentage of those let in who found nothing.
func (s *sim) lost() float64 { return 100 * float64(s.saw.nothing) / float64(max(1, len(s.saw.takes))) }

// judge holds a run against what every run must keep.
func (s *sim) judge(t *testing.T) {
	t.Helper()
	if sold := s.sold == s.seats || s.once && s.saw.claimed > 0; !sold && s.wanting() > 0 {
		t.Errorf("%+v: %d of %d seats sold, %d free, %d at the door: %+v", s.setting, s.sold, s.seats, s.free, s.held(), s.doc)
	}
	if over := overPace(s.saw.takes, s.rate); over > 0 {
		t.Errorf("%+v: in some window %.3f more people were let in than P8 allows", s.setting, over)
	}
	if s.saw.idle > 0 {
		t.Errorf("%+v: %d steps left credit and budget, and somebody at the door (P14)", s.setting, s.saw.idle)
	}
}

// wanting is how many of those in the line would still come.
func (s *sim) wanting() (n int) {
	for i := range s.crowd {
		if f := &s.crowd[i]; !f.absent && !f.done && f.take == 0 {
			n++
		}
	}
	return n
}

func TestSmallHallSellsOut(t *testing.T) {
	const runs = 60
	var lost, first, most int
	for seed := range uint64(runs) {
		c := usual(10, 2000, 50)
		c.seed, c.payWithin = seed, 2*time.Minute
		s := newSim(c).run()
		s.judge(t)
		if seed < 3 {
			t.Log(s.row())
		}
		lost, first, most = lost+s.saw.firstNothing, first+s.saw.first, max(most, s.saw.firstNothing)
	}
	mean := float64(lost) / runs
	t.Logf("10 seats, %d runs: %.1f people in the first wave, of whom %.2f find nothing in the mean, %d at most", runs, float64(first)/runs, mean, most)
	if mean > 4 {
		t.Errorf("%.2f people of the first wave found nothing in the mean, want at most 4", mean)
	}
}

// The figures are for a hall whose people take 45 s to choose, and of whom 30 %
// do not come, 40 % want 3 tickets, and 10 % do not pay.
func TestBigHallSellsOut(t *testing.T) {
	once := func(c setting) setting { c.once = true; return c }
	learnt := usual(5000, 40_000, 200)
	learnt.sharePrior, learnt.tickPrior = 0.4, 3
	quick := usual(5000, 30_000, 50)
	quick.payWithin = time.Minute
	replicas := quick
	replicas.replicas, replicas.latency, replicas.burned, replicas.giveUp = 3, 30*time.Millisecond, 0.05, 0.2
	for _, c := range []struct {
		name string
		setting
		most99, most time.Duration
	}{
		{"50/s", once(usual(5000, 100_000, 50)), 300 * time.Second, 400 * time.Second},
		{"50/s, a minute to pay", quick, 300 * time.Second, 400 * time.Second},
		{"50/s, a minute to pay, three replicas, slow store, holes", replicas, 300 * time.Second, 400 * time.Second},
		{"200/s", once(usual(5000, 40_000, 200)), 300 * time.Second, 400 * time.Second},
		{"200/s, shares known", once(learnt), 150 * time.Second, 200 * time.Second},
		{"1,756 seats", once(usual(1756, 40_000, 50)), 200 * time.Second, 250 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSim(c.setting).run()
			t.Log(s.row())
			s.judge(t)
			if s.saw.claimed99 > c.most99 || s.saw.claimed > c.most {
				t.Errorf("99 %% claimed after %v, all after %v; want %v and %v", s.saw.claimed99, s.saw.claimed, c.most99, c.most)
			}
			if s.lost() > 5 {
				t.Errorf("%.1f %% of those let in found nothing, want at most 5 %%", s.lost())
			}
		})
	}
}

// Whatever the sale and the crowd: while enough people want the seats, the last
// one is sold. ADMISSION_GRID=2000 tries so many more settings.
func TestNoSettingStopsTheSale(t *testing.T) {
	n := 25
	if more, err := strconv.Atoi(os.Getenv("ADMISSION_GRID")); err == nil {
		n = more
	} else {
		t.Logf("the long grid is skipped, %d settings are tried: set ADMISSION_GRID to how many you want", n)
	}
	rng := rand.New(rand.NewPCG(uint64(n), 11))
	var slowest, stuck *sim
	var sold int
	for seed := range uint64(n) {
		s := newSim(anySetting(rng, seed)).run()
		s.judge(t)
		if s.sold == s.seats {
			sold++
		}
		if slowest == nil || s.finalBy(1) > slowest.finalBy(1) {
			slowest = s
		}
		if stuck == nil || s.saw.stuck > stuck.saw.stuck {
			stuck = s
		}
		if t.Failed() {
			return
		}
	}
	if sold < n*9/10 {
		t.Errorf("only %d of %d sales were wanted by enough people to say anything", sold, n)
	}
	t.Logf("%d of %d sold out; of the others everybody who wanted to buy did", sold, n)
	t.Log("slowest:", slowest.row())
	t.Log("longest stuck:", stuck.row(), fmt.Sprintf("%+v", stuck.setting))
}

// anySetting draws a sale that enough people want and that ends in a few hours.
func anySetting(rng *rand.Rand, seed uint64) setting {
	for {
		c := usual(10, 0, 1)
		c.seed = seed
		c.seats = int(10 * pow(rng, 500))  // 10 .. 5,000
		c.rate = 0.4 * pow(rng, 2500)      // 0.4 .. 1,000
		c.share = 0.1 + 0.85*rng.Float64() // 0.1 .. 0.95
		c.tickets = 1 + 5*rng.Float64()    // 1 .. 6
		c.absent = 0.7 * rng.Float64()     // 0 .. 0.7
		c.neverPay = 0.5 * rng.Float64()   // 0 .. 0.5
		c.burned = 0.1 * rng.Float64()     //
		c.giveUp = 0.3 * rng.Float64()     //
		c.early = rng.Float64()            //
		c.replicas = 1 + rng.IntN(3)       //
		c.slack = []float64{0, 0.5, 1}[rng.IntN(3)]
		c.quiet = []float64{0, 0.2, 1}[rng.IntN(3)]
		c.latency = []time.Duration{0, 5 * time.Millisecond, 60 * time.Millisecond}[rng.IntN(3)]
		c.payWithin = time.Duration(float64(30*time.Second) * pow(rng, 20))
		people := float64(c.seats) / (c.share * c.tickets * (1 - c.neverPay))
		c.fans = 100 + int(2*people/((1-c.absent)*(1-c.giveUp)))
		if c.fans <= 20_000 && people/c.rate < 1800 {
			c.limit = time.Duration(8*people/c.rate)*time.Second + 6*time.Hour
			return c
		}
	}
}

// pow draws 1 .. most, evenly by magnitude.
func pow(rng *rand.Rand, most float64) float64 { return math.Pow(most, rng.Float64()) }

// Ten minutes with nobody there bank nothing: 200 people who then come at once
// are let in at the pace.
func TestIdleTimeIsNotSaved(t *testing.T) {
	c := usual(5000, 200, 10)
	c.early, c.late, c.arrive, c.absent = 0, 10*time.Minute, time.Millisecond, 0
	c.limit = 12 * time.Minute
	s := newSim(c).run()
	if len(s.saw.takes) != 200 {
		t.Fatalf("%d people let in, want all 200", len(s.saw.takes))
	}
	took := s.saw.takes[199] - s.saw.takes[0]
	t.Logf("200 people let in within %v", took)
	if over := overPace(s.saw.takes, 10); over > 0 || took < 19*time.Second {
		t.Errorf("200 people within %v, %.3f over the pace", took, over)
	}
	if took > 25*time.Second {
		t.Errorf("200 people took %v, at 10/s", took)
	}
}

// takenBetween is how many people were let in from one time after the opening
// to another.
func (s *sim) takenBetween(from, to time.Duration) (n int) {
	for _, t := range s.saw.takes {
		if t > opening+from && t <= opening+to {
			n++
		}
	}
	return n
}

// A pause lets nobody in from the next step on. What the line did not let in
// meanwhile it does not let in afterwards either; it goes on where it stood.
func TestPauseCatchesNothingUp(t *testing.T) {
	const from, to = 20 * time.Second, 60 * time.Second
	s := newSim(usual(5000, 20_000, 50))
	s.limit = 90 * time.Second
	var front int64
	s.after(from, func() {
		s.sale.Control = Pause
		s.r.Set(s.sale)
		front = s.r.called
	})
	s.after(to, func() {
		if s.r.called != front {
			t.Errorf("the front went from %d to %d in the pause", front, s.r.called)
		}
		s.sale.Control = Run
		s.r.Set(s.sale)
	})
	s.run()
	t.Logf("let in: %d in the 20 s before, %d in the pause, %d in the first second after, %d in 30 s after",
		s.takenBetween(0, from), s.takenBetween(from+Tick, to), s.takenBetween(to, to+time.Second), s.takenBetween(to, to+30*time.Second))
	if n := s.takenBetween(from+Tick, to); n > 0 {
		t.Errorf("%d people let in during the pause", n)
	}
	if n := s.takenBetween(to, to+30*time.Second); n < 1400 {
		t.Errorf("%d people in the 30 s after the pause, want nearly 1,500", n)
	}
	if over := overPace(s.saw.takes, 50); over > 0 {
		t.Errorf("over the pace by %.3f people", over)
	}
	if !s.saw.states[Paused] {
		t.Error("the state was never paused")
	}
}

// What must be known and is not closes the line within 3 s, with the reason;
// when it is known again the line goes on, and sells out.
func TestDoubtCloses(t *testing.T) {
	for _, c := range []struct {
		reason Reason
		doubt  func(s *sim, on bool)
	}{
		{NoStock, func(s *sim, on bool) { s.noStock = on }},
		{NoClaimers, func(s *sim, on bool) { s.noClaimers = on }},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			setting := usual(1000, 8_000, 50)
			setting.payWithin = time.Minute
			s := newSim(setting)
			var reason Reason
			s.after(5*time.Second, func() { c.doubt(s, true) })
			s.after(19*time.Second, func() { reason = s.r.reason })
			s.after(20*time.Second, func() { c.doubt(s, false) })
			s.run().judge(t)
			if reason != c.reason {
				t.Errorf("reason %q, want %q", reason, c.reason)
			}
			late := 5*time.Second + 3*time.Second + Tick
			if n := s.takenBetween(late, 20*time.Second); n > 0 {
				t.Errorf("%d people let in on doubt", n)
			}
			if s.takenBetween(0, 5*time.Second) == 0 || s.takenBetween(21*time.Second, 40*time.Second) == 0 {
				t.Error("nobody was let in before, or nobody after")
			}
		})
	}
}

// A second controller takes over again and again, and begins from nothing but
// the door and the passes that are out: the hall sells out, at the pace.
func TestTakeOverLosesNothing(t *testing.T) {
	c := usual(2000, 15_000, 50)
	c.payWithin, c.replicas, c.latency = time.Minute, 2, 10*time.Millisecond
	s := newSim(c)
	fronts, share := []int64{0}, 0.0
	for i := range 10 {
		s.after(time.Duration(7+40*i)*time.Second, func() {
			before, _ := Published(s.door)
			s.takeOver()
			fronts = append(fronts, s.r.called)
			d := s.r.Step(s.time(), s.door, int64(len(s.holder)), s.atDoor())
			if i == 3 {
				share = d.Figures.Share - before.Share
			}
			if d.Figures.State != Open && d.Figures.State != Exhausted {
				t.Errorf("after take-over %d the line is %s, %s", i, d.Figures.State, d.Figures.Reason)
			}
		})
	}
	s.run().judge(t)
	t.Log(s.row())
	for i := 1; i < len(fronts); i++ {
		if fronts[i] < fronts[i-1] {
			t.Errorf("the front fell from %d to %d", fronts[i-1], fronts[i])
		}
	}
	if math.Abs(share) > 0.02 {
		t.Errorf("a take-over moved the learnt share by %.3f", share)
	}
	if s.lost() > 8 {
		t.Errorf("%.1f %% found nothing", s.lost())
	}
}
