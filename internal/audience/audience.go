// Package audience says who comes to a sale, and what each of them will do. A
// seed draws the same people for a crowd of real requests and for a rehearsal
// on a virtual clock, so that the one can be held against the other.
package audience

import (
	"math/rand/v2"
	"time"
)

// Audience is the people of one sale. Shares are 0 to 1; times are means.
type Audience struct {
	Fans   int      `json:"fans"`
	Arrive Arrivals `json:"arrive"`

	Share   float64       `json:"share"`    // who want to buy, of those let in
	Seats   float64       `json:"seats"`    // that each of these wants
	MaxSeat int           `json:"max_seat"` // that an order may have
	Think   time.Duration `json:"think"`    // from the pass to the claim
	Browse  time.Duration `json:"browse"`   // that those stay who buy nothing
	Pay     time.Duration `json:"pay"`      // from the claim to the payment

	Absent      float64 `json:"absent"`       // never come when they are called
	NeverPay    float64 `json:"never_pay"`    // of buyers
	LatePay     float64 `json:"late_pay"`     // of buyers: pay after their time is over
	Cancel      float64 `json:"cancel"`       // of buyers: give their order back
	PayTwice    float64 `json:"pay_twice"`    // of buyers: pay two payments of one order at once
	PayOther    float64 `json:"pay_other"`    // of buyers: pay another amount than was asked
	PayLast     float64 `json:"pay_last"`     // of buyers: pay as their time ends
	Leave       float64 `json:"leave"`        // give their place up while they wait
	Reload      float64 `json:"reload"`       // join again while they wait
	DoubleClick float64 `json:"double_click"` // send the same request twice at once
	Silent      float64 `json:"silent"`       // of those who buy nothing: leave without a word
	Quiet       float64 `json:"quiet"`        // whose pages give no sign of life
	Together    float64 `json:"together"`     // of buyers: take all the seats they want, or none

	Seed uint64 `json:"seed"`
}

// Fan is one person: all that they will do is drawn.
type Fan struct {
	Arrive                     time.Duration // since the opening; negative: before it
	Absent, Leaves             bool
	Reloads, Doubles           bool
	Buys, Together             bool
	Silent, Quiet              bool
	Seats                      int
	Think, Browse, UntilPaying time.Duration
	Ends                       Ending
}

// What everybody does alike.
const (
	Pulse    = 8 * time.Second         // between two signs of life of a page; the first is given at once
	Tries    = 6                       // looks at the seats, before somebody leaves who finds none
	TryAgain = 1200 * time.Millisecond // between two of them
)

// Ending is how a buyer's order goes on.
type Ending int8

const (
	Pays Ending = iota
	NeverPays
	PaysLate
	Cancels
	PaysTwice
	PaysOther
	PaysLast // money and the order's end cross
)

// Fan is the i-th of the audience: the seed alone says who that is.
func (a Audience) Fan(i int) Fan {
	r := rand.New(rand.NewPCG(a.Seed, uint64(i)))
	odds := func(p float64) bool { return r.Float64() < p }
	f := Fan{
		Arrive: a.Arrive.draw(r),
		Absent: odds(a.Absent), Leaves: odds(a.Leave), Reloads: odds(a.Reload), Doubles: odds(a.DoubleClick),
		Buys: odds(a.Share), Together: odds(a.Together), Silent: odds(a.Silent), Quiet: odds(a.Quiet),
		Seats: wanted(r, a.Seats, a.MaxSeat), Ends: a.ending(r.Float64()),
	}
	// Nobody chooses seats in no time: the sum of two exponentials.
	f.Think = around(a.Think, (r.ExpFloat64()+r.ExpFloat64())/2)
	f.Browse = around(a.Browse, r.ExpFloat64())
	f.UntilPaying = around(a.Pay, (1+4*r.Float64())/3)
	return f
}

// around is a time by its mean, at most five times as long.
func around(mean time.Duration, times float64) time.Duration {
	return time.Duration(min(times, 5) * float64(mean))
}

// wanted draws how many seats somebody wants: the mean, one more or one less.
func wanted(r *rand.Rand, mean float64, limit int) int {
	n := int(mean) + r.IntN(3) - 1
	if r.Float64() < mean-float64(int(mean)) {
		n++
	}
	return min(max(n, 1), limit)
}

func (a Audience) ending(x float64) Ending {
	for _, e := range []struct {
		share float64
		Ending
	}{
		{a.NeverPay, NeverPays},
		{a.LatePay, PaysLate},
		{a.Cancel, Cancels},
		{a.PayTwice, PaysTwice},
		{a.PayOther, PaysOther},
		{a.PayLast, PaysLast},
	} {
		if x < e.share {
			return e.Ending
		}
		x -= e.share
	}
	return Pays
}
