package rehearsal

import (
	"fmt"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/audience"
)

// usual is the sale that the design's figures are about: 30 % of those called
// do not come, 40 % of those let in want three seats, one in ten does not pay.
func usual(seats, fans int, rate float64) Setting {
	return Setting{
		Sale: admission.Sale{
			Event: "usual", OpensAt: time.Unix(1_790_000_000, 0), Rate: rate,
			OrderLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, Slack: 0.5,
		},
		Seats: seats,
		Audience: audience.Audience{
			Fans: fans, Arrive: audience.Arrivals{
				{Share: 0.6, From: -time.Minute},
				{Share: 0.25, Until: 20 * time.Second},
				{Share: 0.15, From: 20 * time.Second, Until: time.Minute},
			},
			Share: 0.4, Seats: 3, MaxSeat: 4, Think: 45 * time.Second, Browse: 30 * time.Second,
			Absent: 0.3, NeverPay: 0.1, Silent: 0.5, Seed: 1,
		},
		House: House{Replicas: 1, Reply: 500 * time.Millisecond},
		Limit: 3 * time.Hour,
	}.toPay(10 * time.Minute)
}

// toPay has everybody pay within a sixth and five sixths of the time.
func (c Setting) toPay(within time.Duration) Setting {
	c.PayWithin, c.Audience.Pay = within, within/2
	return c
}

// wants has buyers who want so many seats in the mean, and may.
func (c Setting) wants(seats float64, limit int) Setting {
	c.Audience.Seats, c.Audience.MaxSeat = seats, limit
	c.Sale.OrderLimit, c.Sale.PassQuota = int64(limit), int64(limit)
	return c
}

// untilClaimed ends a run two minutes after every seat was claimed, paid for or
// not.
func (s *stage) untilClaimed() *stage {
	s.over = func() bool { return s.saw.gone > 0 && s.now > s.saw.gone+2*time.Minute }
	return s
}

// row is a run in the printed table.
func (s *stage) row() string {
	r := s.report()
	return fmt.Sprintf("%5d seats %6d fans %6.1f/s | sold %5d, 99 %% claimed %4.0f s, all %4.0f s | for good 99 %% %4.0f s, all %4.0f s | let in %5d, found nothing %4.1f %% | waves %2d, door ≤ %4d, stuck ≤ %3.0f s | P8 over by %.3f",
		s.Seats, s.Audience.Fans, s.sale.Rate, r.Sold, r.Claimed99, r.ClaimedAll, r.Final99, r.FinalAll,
		r.LetIn, r.lost(), r.Waves, r.DoorMost, s.saw.stuck.Seconds(), r.OverPace)
}

// judge holds a run against what every run must keep.
func (s *stage) judge(t *testing.T) {
	t.Helper()
	if s.sold < s.Seats && !(s.over != nil && s.saw.gone > 0) && s.buyers() > 0 {
		t.Errorf("%+v: %d of %d seats sold, %d free, %d at the door, %d would still buy: %+v", s.Setting, s.sold, s.Seats, s.free, s.held(), s.buyers(), s.last)
	}
	if over := admission.OverPace(s.saw.takes, s.sale.Rate); over > 0 {
		t.Errorf("%+v: in some window %.3f more people were let in than P8 allows", s.Setting, over)
	}
	if s.saw.idle > 0 {
		t.Errorf("%+v: %d steps left credit and budget, and somebody at the door (P14)", s.Setting, s.saw.idle)
	}
}

// buyers is how many of those who would still come would take what is left.
func (s *stage) buyers() (n int) {
	for i := range s.people {
		p := &s.people[i]
		if !p.Absent && !p.done && p.take == 0 && p.Buys && (!p.Together || p.Seats <= s.free) {
			n++
		}
	}
	return n
}

// takenBetween is how many people were let in from one time after the opening
// to another.
func (s *stage) takenBetween(from, to time.Duration) (n int) {
	for _, t := range s.saw.takes {
		if t > s.opens+from && t <= s.opens+to {
			n++
		}
	}
	return n
}
