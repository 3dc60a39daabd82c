package httpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// mostHandled is how many seats one wish may name.
const mostHandled = 1000

// handling is an organiser's wish about seats: take them off sale, put them back,
// put some that the house holds back on sale, exchange one of an order.
type handling struct {
	wished
	order uuid.UUID
	body  struct {
		Seats []string `json:"seats"`
		Count int      `json:"count"`
		From  string   `json:"from"`
		To    string   `json:"to"`
	}
}

func (a *API) readHandling(want string) func(*fiber.Ctx) (handling, error) {
	return func(c *fiber.Ctx) (r handling, err error) {
		if r.wished, err = a.readWish(c); err != nil {
			return r, err
		}
		if err := jsonBody(c, &r.body); err != nil {
			return r, err
		}
		return r, r.check(want, c)
	}
}

func (r *handling) check(want string, c *fiber.Ctx) (err error) {
	switch want {
	case "seats":
		if len(r.body.Seats) < 1 || len(r.body.Seats) > mostHandled {
			return problem("bad_request", fmt.Sprintf("seats: 1 to %d of their guids", mostHandled))
		}
	case "count":
		if r.body.Count < 1 || r.body.Count > mostHandled {
			return problem("bad_request", fmt.Sprintf("count: a whole number from 1 to %d", mostHandled))
		}
	case "move":
		if r.order, err = uuid.Parse(c.Params("order")); err != nil {
			return problem("no_such_order", "")
		}
		if r.body.From == "" || r.body.To == "" {
			return problem("bad_request", "from and to: guids of two seats")
		}
	}
	return nil
}

func (a *API) handled(what string, err error) error {
	if errors.Is(err, inventory.ErrReused) {
		return problem("key_reused", "")
	}
	return a.unavailable(what, err)
}

func (a *API) withdraw(ctx context.Context, r handling) (reply, error) {
	w, err := inventory.Withdraw(ctx, a.Desk.Pool, r.who, r.event, r.body.Seats)
	if err != nil {
		return reply{}, a.handled("withdraw seats", err)
	}
	a.Log.Warn("seats withdrawn", "event", r.event, "by", r.key.Organiser+"/"+r.key.Name, "off", len(w.Off), "in_cart", len(w.InCart), "sold", len(w.Sold))
	return reply{body: w}, nil
}

func (a *API) withdrawn(ctx context.Context, r asked) (reply, error) {
	w, err := inventory.Withdrawn(ctx, a.Desk.Pool, r.event)
	if err != nil {
		return reply{}, a.unavailable("withdrawn seats", err)
	}
	return reply{body: w}, nil
}

func (a *API) restore(ctx context.Context, r handling) (reply, error) {
	back, err := inventory.Restore(ctx, a.Desk.Pool, r.who, r.event, r.body.Seats)
	if err != nil {
		return reply{}, a.handled("restore seats", err)
	}
	return reply{body: map[string]any{"restored": append([]string{}, back...)}}, nil
}

func (a *API) freeBlock(ctx context.Context, r handling) (reply, error) {
	n, err := inventory.FreeBlock(ctx, a.Desk.Pool, r.who, r.event, r.body.Count)
	if err != nil {
		return reply{}, a.handled("free held seats", err)
	}
	return reply{body: map[string]any{"freed": n}}, nil
}

func (a *API) move(ctx context.Context, r handling) (reply, error) {
	m, err := inventory.MoveSeat(ctx, a.Desk.Pool, r.who, r.event, r.order, r.body.From, r.body.To)
	if err != nil {
		return reply{}, a.handled("move a seat", err)
	}
	switch m.Moving {
	case inventory.SeatMoved:
		a.Log.Info("seat moved", "event", r.event, "order", r.order, "by", r.key.Organiser+"/"+r.key.Name, "from", r.body.From, "to", r.body.To)
		return reply{body: map[string]any{"order": r.order, "version": m.Version, "from": r.body.From, "to": r.body.To}}, nil
	case inventory.MoveNoOrder:
		return reply{}, problem("no_such_order", "")
	case inventory.MoveNotPaid:
		return reply{}, problem("order_not_paid", "")
	case inventory.MoveNoLine:
		return reply{}, problem("no_such_line", "")
	case inventory.MoveNoSeat:
		return reply{}, problem("unknown_seat", r.body.To)
	case inventory.MoveTaken:
		return reply{}, problem("seats_taken", "").with("taken", []string{r.body.To})
	case inventory.MoveBack:
		return reply{}, problem("seats_taken", "That seat was this order's, and was refunded: it is sold to another order.").with("taken", []string{r.body.To})
	case inventory.MoveCheaper:
		return reply{}, problem("seat_cheaper", "")
	}
	return reply{}, problem("line_refunding", "")
}

func (a *API) seatRoutes(event fiber.Router) {
	event.Get("/seats/withdrawn", serveRead(deskDeadline, a.asks(organiser.LineRead), a.withdrawn))
	event.Post("/seats/withdraw", serveRead(deskDeadline, a.readHandling("seats"), a.withdraw))
	event.Post("/seats/restore", serveRead(deskDeadline, a.readHandling("seats"), a.restore))
	event.Post("/seats/free", serveRead(deskDeadline, a.readHandling("count"), a.freeBlock))
	event.Post("/orders/:order/move", serveRead(deskDeadline, a.readHandling("move"), a.move))
}
