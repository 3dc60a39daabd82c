package demo_test

import (
	"testing"
	"time"

	"waitroom/internal/audience"
	"waitroom/internal/audit"
	"waitroom/internal/crowd"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/payprov"
	"waitroom/internal/pgtest"
)

// A whole sale, ten times oversold, through every process, on both stores of
// the line: everything is sold once, what unpaid orders give back is sold
// again, nobody is let in faster than the rate, and the audit finds every
// promise kept.
func TestHallSellsOutOversoldTenTimes(t *testing.T) {
	// Side by side: a sale is mostly waiting for people.
	t.Run("line in a file", func(t *testing.T) { t.Parallel(); sellOut(t, "local", "") })
	t.Run("line in DynamoDB", func(t *testing.T) { t.Parallel(); sellOut(t, "dynamodb", demotest.Dynalite(t)) })
}

const rate = 60

func sellOut(t *testing.T, line, dynalite string) {
	event := demotest.Event()
	perSecond := float64(rate)
	share, tickets := 0.8, 2.5
	event.Rate, event.SharePrior, event.TicketsPrior = &perSecond, &share, &tickets
	// Longer than the sale takes to be exhausted, so that there is a second wave.
	event.PayWithin, event.PayExtension = 15*time.Second, time.Second
	out := &lastLines{}
	began := time.Now()
	r, err := demo.Run(t.Context(), demo.Config{
		Build: demo.Build{
			Services: demo.Services{DatabaseURL: pgtest.URL(t), DynamoDB: dynalite},
			Line:     line, Addr: "127.0.0.1:0", Event: event, Hall: demotest.Hall(t, 6, 60), OpensIn: 6 * time.Second,
			Disorder: payprov.Disorder{Doubled: 0.2, MaxDelay: 500 * time.Millisecond, Seed: 7},
		},
		Crowd: crowd.Config{
			Conns: 300,
			Audience: audience.Audience{
				Fans: 600, Arrive: audience.Rush(-5*time.Second, 15*time.Second), Share: 0.8, Seats: 2.5, MaxSeat: event.OrderLimit,
				Think: 500 * time.Millisecond, Browse: 500 * time.Millisecond, Pay: 500 * time.Millisecond,
				Absent: 0.1, NeverPay: 0.15, LatePay: 0.05, Cancel: 0.1, Leave: 0.05, Reload: 0.2, DoubleClick: 0.2, Seed: 7,
			},
		},
		// The last seats may be held by several who never pay, one after the other.
		Limit: 3 * time.Minute, Out: out,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%.0f s in all; sold %d of %d in %.1f s, free %d, pending %d, oversold %d; %d paid, %d expired, %d cancelled, %d of %d refunds; %d waves; let in %d, at most %d in any second; found nothing %d; wait p50 %.1f s p95 %.1f s",
		time.Since(began).Seconds(), r.Sold, r.Seats, r.Seconds, r.Free, r.Pending, r.Oversold, r.PaidOrders, r.ExpiredOrders, r.Cancelled, r.Refunds, r.RefundsOwed, r.Waves, r.LetIn, r.LetInMax1s, r.FoundNothing, r.WaitP50, r.WaitP95)
	judge(t, r)
	if t.Failed() {
		t.Log(out)
	}
}

func judge(t *testing.T, r demo.Report) {
	if r.Audit.Exit != audit.Clean {
		t.Errorf("the audit ends with %d, want 0", r.Audit.Exit)
	}
	for _, p := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P12", "P13"} {
		if r.Audit.Checked[p] == 0 {
			t.Errorf("%s was held against nothing", p)
		}
	}
	if r.Oversold != 0 {
		t.Errorf("%d seats oversold", r.Oversold)
	}
	if r.Sold+r.Free+r.HeldBack != r.Seats || r.Pending != 0 {
		t.Errorf("of %d seats %d are sold, %d free, %d held back and %d pending", r.Seats, r.Sold, r.Free, r.HeldBack, r.Pending)
	}
	if r.Sold*100 < r.Seats*97 {
		t.Errorf("%d of %d seats sold, want 97 %%", r.Sold, r.Seats)
	}
	if r.ExpiredOrders == 0 || r.Cancelled == 0 { // late money comes or not before the last is home
		t.Errorf("%d orders expired, %d cancelled: this sale was to have both", r.ExpiredOrders, r.Cancelled)
	}
	if most := int64(rate*1.1 + 1); r.LetInMax1s > most {
		t.Errorf("%d let in within a second at %d/s, want at most %d", r.LetInMax1s, rate, most)
	}
	if r.Refunds != r.RefundsOwed {
		t.Errorf("%d of %d refunds have arrived", r.Refunds, r.RefundsOwed)
	}
	if o := r.Told; o.Delivered < o.Notices*9/10 || int64(o.Received) < o.Delivered || o.Dead > 0 || o.Forged > 0 || o.Attempts <= o.Delivered {
		t.Errorf("the organiser was not told of the sale, though some had to be sent again: %+v", o)
	}
	for what, times := range r.Odd {
		t.Errorf("unexpected answer, %d times: %s", times, what)
	}
}
