package rehearsal

import (
	"math/rand/v2"
	"testing"
	"time"

	"waitroom/internal/audience"
)

// What the design's own simulation left out: a hall is sold all the same, at the
// pace, and nobody is kept at the door for nothing.
func TestSellsOutInARoughHouse(t *testing.T) {
	hall := usual(2000, 20_000, 50).toPay(time.Minute)
	for _, c := range []struct {
		name     string
		change   func(*Setting)
		stage    func(*stage)
		mostLost float64 // percentage of those let in who find nothing
	}{
		{name: "as usual", mostLost: 5},
		{"four replicas, reports a second old", func(c *Setting) { c.House.Replicas = 4 }, nil, 5},
		{"clocks 3 s apart, fast and slow", func(c *Setting) {
			c.House.Replicas, c.House.Skew = 4, []time.Duration{0, 3 * time.Second, -3 * time.Second, -time.Second}
		}, nil, 5},
		// Signs of life that are half a minute old when they come look like silence, so
		// more people are let in: a clock to set right, not a sale that stops.
		{"a clock half a minute slow", func(c *Setting) { c.House.Replicas, c.House.Skew = 2, []time.Duration{0, -30 * time.Second} }, nil, 15},
		{"a store that takes up to 200 ms", func(c *Setting) { c.House.Store = 200 * time.Millisecond }, nil, 5},
		{"a store that takes up to a second", func(c *Setting) { c.House.Store = time.Second }, nil, 5},
		{"refills lost, one in five", func(c *Setting) { c.House.Store = 20 * time.Millisecond }, func(s *stage) { s.losing = 0.2 }, 5},
		{"the holder is gone for 3 s, every 20 s", nil, func(s *stage) {
			for i := range 20 {
				s.after(time.Duration(5+20*i)*time.Second, func() { s.down = true })
				s.after(time.Duration(8+20*i)*time.Second, func() { s.down = false; s.takeOver() })
			}
		}, 8},
		{"the share who buy falls from 0.8 to 0.1", nil, func(s *stage) { s.drift(0.8, 0.1) }, 5},
		{"the share who buy rises from 0.1 to 0.8", nil, func(s *stage) { s.drift(0.1, 0.8) }, 12},
		{"half of the buyers take their seats together or none", func(c *Setting) { c.Audience.Together = 0.5 }, nil, 10},
		{"all of them do, and want four, of an odd number of seats", func(c *Setting) {
			*c = c.wants(4, 4)
			c.Seats, c.Audience.Together = 2003, 1
		}, nil, 20}, // who comes for the last three finds too few
		{"a lobby of most of them, drawn", func(c *Setting) {
			c.Lobby = 30 * time.Second
			c.Audience.Arrive = audience.Arrivals{{Share: 0.9, From: -5 * time.Minute, Until: -30 * time.Second}, {Share: 0.1, Until: time.Minute}}
		}, nil, 5},
		{"no sign of life from anybody", func(c *Setting) { c.Audience.Quiet = 1 }, nil, 5},
		{"everybody who buys nothing leaves without a word", func(c *Setting) { c.Audience.Silent = 1 }, nil, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			setting := hall
			if c.change != nil {
				c.change(&setting)
			}
			s := newStage(setting)
			if c.stage != nil {
				c.stage(s)
			}
			s.run().judge(t)
			t.Log(s.row())
			if lost := s.report().lost(); lost > c.mostLost {
				t.Errorf("%.1f %% of those let in found nothing, want at most %.0f %%", lost, c.mostLost)
			}
		})
	}
}

// drift changes who buys, from the first to come to the last that the hall
// needs.
func (s *stage) drift(from, to float64) {
	rng := rand.New(rand.NewPCG(s.Audience.Seed, 3))
	for i := range s.people {
		along := min(1, float64(i)/float64(3*s.Seats))
		s.people[i].Buys = rng.Float64() < from+(to-from)*along
	}
}

// More claims than the claimers bear lower the rate until they bear them: nobody
// waits long for an answer, and the hall sells out.
func TestRateIsWhatTheClaimersBear(t *testing.T) {
	c := usual(5000, 40_000, 200).toPay(time.Minute)
	c.Sale.SharePrior, c.Sale.TicketsPrior, c.House.Claims = 0.4, 3, 30
	s := newStage(c).run()
	s.judge(t)
	least := c.Sale.Rate
	for _, x := range s.saw.samples {
		if x.T > 0 {
			least = min(least, x.Rate)
		}
	}
	t.Logf("%s; rate down to %.0f/s, slowest claim %v", s.row(), least, s.claimers.most)
	if least > 150 {
		t.Errorf("the rate never fell below %.0f/s: 30 claims a second are borne, 80 come at 200/s", least)
	}
	if s.claimers.most > 5*time.Second {
		t.Errorf("somebody waited %v for an answer to a claim", s.claimers.most)
	}
}

// The cap on people inside holds, and the hall sells out under it.
func TestCapHoldsUntilSoldOut(t *testing.T) {
	c := usual(500, 6_000, 50).toPay(time.Minute)
	c.Sale.MaxInside = 40
	c.Sale.PassLife = 3 * time.Minute
	s := newStage(c)
	var most int64
	look := func() {
		most = max(most, s.within(0))
		s.in(100*time.Millisecond, script, 0)
	}
	s.after(0, look)
	s.run().judge(t)
	t.Logf("%s; at most %d inside", s.row(), most)
	if most > c.Sale.MaxInside {
		t.Errorf("%d people inside, want at most %d", most, c.Sale.MaxInside)
	}
}
