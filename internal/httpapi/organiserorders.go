package httpapi

import (
	"context"
	"math"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/orders"
	"waitroom/internal/organiser"
)

// extension is an organiser's wish that buyers get more time, in an outage of
// the payment provider.
type extension struct {
	asked
	attempt string
	body    struct {
		BySeconds *float64 `json:"by_s"`
		Reason    string   `json:"reason"`
	}
}

func (a *API) readExtension(c *fiber.Ctx) (r extension, err error) {
	if r.asked, err = a.asks(organiser.LineWrite)(c); err != nil {
		return r, err
	}
	if r.attempt, err = idempotencyKey(c); err != nil {
		return r, err
	}
	if err := jsonBody(c, &r.body); err != nil {
		return r, err
	}
	if r.body.BySeconds == nil {
		return r, problem("bad_request", "by_s is missing: how many seconds more")
	}
	return r, nil
}

type extendedBody struct {
	Event     string    `json:"event"`
	Extension int64     `json:"extension"`
	At        time.Time `json:"at"`
	BySeconds float64   `json:"by_s"`
	Orders    int       `json:"orders"`
}

// extend gives pending orders more time. What it did before its deadline stays
// done: the same again goes on.
func (a *API) extend(ctx context.Context, r extension) (reply, error) {
	by := time.Duration(0)
	if s := *r.body.BySeconds; s >= orders.ShortestExtension.Seconds() && s <= orders.LongestExtension.Seconds() {
		by = time.Duration(math.Round(s)) * time.Second
	}
	x, err := orders.Extend(ctx, a.Desk.Pool, orders.Extension{
		Event: r.event, Organiser: r.key.Organiser, Attempt: r.attempt, By: r.key.Name, ExtendBy: by, Reason: r.body.Reason,
	})
	if err != nil {
		return reply{}, a.unavailable("extend orders", err)
	}
	switch x.Extending {
	case orders.OrdersExtended:
		a.Log.Warn("orders extended", "event", r.event, "by", r.key.Organiser+"/"+r.key.Name, "orders", x.Orders, "seconds", by.Seconds())
		return reply{body: extendedBody{r.event, x.ID, x.At.UTC(), by.Seconds(), x.Orders}}, nil
	case orders.ExtendNoEvent:
		return reply{}, problem("no_such_event", "")
	case orders.ExtendKeyReused:
		return reply{}, problem("key_reused", "")
	}
	return reply{}, senseless("by_s", "1 to 3600 seconds, and a reason of at most 500 characters")
}
