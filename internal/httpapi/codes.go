package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"waitroom/internal/document"
	"waitroom/internal/inventory"
	"waitroom/internal/ticket"
)

// codeOf is the code of a seat that a paid order has; null: there is none to show.
func (a *API) codeOf(o inventory.Order, s inventory.OrderSeat) *string {
	if a.Tokens.Codes == nil || o.Status != "paid" || s.TakenAt == nil {
		return nil
	}
	code, err := a.Tokens.Codes.Sign(ticket.Ticket{Event: o.Event, Seat: s.Pos, Generation: ticket.Generation(o.ID, *s.TakenAt)})
	if err != nil {
		a.Log.Error("a seat has no code", "event", o.Event, "order", o.ID, "seat", s.GUID, "error", err)
		return nil
	}
	return &code
}

// codeKeys is what codes are signed with, for scanners that check them alone. A new
// key stands here before its use; an installation without keys has an empty set.
func (a *API) codeKeys(c *fiber.Ctx) error {
	body := []byte(`{"keys":[]}`)
	if a.Tokens.Codes != nil {
		body = a.Tokens.Codes.JWKS()
	}
	return tell(c.Context(), document.Plain(body), keysCache)
}

// codeView is a seat's code on its order's page.
type codeView struct {
	Seat    seatBody
	Code    string
	Parts   []string // the same, as people read it out
	Picture ticket.Picture
}

// codesOf draws the codes of an order's seats.
func codesOf(seats []seatBody) (views []codeView, err error) {
	for _, s := range seats {
		if s.Code == nil {
			continue
		}
		v := codeView{Seat: s, Code: *s.Code}
		for rest := v.Code; rest != ""; {
			n := min(len(rest), 4)
			v.Parts, rest = append(v.Parts, rest[:n]), rest[n:]
		}
		if v.Picture, err = ticket.Draw(v.Code); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}
