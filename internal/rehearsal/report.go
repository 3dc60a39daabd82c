package rehearsal

import (
	"math"
	"slices"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/course"
)

// Report is what a run comes to. Times are seconds, since the opening where
// they are moments; 0 is a moment that never came.
type Report struct {
	Setting Setting `json:"setting"`

	Sold        int     `json:"sold"`
	Free        int     `json:"free"`
	Claimed99   float64 `json:"claimed_99_s"` // 99 of 100 seats were in carts, or sold
	ClaimedAll  float64 `json:"claimed_all_s"`
	Seconds     float64 `json:"seconds"` // the last seat was paid for, or the run ended
	PaidLast    float64 `json:"paid_last_s"`
	Closed      bool    `json:"closed"` // it ended because the sale closed
	Waves       int64   `json:"waves"`
	FinalMiddle float64 `json:"final_middle_s"` // half of the seats were claimed by who paid for them
	Final99     float64 `json:"final_99_s"`
	FinalAll    float64 `json:"final_all_s"`

	LetIn        int     `json:"let_in"`
	LetInMax1s   int     `json:"let_in_max_1s"`
	WaitP50      float64 `json:"wait_p50_s"` // of those let in, since they joined
	WaitP95      float64 `json:"wait_p95_s"`
	WaitP99      float64 `json:"wait_p99_s"`
	WaitMost     float64 `json:"wait_most_s"`
	FoundNothing int     `json:"found_nothing"`
	LineMost     int64   `json:"line_most"`
	DoorMost     int     `json:"door_most"`
	StillInLine  int     `json:"still_in_line"` // and would have come, when all was claimed or the run ended
	TurnedAway   int     `json:"turned_away"`   // beyond the line's cap
	JoinsMax1s   int     `json:"joins_max_1s"`
	OrdersMax1s  int     `json:"orders_max_1s"`

	Used     float64 `json:"used"`      // of the rate, until nine tenths were claimed
	OverPace float64 `json:"over_pace"` // people more than the pace allows, in the worst window (P8)
	Idle     int     `json:"idle"`      // steps that kept somebody at the door for nothing (P14)

	Share   float64 `json:"share"` // as learnt
	Tickets float64 `json:"tickets"`

	Samples []course.Sample `json:"samples"`
}

// report is what the run came to.
func (s *stage) report() Report {
	slices.Sort(s.saw.final)
	waits := slices.Sorted(slices.Values(s.saw.waits))
	r := Report{
		Setting: s.Setting, Sold: s.sold, Free: s.free, Waves: s.saw.wave,
		Claimed99: s.since(s.saw.claimed99), ClaimedAll: s.since(s.saw.gone),
		FinalMiddle: s.since(nth(s.saw.final, s.Seats, 0.5)), Final99: s.since(nth(s.saw.final, s.Seats, 0.99)), FinalAll: s.since(nth(s.saw.final, s.Seats, 1)),
		LetIn: len(s.saw.takes), WaitP50: nth(waits, len(waits), 0.5).Seconds(), WaitP95: nth(waits, len(waits), 0.95).Seconds(),
		WaitP99: nth(waits, len(waits), 0.99).Seconds(), WaitMost: nth(waits, len(waits), 1).Seconds(),
		FoundNothing: s.saw.nothing, LineMost: s.saw.lineMost, DoorMost: s.saw.doorMost, TurnedAway: s.saw.refused,
		JoinsMax1s: s.saw.joins.n, OrdersMax1s: s.saw.claims.n, StillInLine: s.wanting(),
		Used: s.used(), OverPace: admission.OverPace(s.saw.takes, s.sale.Rate), Idle: s.saw.idle,
		Share: s.last.Share, Tickets: s.last.Tickets, Samples: s.saw.samples,
	}
	var in most
	for _, t := range s.saw.takes {
		in.note(t)
	}
	r.LetInMax1s = in.n
	r.Seconds = s.since(s.now)
	r.Closed = !s.sale.ClosesAt.IsZero() && !s.time().Before(s.sale.ClosesAt)
	if n := len(s.saw.paid); n > 0 {
		r.PaidLast = s.since(s.saw.paid[n-1])
	}
	if s.sold == s.Seats && s.sold > 0 {
		r.Seconds = r.PaidLast
	}
	return r
}

// since is a moment of this clock in seconds since the opening; 0 for none.
func (s *stage) since(at time.Duration) float64 {
	if at == 0 {
		return 0
	}
	return (at - s.opens).Seconds()
}

// nth is the time by which a share of n had come; 0: never.
func nth(times []time.Duration, n int, share float64) time.Duration {
	i := max(0, int(math.Ceil(share*float64(n)))-1)
	if i >= len(times) {
		return 0
	}
	return times[i]
}

// wanting is how many of those in the line would still come, or would have, had the
// sale not closed.
func (s *stage) wanting() int {
	n := s.saw.shutOut
	for i := range s.people {
		if p := &s.people[i]; !p.Absent && !p.done && p.take == 0 {
			n++
		}
	}
	return n
}

// used is how much of the rate let somebody in, from the opening until nine
// tenths of the seats were claimed.
func (s *stage) used() float64 {
	until := nth(s.saw.claimed, s.Seats, 0.9)
	if until <= s.opens {
		return 0
	}
	n, _ := slices.BinarySearch(s.saw.takes, until)
	return float64(n) / (s.sale.Rate * (until - s.opens).Seconds())
}

// lost is the percentage of those let in who found nothing.
func (r Report) lost() float64 { return 100 * float64(r.FoundNothing) / float64(max(1, r.LetIn)) }
