package httpapi

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/orders"
)

type orderPage struct {
	frame
	Order       orderBody
	Self, Again string
	Key, Ticket string
	Returned    bool // from the provider's page, and it may have been paid
	One         bool // one seat is left of it, or was all of it
	Back        int  // seats that were refunded, and are not the order's any more
	Codes       []codeView
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
	page := orderPage{
		Order: o.Order, Self: "/e/" + c.Params("event") + "/orders/" + id.String(),
		Ticket: cookie(c, ticketCookie),
	}
	page.Back, page.One = back(o.Order.Seats)
	page.frame = p.frame(c, page.heading())
	if page.Codes, err = codesOf(o.Order.Seats); err != nil {
		return p.sorry(c, err)
	}
	if o.Order.Status == "pending" {
		page.Message, page.Returned = returned(c)
		page.Again = page.Self
		if page.Returned {
			page.Again += "?redirect_status=succeeded"
		}
		if page.Key, err = p.payKey(ctx, id); err != nil {
			return p.sorry(c, err)
		}
	}
	return p.show(c, "order.html", page, personal)
}

func (o orderPage) heading() string {
	switch {
	case o.Order.Status == "pending" && o.One:
		return "Pay for your seat"
	case o.Order.Status == "pending":
		return "Pay for your seats"
	case o.Gone():
		return "This order was refunded"
	case o.Order.Status == "paid" && o.One:
		return "This seat is yours"
	case o.Order.Status == "paid":
		return "These seats are yours"
	case o.Order.Status == "expired":
		return "This order has run out"
	}
	return "This order was given back"
}

// back counts the seats that were refunded; one: there is one to speak of.
func back(seats []seatBody) (n int, one bool) {
	for _, s := range seats {
		if s.GivenBack {
			n++
		}
	}
	return n, len(seats)-n == 1 || len(seats) == 1
}

// Gone holds when every seat was refunded.
func (o orderPage) Gone() bool { return o.Back > 0 && o.Back == len(o.Order.Seats) }

// returned reads what a return address says. Anybody can write an address: it
// only changes what is said, never the order.
func returned(c *fiber.Ctx) (message string, waiting bool) {
	switch c.Query("redirect_status") {
	case "":
	case "succeeded":
		return "We are waiting for the payment provider’s word. It takes a few seconds.", true
	default:
		return "This payment did not go through. Your seats are still held for you: you can try again.", false
	}
	switch c.Query("pay") {
	case "":
		return "", false
	case "order_ended":
		return "The time to pay has just run out.", false
	case "too_many_payments":
		return "There are several payments open for this order. Finish one of them on the provider’s page, or wait a moment and try again: what failed makes room by itself.", false
	}
	return "The payment provider could not be reached. Your seats are still held for you: please try again.", false
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
