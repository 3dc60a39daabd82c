package rehearsal

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Of those let in, few find nothing that they may buy, as long as the share who
// buy is within three tenths of what the organiser expected: 5 of 100 from
// 1,000 seats up, in every sale; 12 of 100 below, in the mean. And a free seat
// that nobody inside will take keeps nobody at the door for longer than silence
// takes to be noticed.
func TestFewFindNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 19))
	var small, large size
	var shares float64 // of those let in who found nothing, over the small halls
	var stuck time.Duration
	for i := range 220 {
		seats := int(10 * pow(rng, 100))
		if i >= 200 {
			seats = int(1000 * pow(rng, 5))
		}
		c := usual(seats, 0, 5*pow(rng, 40)).wants(1+3*rng.Float64(), 4).toPay(time.Minute)
		a := &c.Audience
		expected := 0.2 + 0.5*rng.Float64()
		a.Seed, a.Share = uint64(i), expected*(0.7+0.6*rng.Float64())
		c.Sale.SharePrior, c.Sale.TicketsPrior = expected, a.Seats
		a.Fans = 200 + int(3*float64(seats)/(a.Share*a.Seats))
		s := newStage(c).untilClaimed().run()
		s.judge(t)
		r := s.report()
		z := &small
		if seats < 1000 {
			shares += r.lost()
		} else {
			z = &large
			if r.lost() > 5 {
				t.Errorf("%d seats at %.0f/s, share %.2f of %.2f expected: %.1f %% found nothing, want at most 5 %%", seats, c.Sale.Rate, a.Share, expected, r.lost())
			}
		}
		z.runs, z.people, z.nothing = z.runs+1, z.people+r.LetIn, z.nothing+r.FoundNothing
		stuck = max(stuck, s.saw.stuck)
	}
	mean := shares / float64(small.runs)
	t.Logf("found nothing: %.1f %% in the mean and %.1f %% of %d people in %d halls below 1,000 seats, %.1f %% of %d in %d above; longest at the door beside a free seat that nobody inside takes: %v",
		mean, small.lost(), small.people, small.runs, large.lost(), large.people, large.runs, stuck)
	if mean > 12 {
		t.Errorf("below 1,000 seats %.1f %% found nothing in the mean of %d runs, want at most 12 %%", mean, small.runs)
	}
	if stuck > 30*time.Second {
		t.Errorf("somebody stood at the door for %v beside a free seat that nobody inside took", stuck)
	}
}
