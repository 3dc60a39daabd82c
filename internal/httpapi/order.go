package httpapi

import (
	"context"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/inventory"
	"waitroom/internal/orders"
)

type seatBody struct {
	GUID        string  `json:"guid"`
	Section     string  `json:"section"`
	Row         string  `json:"row"`
	Number      string  `json:"number"`
	Tier        string  `json:"tier"`
	AmountMinor int64   `json:"amount_minor"`
	GivenBack   bool    `json:"given_back"`
	Code        *string `json:"code"` // null: not paid, or not the order's any more
}

type orderBody struct {
	ID          uuid.UUID  `json:"id"`
	Event       string     `json:"event"`
	Status      string     `json:"status"`
	Seats       []seatBody `json:"seats"`
	AmountMinor int64      `json:"amount_minor"`
	Currency    string     `json:"currency"`
	PayBy       time.Time  `json:"pay_by"`
	CreatedAt   time.Time  `json:"created_at"`
	Version     int64      `json:"version"`
	PayURL      string     `json:"pay_url"`
	Together    *bool      `json:"together,omitempty"`
}

type orderAnswer struct {
	Order orderBody `json:"order"`
}

func (a *API) body(o inventory.Order) orderAnswer {
	b := orderBody{
		ID: o.ID, Event: o.Event, Status: o.Status, AmountMinor: o.AmountMinor, Currency: o.Currency,
		PayBy: o.PayBy.UTC(), CreatedAt: o.CreatedAt.UTC(), Version: o.Version,
		PayURL: a.PayURL + "/v1/orders/" + o.ID.String() + "/payments",
	}
	for _, s := range o.Seats {
		b.Seats = append(b.Seats, seatBody{s.GUID, s.Section, s.Row, s.Number, s.Tier, s.AmountMinor, s.GivenBack, a.codeOf(o, s)})
	}
	if hall, ok := a.Halls.Get(o.Event); ok {
		b.Together = hall.together(o.Seats)
	}
	return orderAnswer{b}
}

type orderRequest struct {
	order  uuid.UUID
	holder string
}

// holderOf reads the ticket or pass that opens a holder's orders.
func (a *API) holderOf(c *fiber.Ctx) (string, error) {
	token := bearer(c)
	if token == "" {
		return "", problem("token_missing", "")
	}
	_, holder, err := a.Tokens.Holder(token, time.Now())
	if err != nil {
		return "", problem("ticket_invalid", err.Error())
	}
	return holder, nil
}

// readOrder decodes what every route under an order takes.
func (a *API) readOrder(c *fiber.Ctx) (r orderRequest, err error) {
	if r.holder, err = a.holderOf(c); err != nil {
		return r, err
	}
	if r.order, err = uuid.Parse(c.Params("order")); err != nil {
		return r, problem("no_such_order", "")
	}
	return r, nil
}

// readCancel also wants the attempt's name, as every request that changes
// something does; an order ends once, whatever the name.
func (a *API) readCancel(c *fiber.Ctx) (orderRequest, error) {
	if _, err := idempotencyKey(c); err != nil {
		return orderRequest{}, err
	}
	return a.readOrder(c)
}

// orderOf reads a holder's order. Another's is answered like none at all.
func (a *API) orderOf(ctx context.Context, id uuid.UUID, holder string) (orderAnswer, error) {
	o, found, err := inventory.FindOrder(ctx, a.Pool, id)
	if err != nil {
		return orderAnswer{}, a.unavailable("find order", err)
	}
	if !found || o.Holder != holder {
		return orderAnswer{}, problem("no_such_order", "")
	}
	return a.body(o), nil
}

func (a *API) order(ctx context.Context, r orderRequest) (reply, error) {
	body, err := a.orderOf(ctx, r.order, r.holder)
	return reply{body: body}, err
}

// cancel gives a pending order's seats back. Asked again, it is cancelled.
func (a *API) cancel(ctx context.Context, r orderRequest) (reply, error) {
	out, err := orders.Cancel(ctx, a.Pool, r.order, r.holder)
	if err != nil {
		return reply{}, a.unavailable("cancel order", err)
	}
	switch out {
	case orders.NotYours:
		return reply{}, problem("no_such_order", "")
	case orders.CancelledPaid:
		return reply{}, problem("order_paid", "")
	case orders.CancelledExpired:
		return reply{}, problem("order_ended", "")
	}
	return a.order(ctx, r)
}

type attemptRequest struct{ event, key, holder string }

func (a *API) readAttempt(c *fiber.Ctx) (r attemptRequest, err error) {
	if r.holder, err = a.holderOf(c); err != nil {
		return r, err
	}
	r.event = c.Params("event")
	if r.key, err = url.PathUnescape(c.Params("key")); err != nil {
		return r, problem("bad_request", "the key in the path is not percent-encoded")
	}
	return r, checkKey(r.key)
}

// attempt is what became of a claim whose answer was not waited for.
func (a *API) attempt(ctx context.Context, r attemptRequest) (reply, error) {
	o, found, err := inventory.FindAttempt(ctx, a.Pool, r.event, r.holder, r.key)
	if err != nil {
		return reply{}, a.unavailable("find attempt", err)
	}
	if !found {
		return reply{}, problem("attempt_unknown", "Nothing was claimed so far; the same request with the same key settles it.")
	}
	return reply{body: a.body(o)}, nil
}
