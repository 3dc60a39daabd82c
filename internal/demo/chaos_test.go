package demo_test

import (
	"testing"
	"time"

	"waitroom/internal/audience"
	"waitroom/internal/audit"
	"waitroom/internal/crowd"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/pgtest"
)

// Fans pay twice, late and other amounts; the provider loses answers, lies and is
// slow; its notices come twice, out of order and wrongly signed: every captured
// cent is found in one place by the provider's own ledger, and no call was made
// but the outlet's.
func TestMoneyThatGoesWrongIsAccountedFor(t *testing.T) {
	event := demotest.Event()
	perSecond := float64(rate)
	event.Rate = &perSecond
	event.PayWithin, event.PayExtension = 6*time.Second, time.Second
	out := &lastLines{}
	c := demo.Config{
		Build: demo.Build{
			Services: demo.Services{DatabaseURL: pgtest.URL(t)},
			Line:     "local", Addr: "127.0.0.1:0", Event: event, Hall: demotest.Hall(t, 30, 100), OpensIn: 6 * time.Second,
		},
		Crowd: crowd.Config{
			Conns: 200,
			Audience: audience.Audience{
				Fans: 160, Arrive: audience.Rush(-4*time.Second, 6*time.Second), Share: 1, Seats: 2, MaxSeat: event.OrderLimit,
				Think: 300 * time.Millisecond, Browse: 300 * time.Millisecond, Pay: 500 * time.Millisecond, NeverPay: 0.05, Seed: 11,
			},
		},
		Limit: 2 * time.Minute, Out: out,
	}
	c.Disorder.MaxDelay = time.Second
	c = c.WithMoneyChaos()
	began := time.Now()
	r, err := demo.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(r.Audit.Money) != 1 {
		t.Fatalf("the money was not counted: %v\n%s", r.Audit.Money, out)
	}
	m := *r.Audit.Money[0]
	t.Logf("%.0f s in all; %d orders paid, %d expired; refunds by status %v; %s; P5 by %d facts, P11 by %d",
		time.Since(began).Seconds(), r.PaidOrders, r.ExpiredOrders, r.RefundsBy, m, r.Audit.Checked["P5"], r.Audit.Checked["P11"])
	if r.Audit.Exit != audit.Clean || r.Audit.Checked["P5"] == 0 || r.Audit.Checked["P11"] == 0 {
		t.Errorf("the audit ends with %d, want 0\n%s", r.Audit.Exit, out)
	}
	if m.Captured == 0 || m.Nowhere != 0 || m.Captured != m.OnOrders+m.Refunded+m.OnItsWay+m.WithPeople {
		t.Errorf("the cents do not add up: %s", m)
	}
	if m.Refunded == 0 || m.WithPeople == 0 {
		t.Errorf("this sale was to have money that goes back, and money that people decide about: %s", m)
	}
	for what, times := range r.Odd {
		t.Errorf("unexpected answer, %d times: %s", times, what)
	}
}
