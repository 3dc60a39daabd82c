package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"
)

// Capacity is what stands behind the line.
type Capacity struct {
	Orders float64 // claims that the claimers take in a second, and payments that the provider opens
	Writes float64 // that the line's table takes in a second; 0: it is no table
}

// ColdTable is what a new DynamoDB table on demand takes in a second (Amazon's
// figure: 4,000 writes, until it has seen more).
const ColdTable = 4000

// Advice is what to change before the sale, and why.
type Advice struct {
	Code    string `json:"code"` // stable
	Do      string `json:"do"`
	Because string `json:"because"`
}

// Advise reads a report. What can be tried is: the figures it names are of a
// run with the change made. Its error is ctx's.
func Advise(ctx context.Context, r Report, have Capacity) (all []Advice, err error) {
	for _, look := range []func(context.Context, Report, Capacity) (Advice, bool){
		turnedAway, unsold, outpaced, coldTable, wide, narrow, slowRate, slowToPay, longLine,
	} {
		if a, ok := look(ctx, r, have); ok {
			all = append(all, a)
		}
	}
	return all, ctx.Err()
}

func advice(code, do, because string, args ...any) (Advice, bool) {
	return Advice{code, do, fmt.Sprintf(because, args...)}, true
}

func none() (Advice, bool) { return Advice{}, false }

func turnedAway(_ context.Context, r Report, _ Capacity) (Advice, bool) {
	if r.TurnedAway == 0 {
		return none()
	}
	return advice("line_cap", fmt.Sprintf("Set line_cap to %d or more.", r.Setting.Audience.Fans),
		"%d of %d people find the line full at %d.", r.TurnedAway, r.Setting.Audience.Fans, r.Setting.Sale.LineCap)
}

func unsold(_ context.Context, r Report, _ Capacity) (Advice, bool) {
	if r.Free == 0 {
		return none()
	}
	if r.Closed && r.StillInLine > 0 {
		return advice("closes_early", "Close the sale later, or let people in faster.",
			"%d of %d seats are free when the sale closes, %s after the opening, with %d people in the line who would come.", r.Free, r.Setting.Seats, clock(r.Seconds), r.StillInLine)
	}
	return advice("unsold", "Expect seats to be left, or more people.",
		"%d of %d seats are free when nobody is left who would buy them.", r.Free, r.Setting.Seats)
}

func outpaced(_ context.Context, r Report, have Capacity) (Advice, bool) {
	if float64(r.OrdersMax1s) <= have.Orders {
		return none()
	}
	s := r.Setting
	return advice("rate_above_orders", fmt.Sprintf("Set the rate to %.0f/s, or have more claimers and a higher quota at the provider.", math.Max(1, s.Sale.Rate*have.Orders/float64(r.OrdersMax1s))),
		"At %g/s up to %d orders come in one second; %.0f/s can be taken.", s.Sale.Rate, r.OrdersMax1s, have.Orders)
}

func coldTable(_ context.Context, r Report, have Capacity) (Advice, bool) {
	writes := joinWrites*float64(r.JoinsMax1s) + float64(r.LetInMax1s) + doorWrites
	if have.Writes == 0 || writes <= have.Writes {
		return none()
	}
	return advice("cold_table", fmt.Sprintf("Warm the table to %.0f writes/s before people come (WarmThroughput), or open a lobby early.", writes),
		"%d join in the busiest second, which makes %.0f writes; a cold table takes %.0f, and joins beyond are told to come again.", r.JoinsMax1s, writes, have.Writes)
}

// One place is one write, of an item below 1 kB, and its number comes from a
// block; the releaser and the takes write the door up to 25 times a second each.
const (
	joinWrites = 1
	doorWrites = 50
)

func wide(ctx context.Context, r Report, _ Capacity) (Advice, bool) {
	if r.Setting.Seats < 100 || r.lost() <= 5 {
		return none()
	}
	again := r.Setting
	again.Sale.SharePrior, again.Sale.TicketsPrior, again.Sale.Slack = r.share(), r.tickets(), 0
	then, err := Run(ctx, again)
	if err != nil {
		return none()
	}
	return advice("budget_wide", fmt.Sprintf("Set share_prior %.2f, tickets_prior %.1f, stock_slack 0.", again.Sale.SharePrior, again.Sale.TicketsPrior),
		"%.1f %% of those let in find nothing, because more of them buy than was expected; then it is %.1f %%, and all is claimed %s after the opening.",
		r.lost(), then.lost(), clock(then.ClaimedAll))
}

