package httpapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/admission"
)

// The cookies of one event, which no script reads and no other site's form
// sends. The first three hold what API clients send as bearers.
const (
	secretCookie  = "secret"
	ticketCookie  = "ticket"
	passCookie    = "pass"
	ordersCookie  = "orders"  // ids, the newest first: so that the place leads to them
	cameCookie    = "came"    // where the front was at the join: where progress begins
	leftCookie    = "left"    // epoch and index of the place that was given up
	tongueCookie  = "tongue"  // which language an order is read in, for the way back from the provider
	standbyCookie = "standby" // "1": stays, though those ahead want more than there is
)

// cookieLife is as long as somebody may want to see what they bought.
const cookieLife = 90 * 24 * time.Hour

func cookie(c *fiber.Ctx, name string) string { return c.Cookies(name + "." + c.Params("event")) }

// keep sets a cookie of this event; an empty value takes it back.
func (p *pages) keep(c *fiber.Ctx, name, value string, life time.Duration) {
	k := fiber.Cookie{
		Name: name + "." + c.Params("event"), Value: value, Path: "/e/" + c.Params("event"),
		HTTPOnly: true, SameSite: "Lax", Secure: p.api.Secure,
		MaxAge: int(life.Seconds()),
	}
	if value == "" {
		k.MaxAge, k.Expires = 0, time.Unix(1, 0)
	}
	c.Cookie(&k)
}

// mostOrders are remembered; the ticket opens older ones all the same.
const mostOrders = 4

func keptOrders(c *fiber.Ctx) (ids []uuid.UUID) {
	for text := range strings.SplitSeq(cookie(c, ordersCookie), ".") {
		if id, err := uuid.Parse(text); err == nil && len(ids) < mostOrders {
			ids = append(ids, id)
		}
	}
	return ids
}

func (p *pages) keepOrder(c *fiber.Ctx, id uuid.UUID) {
	text := id.String()
	for _, other := range keptOrders(c) {
		if other != id {
			text += "." + other.String()
		}
	}
	p.keep(c, ordersCookie, text, cookieLife)
}

// keepCame notes where the front was when the place was got, once for a place.
func (p *pages) keepCame(c *fiber.Ctx, drawn *int64, front int64) {
	if drawn == nil {
		return // it starts with the draw, from its whole length
	}
	number := *drawn
	if kept, _, ok := came(c); !ok || kept != number {
		p.keep(c, cameCookie, fmt.Sprintf("%d.%d", number, front), cookieLife)
	}
}

func came(c *fiber.Ctx) (number, front int64, ok bool) {
	n, _ := fmt.Sscanf(cookie(c, cameCookie), "%d.%d", &number, &front)
	return number, front, n == 2
}

// nameOf is a place's in its event: indexes begin anew with each epoch.
func nameOf(t admission.Ticket) string { return fmt.Sprintf("%d.%d", t.Epoch, t.Index) }

// gaveUp: a place that is not called yet is read from memory alone, which does
// not know who left; this browser does.
func gaveUp(c *fiber.Ctx, t admission.Ticket) bool { return cookie(c, leftCookie) == nameOf(t) }

// progress is how far the line has come towards a place since it was got.
func progress(c *fiber.Ctx, at admission.Position) (start, gone int64) {
	number, front, ok := came(c)
	if !ok || number != at.Number {
		front = 0
	}
	start = max(at.Number-front, 1)
	return start, max(start-at.Ahead, 0)
}
