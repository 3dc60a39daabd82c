package admission

import (
	"sort"
	"time"
)

// Outlook is what a rate means for the people who are here now, worked out as
// their own pages work it out: nobody else is thought of, and no seat that may come
// back.
type Outlook struct {
	Rate float64 // in force at that rate: what is borne may be less

	// SoldOut is how long until those who are here have everything in their carts;
	// Last until the last in line is called. Not Known: nobody is let in at that rate.
	Known         bool
	SoldOut       time.Duration
	Enough        bool // false: those who are here leave seats over, and SoldOut is nothing
	LastP50       time.Duration
	LastP90       time.Duration
	Likely, Maybe int64 // of those who wait, who are told likely, and possible
	Unlikely      int64
}

// Outlook says what the line would come to at the organiser's rate. A line that
// nobody is let in from now is looked at as if it went on.
func (s Standing) Outlook(rate float64, now time.Time) Outlook {
	f := s.Figures
	f.State, f.Rate = Open, f.borne(rate)
	o := Outlook{Rate: f.Rate}
	o.LastP50, o.LastP90, o.Known = f.ETA(f.Waiting, now)
	if o.Known {
		o.SoldOut, o.Enough = f.soldOut(s.Stock, now)
	}
	worse := func(than Verdict) int64 {
		return int64(sort.Search(int(f.Waiting), func(ahead int) bool { return f.Verdict(int64(ahead), s.Stock).worse(than) }))
	}
	o.Likely = worse(Likely)
	o.Maybe = worse(Possible) - o.Likely
	o.Unlikely = f.Waiting - o.Likely - o.Maybe
	return o
}

// borne is the rate in force if organisers asked for that one: what holds the rate
// down now holds that one down too.
func (f Figures) borne(rate float64) float64 {
	if f.By == ByClaims || f.By == ByPayments {
		return min(rate, f.Rate)
	}
	return rate
}

// soldOut is how long it takes until what is free is in carts: those inside take
// theirs anyhow, the others as they are let in.
func (f Figures) soldOut(s Stock, now time.Time) (time.Duration, bool) {
	each := f.Share * f.Tickets
	if each <= 0 {
		return 0, s.Free == 0
	}
	wanted := float64(s.Free)/each - float64(f.Inside)
	if wanted <= 0 {
		return 0, true
	}
	if wanted > float64(f.AtDoor+f.Coming)+f.Turn*float64(f.Waiting) {
		return 0, false
	}
	rate := f.Rate
	if f.Pace > 0 {
		rate = min(rate, f.Pace)
	}
	return max(0, time.UnixMilli(f.Opens).Sub(now)) + seconds(wanted/rate), true
}

func (v Verdict) worse(than Verdict) bool {
	rank := map[Verdict]int{Likely: 0, Possible: 1, Unlikely: 2}
	return rank[v] > rank[than]
}
