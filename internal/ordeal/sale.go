package ordeal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"waitroom/examples"
	"waitroom/internal/audience"
	"waitroom/internal/crowd"
	"waitroom/internal/demo"
	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/stack"
)

// event is what is sold.
const event = "ordeal"

// Sale is how much is sold, to whom, and how fast: slowly while harm is done, so
// that there is something to harm whatever the machine's speed, then fast.
type Sale struct {
	Seats      int // 0: the concert hall's 1,756
	Fans       int
	Rate, Last float64 // people let in a second, and once all harm is done
	Share      float64 // of those let in, who buy
	Wants      float64 // seats that each of these wants
	NeverPay   float64 // of the buyers
	PayWithin  time.Duration
	Arrive     time.Duration // half of them come by then, the others at the opening
	Limit      time.Duration // the fans are sent home then
}

// Usual is the ordeal as it is to be passed.
func Usual() Setting {
	return Setting{Seed: 1, Sale: Sale{Fans: 3500, Rate: 7, Last: 40, Share: 0.6, Wants: 2.6, NeverPay: 0.1, PayWithin: 20 * time.Second, Arrive: 4 * time.Minute, Limit: 15 * time.Minute}}
}

// Short is some of it.
func Short() Setting {
	return Setting{
		Seed: 1, Sale: Sale{Seats: 120, Fans: 240, Rate: 1.5, Last: 100, Share: 0.9, Wants: 1.2, NeverPay: 0.04, PayWithin: 4 * time.Second, Arrive: time.Minute, Limit: 6 * time.Minute},
		Harms: []string{ClaimerBeforeCommit, WaitroomAfterCredit, PostgresCrashed, CourierKilled},
	}
}

func (s Sale) hall() (inventory.Hall, error) {
	if s.Seats == 0 {
		_, hall, err := demo.Hall("concert-hall.json", examples.ConcertHall)
		return hall, err
	}
	var plan strings.Builder
	plan.WriteString("guid,section,row,number,x,y,category,kind,count\n")
	for i := range s.Seats {
		row, n := i/10+1, i%10+1
		fmt.Fprintf(&plan, "%d-%d,Stalls,%d,%d,%d,%d,Seats,numbered,\n", row, n, row, n, 20*n, 20*row)
	}
	_, hall, err := demo.Hall("hall.csv", []byte(plan.String()))
	return hall, err
}

// config is the demo of this sale.
func (s Sale) config(o Setting) (demo.Config, error) {
	hall, err := s.hall()
	return demo.Config{
		Build: demo.Build{
			Line: "dynamodb", Addr: "127.0.0.1:0", Logs: o.Logs, Replicas: 2, Hall: hall, OpensIn: 10 * time.Second,
			JoinsPerNetwork: 1_000_000, // everybody comes from one: it is counted in Redis, and never enough
			Event: inventory.Event{
				ID: event, Title: "A sale under the knife", Currency: "EUR", Rate: &s.Rate, LineCap: 100_000,
				OrderLimit: 4, AccountLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
				PayWithin: s.PayWithin, PayExtension: s.PayWithin / 4, StockSlack: 0.5,
			},
			Disorder: payprov.Disorder{Doubled: 0.1, MaxDelay: time.Second, Seed: o.Seed},
		},
		Crowd: crowd.Config{
			Conns: 1000,
			Audience: audience.Audience{
				Fans: s.Fans, Arrive: audience.Arrivals{{Share: 0.5, From: -4 * time.Second, Until: 4 * time.Second}, {Share: 0.5, Until: s.Arrive}},
				Share: s.Share, Seats: s.Wants, MaxSeat: 4,
				Think: time.Second, Browse: time.Second, Pay: time.Second, NeverPay: s.NeverPay, LatePay: 0.05, PayTwice: 0.1, Cancel: 0.03,
				Reload: 0.1, DoubleClick: 0.1, Seed: o.Seed,
			},
		},
		Limit: s.Limit, Out: o.Out, Witness: o.Witness,
	}, err
}

// hurry lets the rest of the people in faster.
func (b *bench) hurry(ctx context.Context) error {
	change, err := inventory.SetRate(ctx, b.db, event, b.Sale.Last)
	if err == nil && change != inventory.Changed {
		err = fmt.Errorf("the rate: %s", change)
	}
	return err
}

// Back is how long after a fault's end something was done again.
type Back struct{ LetIn, Claimed, Paid time.Duration }

// Longest is when all of it was.
func (b Back) Longest() time.Duration { return max(b.LetIn, b.Claimed, b.Paid) }

// tally is how much had been done at a moment.
type tally struct{ letIn, claimed, paid, seats int64 }

// tally reads it; a database that was crashed answers in a while.
func (b *bench) tally(ctx context.Context) (t tally, err error) {
	var last error
	err = stack.Until(ctx, "the database answers", healed, func() (bool, error) {
		last = b.db.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM passes), count(*), count(*) FILTER (WHERE status = 'paid'),
			  (SELECT count(*) FROM seats s JOIN orders o ON o.id = s.order_id WHERE o.status = 'paid')
			FROM orders`).Scan(&t.letIn, &t.claimed, &t.paid, &t.seats)
		return last == nil, nil
	})
	if err != nil {
		err = errors.Join(err, last)
	}
	return t, err
}

// healed is how soon sales have to go on after a fault.
const healed = time.Minute

// goesOn waits until somebody was let in, somebody claimed and somebody paid since.
func (b *bench) goesOn(ctx context.Context, since tally) (back Back, err error) {
	began := time.Now()
	first := func(at *time.Duration, is bool) bool {
		if is && *at == 0 {
			*at = time.Since(began)
		}
		return *at > 0
	}
	err = stack.Until(ctx, "sales go on", healed, func() (bool, error) {
		now, err := b.tally(ctx)
		letIn, claimed, paid := first(&back.LetIn, now.letIn > since.letIn), first(&back.Claimed, now.claimed > since.claimed), first(&back.Paid, now.paid > since.paid)
		return letIn && claimed && paid, err
	})
	if err != nil {
		err = fmt.Errorf("%w; after the fault: let in %s, claimed %s, paid %s (0s: not at all)", err, back.LetIn, back.Claimed, back.Paid)
	}
	return back, err
}