// What an organiser would set for the share who buy and the tickets of each.
func (r Report) share() float64   { return math.Round(100*r.Share) / 100 }
func (r Report) tickets() float64 { return max(1, math.Round(10*r.Tickets)/10) }

func narrow(ctx context.Context, r Report, _ Capacity) (Advice, bool) {
	if r.ClaimedAll < 30 || r.Used > 0.7 || r.StillInLine == 0 {
		return none()
	}
	again := r.Setting
	again.Sale.SharePrior, again.Sale.TicketsPrior = r.share(), r.tickets()
	then, err := Run(ctx, again)
	if err != nil {
		return none()
	}
	if then.ClaimedAll == 0 || then.Claimed99 > 0.9*r.Claimed99 || then.lost() > 5 {
		return none()
	}
	return advice("budget_narrow", fmt.Sprintf("Set share_prior %.2f and tickets_prior %.1f.", again.Sale.SharePrior, again.Sale.TicketsPrior),
		"Until the hall is nearly claimed only %.0f %% of the rate lets somebody in, because the stock is guarded against people who all buy what they may; then 99 %% is claimed after %s instead of %s, and %.1f %% find nothing.",
		100*r.Used, clock(then.Claimed99), clock(r.Claimed99), then.lost())
}

func slowRate(ctx context.Context, r Report, have Capacity) (Advice, bool) {
	if r.ClaimedAll < 1800 || r.Used < 0.9 || 2*float64(r.OrdersMax1s) > have.Orders {
		return none()
	}
	again := r.Setting
	again.Sale.Rate *= 2
	then, err := Run(ctx, again)
	if err != nil {
		return none()
	}
	return advice("rate_low", fmt.Sprintf("Set the rate to %g/s.", again.Sale.Rate),
		"The rate alone decides that all is claimed after %s; at twice the rate it is %s, and the longest wait %s instead of %s.",
		clock(r.ClaimedAll), clock(then.ClaimedAll), clock(then.WaitMost), clock(r.WaitMost))
}

func slowToPay(ctx context.Context, r Report, _ Capacity) (Advice, bool) {
	s := r.Setting
	enough := max(time.Minute, 4*s.Audience.Pay)
	if r.ClaimedAll == 0 || s.PayWithin <= enough || r.Seconds < 3*r.ClaimedAll {
		return none()
	}
	again := s
	again.PayWithin = enough
	then, err := Run(ctx, again)
	if err != nil {
		return none()
	}
	if then.Seconds > 0.8*r.Seconds { // it was one unlucky buyer after the other
		return none()
	}
	return advice("pay_within_long", fmt.Sprintf("Set pay_within to %s.", enough),
		"All is claimed after %s, but the seats of those who do not pay come back %s later, and the last is paid for after %s; then it is after %s.",
		clock(r.ClaimedAll), s.PayWithin, clock(r.Seconds), clock(then.Seconds))
}

func longLine(_ context.Context, r Report, _ Capacity) (Advice, bool) {
	s := r.Setting
	a := s.Audience
	come := float64(a.Fans-r.TurnedAway) * (1 - a.Absent) * (1 - a.Leave)
	times := come * r.Share * r.Tickets / float64(s.Seats)
	if times < 1.5 || r.ClaimedAll == 0 {
		return none()
	}
	return advice("line_long", "Say beforehand how many seats there are; the page tells those at the back that it is unlikely.",
		"Those who come want %.1f times the seats. All is claimed at %s, %s after the opening, and %d people in the line are never let in; as fast as people are let in, the last of them would wait %s.",
		times, s.Sale.OpensAt.Add(seconds(r.ClaimedAll)).Format("15:04:05"), clock(r.ClaimedAll), r.StillInLine, clock(come/(s.Sale.Rate*min(1, cmp.Or(r.Used, 1)))))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// clock is a time as people read it: 3:07, or 1:02:30.
func clock(s float64) string {
	d := seconds(s).Round(time.Second)
	h, m, sec := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, sec)
	}
	return fmt.Sprintf("%d:%02d", m, sec)
}
