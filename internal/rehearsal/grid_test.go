package rehearsal

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"waitroom/internal/audience"
)

// go test ./internal/rehearsal -run TestNoSettingStopsTheSale -v -args -settings 2000
var settings = flag.Int("settings", 200, "how many sales the grid tries")

// Whatever the sale and the crowd: while enough people want the seats, the last
// one is sold; nobody is let in faster than the pace, and nobody is kept at the
// door for nothing.
func TestNoSettingStopsTheSale(t *testing.T) {
	rng := rand.New(rand.NewPCG(uint64(*settings), 11))
	var all tally
	for i, c := range large() {
		all.add(t, fmt.Sprint("large ", i), c)
	}
	for i := range *settings - len(large()) {
		all.add(t, fmt.Sprint(i), anySetting(rng, uint64(i)))
		if t.Failed() {
			return
		}
	}
	all.log(t)
	if all.sold < all.n*9/10 {
		t.Errorf("only %d of %d sales were wanted by enough people to say anything", all.sold, all.n)
	}
}

// large are the largest halls.
func large() []Setting {
	one := usual(50_000, 40_000, 1000).wants(5, 6).toPay(time.Minute)
	one.Audience.Share = 0.9
	two := usual(50_000, 80_000, 200).wants(5, 6).toPay(time.Minute)
	two.Audience.Share, two.Audience.NeverPay = 0.8, 0.2
	three := usual(20_000, 60_000, 500).wants(2, 4).toPay(5 * time.Minute)
	three.Audience.Share, three.Audience.Absent = 0.8, 0.6
	return []Setting{one, two, three}
}

// anySetting draws a sale that enough people want and that ends in a few hours.
func anySetting(rng *rand.Rand, seed uint64) Setting {
	for {
		seats := int(10 * pow(rng, 5000)) // 10 .. 50,000
		c := usual(seats, 0, 0.4*pow(rng, 2500)).wants(1+5*rng.Float64(), 7)
		c = c.toPay(time.Duration(float64(30*time.Second) * pow(rng, 20)))
		a, h := &c.Audience, &c.House
		a.Seed = seed
		a.Share = 0.1 + 0.85*rng.Float64()
		a.Absent = 0.7 * rng.Float64()
		a.NeverPay = 0.5 * rng.Float64()
		a.Leave = 0.3 * rng.Float64()
		a.Quiet = []float64{0, 0.2, 1}[rng.IntN(3)]
		early := rng.Float64()
		a.Arrive = audience.Arrivals{{Share: early, From: -time.Minute}, {Share: 1 - early, Until: time.Minute}}
		h.Holes = 0.1 * rng.Float64()
		h.Replicas = 1 + rng.IntN(3)
		h.Store = []time.Duration{0, 5 * time.Millisecond, 60 * time.Millisecond}[rng.IntN(3)]
		c.Sale.Slack = []float64{0, 0.5, 1}[rng.IntN(3)]
		people := float64(seats) / (a.Share * a.Seats * (1 - a.NeverPay))
		a.Fans = 100 + int(2*people/((1-a.Absent)*(1-a.Leave)))
		if a.Fans <= 10_000 && people/c.Sale.Rate < 1800 {
			c.Limit = time.Duration(8*people/c.Sale.Rate)*time.Second + 6*time.Hour
			return c
		}
	}
}

// pow draws 1 .. most, evenly by magnitude.
func pow(rng *rand.Rand, most float64) float64 { return math.Pow(most, rng.Float64()) }

// tally adds runs up, by the size of the hall.
type tally struct {
	n, sold       int
	sizes         [4]size
	slowest, kept *stage
}

type size struct {
	upTo, runs, people, nothing int
	waves                       int64
	overPace                    float64
}

func (z size) lost() float64 { return 100 * float64(z.nothing) / float64(max(1, z.people)) }

func (a *tally) add(t *testing.T, name string, c Setting) {
	s := newStage(c).run()
	s.judge(t)
	if t.Failed() {
		t.Log(name, s.row())
	}
	a.n++
	if s.sold == s.Seats {
		a.sold++
	}
	r := s.report()
	for i, upTo := range []int{99, 999, 9_999, 50_000} {
		z := &a.sizes[i]
		if z.upTo = upTo; s.Seats > upTo {
			continue
		}
		z.runs++
		z.people, z.nothing = z.people+r.LetIn, z.nothing+r.FoundNothing
		z.waves = max(z.waves, r.Waves)
		z.overPace = max(z.overPace, r.OverPace)
		break
	}
	if a.slowest == nil || s.now-s.opens > a.slowest.now-a.slowest.opens {
		a.slowest = s
	}
	if a.kept == nil || s.saw.stuck > a.kept.saw.stuck {
		a.kept = s
	}
}

func (a *tally) log(t *testing.T) {
	t.Logf("%d of %d sold out; of the others everybody who wanted to buy did", a.sold, a.n)
	t.Log("seats up to  settings  let in  found nothing  waves at most  P8 over")
	for _, z := range a.sizes {
		t.Logf("%11d  %8d  %6d  %11.1f %%  %13d  %7.3f", z.upTo, z.runs, z.people, z.lost(), z.waves, z.overPace)
	}
	t.Log("slowest:", a.slowest.row())
	t.Log("longest with somebody at the door, free seats and nobody inside who buys:", a.kept.row())
}
