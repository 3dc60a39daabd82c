package httpapi

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/orders"
	"waitroom/internal/refunds"
)

type orderPage struct {
	frame
	Order       orderBody
	Self, Again string
	Key, Ticket string
	Returned    bool // from the provider's page, and it may have been paid
	Kept        int  // seats that are left of it, or were all of it
	Back        int  // seats that were refunded, and are not the order's any more
	Codes       []codeView
	Extends     int // minutes that going on to pay adds, once; 0: none, or it was done
	Refunds     []refundSaid
}

// order shows an order to who holds its ticket.
func (p *pages) order(c *fiber.Ctx) error {
	id, err := uuid.Parse(c.Params("order"))
	if err != nil {
		return p.sorry(c, problem("no_such_order", ""))
	}
	ticket, err := p.api.Tokens.Tickets.Read(cookie(c, ticketCookie))
	if err != nil {
		return p.to(c, "/place")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), readDeadline)
	defer cancel()
	o, err := p.api.orderOf(ctx, id, ticket.Holder())
	if err != nil {
		return p.sorry(c, err)
	}
	if to := p.wayBack(c); to != "" {
		return c.Redirect(to, fiber.StatusSeeOther)
	}
	p.keepTongue(c)
	page := orderPage{
		Order: o.Order, Self: "/e/" + c.Params("event") + p.tongue(c).Path + "/orders/" + id.String(),
		Ticket: cookie(c, ticketCookie),
	}
	page.Back, page.Kept = back(o.Order.Seats)
	page.frame = p.frame(c, page.heading(p.tongue(c)), "/orders/"+id.String())
	if page.Codes, err = codesOf(o.Order.Seats); err != nil {
		return p.sorry(c, err)
	}
	if o.Order.Status == "pending" {
		page.Message, page.Returned = p.returned(c)
		page.Again = page.Self
		if page.Returned {
			page.Again += "?redirect_status=succeeded"
		}
		if page.Key, err = p.payKey(ctx, id); err != nil {
			return p.sorry(c, err)
		}
		if page.Extends, err = p.extends(ctx, id); err != nil {
			return p.sorry(c, err)
		}
	} else if page.Refunds, err = p.refundsOf(ctx, p.tongue(c), id); err != nil {
		return p.sorry(c, err)
	}
	return p.show(c, "order.html", page, personal)
}

func (o orderPage) heading(l *tongue) string {
	switch {
	case o.Order.Status == "pending":
		return l.Say("order.pay_head", "n", o.Kept)
	case o.Gone():
		return l.Say("order.refunded_head")
	case o.Order.Status == "paid":
		return l.Say("order.paid_head", "n", o.Kept)
	case o.Order.Status == "expired":
		return l.Say("order.expired_head")
	}
	return l.Say("order.cancelled_head")
}

// back counts the seats that were refunded; kept are those to speak of.
func back(seats []seatBody) (n, kept int) {
	for _, s := range seats {
		if s.GivenBack {
			n++
		}
	}
	if kept = len(seats) - n; kept == 0 {
		kept = n
	}
	return n, kept
}

// Gone holds when every seat was refunded.
func (o orderPage) Gone() bool { return o.Back > 0 && o.Back == len(o.Order.Seats) }

// returned reads what a return address says. Anybody can write an address: it
// only changes what is said, never the order.
func (p *pages) returned(c *fiber.Ctx) (message string, waiting bool) {
	switch c.Query("redirect_status") {
	case "":
	case "succeeded":
		return p.tongue(c).Say("order.awaiting"), true
	default:
		return p.tongue(c).Say("order.not_through"), false
	}
	switch c.Query("pay") {
	case "":
		return "", false
	case "order_ended":
		return p.tongue(c).Say("order.ran_out"), false
	case "too_many_payments":
		return p.tongue(c).Say("order.too_many"), false
	}
	return p.tongue(c).Say("order.unreachable"), false
}

// payKey names the order's next payment: the button pressed twice, or a page
// opened twice, is one payment, until that failed or was cancelled.
func (p *pages) payKey(ctx context.Context, order uuid.UUID) (string, error) {
	ended, err := orders.EndedPayments(ctx, p.api.Pool, order)
	if err != nil {
		return "", p.api.unavailable("payments of an order", err)
	}
	return "page-" + order.String() + "-" + asText(ended), nil
}

func (p *pages) cancel(c *fiber.Ctx) error {
	ticket, err := p.api.Tokens.Tickets.Read(cookie(c, ticketCookie))
	id, bad := uuid.Parse(c.Params("order"))
	if err != nil || bad != nil {
		return p.sorry(c, problem("no_such_order", ""))
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), joinDeadline)
	defer cancel()
	if _, err := p.api.cancel(ctx, orderRequest{id, ticket.Holder()}); err != nil {
		return p.sorry(c, err)
	}
	return p.to(c, "/orders/"+id.String())
}

// extends is the whole minutes that somebody has who goes on to pay now.
func (p *pages) extends(ctx context.Context, order uuid.UUID) (int, error) {
	more, err := orders.PayTime(ctx, p.api.Pool, order)
	if err != nil {
		return 0, p.api.unavailable("extension of an order", err)
	}
	return int(more.Minutes()), nil
}

// refundSaid is how one refund of the order stands, in honest words.
type refundSaid struct{ Says, Tone string }

func (p *pages) refundsOf(ctx context.Context, l *tongue, order uuid.UUID) (said []refundSaid, err error) {
	all, err := refunds.StandingOf(ctx, p.api.Pool, order)
	if err != nil {
		return nil, p.api.unavailable("refunds of an order", err)
	}
	for _, f := range all {
		key, tone := refundWords(f.Status)
		said = append(said, refundSaid{l.Say(key, "price", p.api.Money(f.AmountMinor, f.Currency)), tone})
	}
	return said, nil
}

// refundWords never say that money did not go back where that is not known.
func refundWords(s refunds.Status) (key, tone string) {
	switch s {
	case refunds.Queued, refunds.Submitted, refunds.Pending:
		return "order.refund_way", "soon"
	case refunds.Unknown:
		return "order.refund_unknown", "soon"
	case refunds.Confirmed:
		return "order.refund_done", "done"
	}
	return "order.refund_person", "soon"
}
