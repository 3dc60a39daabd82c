package admission

import (
	"math"
	"time"
)

// stock is the last recount, with what was claimed since.
type stock struct {
	Stock
	since []claim
}

type claim struct {
	tickets int64
	at      time.Time
}

// claimed takes seats off the recount that it could not see yet.
func (s *stock) claimed(tickets int64, at time.Time) {
	if at.After(s.At) {
		s.since = append(s.since, claim{tickets, at})
	}
}

// restock takes a newer recount.
func (s *stock) restock(n Stock) {
	if n.At.Before(s.At) {
		return
	}
	old := s.since
	s.Stock, s.since = n, nil
	for _, c := range old {
		s.claimed(c.tickets, c.at)
	}
}

// returning is R (R7): seats about to come back. Pending seats as such never
// count: half of them did, and 1,579 people found nothing instead of 14.
func (s *stock) returning() float64 {
	expired, ended := float64(s.Expired), float64(s.Expired+s.PaidLate)
	return float64(s.Due) * (expired + 6) / (ended + learnWeight)
}

// expected is S (R5): seats for those inside and those yet to be let in.
func (s *stock) expected() float64 {
	free := s.Free
	for _, c := range s.since {
		free -= c.tickets
	}
	return float64(max(0, free)) + s.returning()
}

// empty is less stock than anybody could be let in for.
const empty = 0.5

// budget is how many more people the stock will do for (R5).
func budget(expected, inside, share, tickets, slack float64) int64 {
	if expected < empty {
		return 0
	}
	some := expected + slack*math.Sqrt(expected*max(1, tickets))
	each := max(0.02, share*min(tickets, max(1, some))) // nobody buys more than is left
	// Rounded up, and once: rounded down, the last seats are never sold.
	return max(0, int64(math.Ceil(some/each-inside)))
}
