package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/inventory"
)

// choice is what the picker's form says. Its key names the page that it stood
// on, so that the same choice sent twice is one attempt, and another choice
// from the same page (the back button) is another.
type choice struct {
	key     string
	wish    wish
	general map[string]int // by tier, as they were filled in; a claim is of one
	gone    []string       // of the seats that it named, when it was refused for them
}

func (ch choice) attempt() string {
	sum := ch.wish.hash()
	return ch.key + "/" + hex.EncodeToString(sum[:8])
}

func (ch choice) ticked() map[string]bool {
	out := make(map[string]bool, len(ch.wish.Seats))
	for _, g := range ch.wish.Seats {
		out[g] = true
	}
	return out
}

func readChoice(c *fiber.Ctx) (ch choice) {
	var best inventory.Best
	ch.general = map[string]int{}
	for name, value := range c.Request().PostArgs().All() {
		tier, general := strings.CutPrefix(string(name), "quantity:")
		n, _ := strconv.Atoi(string(value))
		switch {
		case string(name) == "key":
			ch.key = string(value)
		case string(name) == "code":
			ch.wish.Code = strings.TrimSpace(string(value))
		case string(name) == "seat" && slices.Contains(ch.wish.Seats, string(value)):
			// It stands twice on a page: in the list, and beside what it replaces.
		case string(name) == "seat":
			ch.wish.Seats = append(ch.wish.Seats, string(value))
		case general && n > 0:
			ch.general[tier] += n // an older page has a field for each section
			ch.wish.Tier, ch.wish.Quantity = tier, ch.general[tier]
		case string(name) == "best":
			best.Count, ch.wish.Best = n, &best
		case string(name) == "best-tier":
			best.Tier = string(value)
		case string(name) == "best-wheelchairs":
			best.Accessible = n
		case string(name) == "best-apart":
			best.Split = true
		}
	}
	if _, err := uuid.Parse(ch.key); err != nil {
		ch.key = uuid.NewString()
	}
	return ch
}

// claim takes the seats that the form names.
func (p *pages) claim(c *fiber.Ctx) error {
	line, _, _, err := p.admitted(c)
	if err != nil {
		return p.to(c, "/place")
	}
	token := passCookie
	if line.Sale().Open {
		token = ticketCookie
	}
	ch := readChoice(c)
	switch {
	case ch.wish.Best != nil: // the button beside it was pressed
	case len(ch.wish.Seats) == 0 && ch.wish.Tier == "":
		return p.pick(c, ch, p.tongue(c).Say("seats.choose_first"))
	case len(ch.wish.Seats) > 0 && ch.wish.Tier != "":
		return p.pick(c, ch, p.tongue(c).Say("seats.one_of_two"))
	case len(ch.general) > 1:
		return p.pick(c, ch, p.tongue(c).Say("seats.one_tier"))
	}
	if err := ch.wish.check(); err != nil {
		return p.refused(c, ch, err)
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), claimDeadline)
	defer cancel()
	r, err := p.api.claim(ctx, claimRequest{event: c.Params("event"), token: cookie(c, token), key: ch.attempt(), wait: claimWait, wish: ch.wish})
	if err != nil {
		return p.refused(c, ch, err)
	}
	order, ok := r.body.(orderAnswer)
	if !ok { // the wait ended first: the same form settles it
		return p.pick(c, ch, p.tongue(c).Say("seats.longer"))
	}
	return p.toOrder(c, order.Order.ID)
}

func (p *pages) toOrder(c *fiber.Ctx, id uuid.UUID) error {
	p.keepOrder(c, id)
	return p.to(c, "/orders/"+id.String())
}

// refused keeps the choice and says what stands in its way.
func (p *pages) refused(c *fiber.Ctx, ch choice, err error) error {
	var why *Problem
	if !errors.As(err, &why) {
		return p.sorry(c, err)
	}
	if order, ok := why.Extra["order"].(uuid.UUID); ok {
		return p.toOrder(c, order)
	}
	c.Status(why.Status)
	l := p.tongue(c)
	message := strings.TrimSpace(l.refusal(why) + ". " + l.help(why))
	if limit, ok := why.Extra["limit"].(inventory.Limit); ok {
		message = l.limitText(limit, p.quota(c))
	}
	if taken, ok := why.Extra["taken"].([]string); ok && len(taken) > 0 && why.Code == "seats_taken" {
		ch.wish.Seats = slices.DeleteFunc(ch.wish.Seats, func(g string) bool { return slices.Contains(taken, g) })
		ch.gone = taken
		message = p.gone(c, taken, len(ch.wish.Seats))
	}
	if left, ok := why.Extra["left"]; ok && why.Code == "sold_out" {
		message = l.Say("seats.left", "n", asText(left))
		if ch.wish.Best != nil {
			message = l.Say("seats.left_best", "n", asText(left))
		}
	}
	return p.pick(c, ch, message)
}

// quota is how many seats the browser's pass is good for.
func (p *pages) quota(c *fiber.Ctx) int {
	_, _, pass, err := p.admitted(c)
	if err != nil {
		return 0
	}
	return pass.Quota
}

func asText(n any) string {
	switch n := n.(type) {
	case int:
		return strconv.Itoa(n)
	case int64:
		return strconv.FormatInt(n, 10)
	}
	return "0"
}

// gone says which seats somebody else was faster for, as people call them.
func (p *pages) gone(c *fiber.Ctx, taken []string, kept int) string {
	l, names := p.tongue(c), slices.Clone(taken)
	if hall, ok := p.api.Halls.Get(c.Params("event")); ok {
		for i, g := range taken {
			if at, ok := hall.index[g]; ok {
				names[i] = l.Seat(hall.plan.Seats[at].Section, hall.plan.Seats[at].Row, hall.plan.Seats[at].Number)
			}
		}
	}
	message := l.Say("seats.gone", "names", strings.Join(names, "; "))
	if kept > 0 {
		message += " " + l.Say("seats.kept")
	}
	return message
}
