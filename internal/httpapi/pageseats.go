package httpapi

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
)

// seatsPage lists what is free, by section and row. It is the whole picker:
// the map beside it only ticks its boxes.
type seatsPage struct {
	frame
	Key, Plan, Currency string
	Quota               int
	Until               time.Time
	AnyFree             bool
	General             []generalGroup
	Sections            []*sectionGroup
}

type generalGroup struct {
	Section, Tier string
	AmountMinor   int64
	Free          int64
}

type sectionGroup struct {
	Name string
	Free int
	From int64 // the lowest price that is free
	Open bool
	Rows []*rowGroup
}

type rowGroup struct {
	Name  string
	Seats []seatChoice
}

type seatChoice struct {
	GUID, Number string
	Pos          int
	AmountMinor  int64
	Accessible   bool
	Chosen       bool
}

// list fills in what is free by the last recount; chosen stays ticked.
func (s *seatsPage) list(h *Hall, chosen map[string]bool) {
	count := h.last.Load()
	if count == nil {
		return
	}
	s.general(h, count)
	var section *sectionGroup
	var row *rowGroup
	for _, seat := range h.plan.Seats {
		free := count.Bitmap[seat.Pos/4]>>(seat.Pos%4*2)&3 == 0
		if seat.Kind == "general" || !free && !chosen[seat.GUID] {
			continue
		}
		if section == nil || section.Name != seat.Section {
			section, row = &sectionGroup{Name: seat.Section}, nil
			s.Sections = append(s.Sections, section)
		}
		if row == nil || row.Name != seat.Row {
			row = &rowGroup{Name: seat.Row}
			section.Rows = append(section.Rows, row)
		}
		section.Free++
		section.Open = section.Open || chosen[seat.GUID]
		if section.From == 0 || seat.AmountMinor < section.From {
			section.From = seat.AmountMinor
		}
		row.Seats = append(row.Seats, seatChoice{
			seat.GUID, seat.Number, seat.Pos, seat.AmountMinor, seat.Kind == "accessible", chosen[seat.GUID],
		})
	}
	s.AnyFree = len(s.General) > 0 || len(s.Sections) > 0
}

func (s *seatsPage) general(h *Hall, count *inventory.Count) {
	prices := map[string]int64{}
	for _, seat := range h.plan.Seats {
		if seat.Kind == "general" {
			prices[seat.Tier] = seat.AmountMinor
		}
	}
	for _, c := range count.Sections {
		if price, ok := prices[c.Tier]; ok && c.Free > 0 {
			s.General = append(s.General, generalGroup{c.Section, c.Tier, price, c.Free})
		}
	}
}

// admitted is who has a good pass in a cookie.
func (p *pages) admitted(c *fiber.Ctx) (*admission.Line, *Hall, admission.Pass, error) {
	line, hall, err := p.api.sale(c.Params("event"))
	if err != nil {
		return nil, nil, admission.Pass{}, err
	}
	pass, err := p.api.Tokens.Passes.Check(cookie(c, passCookie), c.Params("event"), line.Sale().Epoch, time.Now())
	if err != nil {
		return nil, nil, admission.Pass{}, passRefused(err)
	}
	return line, hall, pass, nil
}

func (p *pages) seats(c *fiber.Ctx) error { return p.pick(c, "", nil) }

// pick shows the seats, with a message when the last choice was refused.
func (p *pages) pick(c *fiber.Ctx, message string, chosen []string) error {
	line, hall, pass, err := p.admitted(c)
	if err != nil {
		return p.to(c, "/place")
	}
	line.Alive(pass)
	title := line.Sale().Title
	s := seatsPage{
		frame: frame{Title: "Choose your seats: " + title, Name: title, Event: c.Params("event"), Message: message},
		Key:   uuid.NewString(), Plan: hall.plan.Hash, Currency: hall.plan.Currency, Quota: pass.Quota, Until: pass.ExpiresAt,
	}
	ticked := make(map[string]bool, len(chosen))
	for _, g := range chosen {
		ticked[g] = true
	}
	s.list(hall, ticked)
	return p.show(c, "seats.html", s, personal)
}

// claim takes the seats that the form names.
func (p *pages) claim(c *fiber.Ctx) error {
	if _, _, _, err := p.admitted(c); err != nil {
		return p.to(c, "/place")
	}
	wished, key := readWish(c)
	if err := wished.check(); err != nil {
		return p.pick(c, "Choose seats of one kind first: from the list, or a number of standing places.", wished.Seats)
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), claimDeadline)
	defer cancel()
	r, err := p.api.claim(ctx, claimRequest{event: c.Params("event"), token: cookie(c, passCookie), key: key, wait: claimWait, wish: wished})
	if err != nil {
		return p.refused(c, err, wished.Seats)
	}
	order, ok := r.body.(orderAnswer)
	if !ok { // the wait ended first: the same form settles it
		return p.pick(c, "This takes longer than it should. Press the button once more.", wished.Seats)
	}
	return p.to(c, "/orders/"+order.Order.ID.String())
}

func readWish(c *fiber.Ctx) (w wish, key string) {
	for name, value := range c.Request().PostArgs().All() {
		tier, general := strings.CutPrefix(string(name), "quantity:")
		n, _ := strconv.Atoi(string(value))
		switch {
		case string(name) == "key":
			key = string(value)
		case string(name) == "seat":
			w.Seats = append(w.Seats, string(value))
		case general && n > 0:
			w.Tier, w.Quantity = tier, n
		}
	}
	if len(key) == 0 || len(key) > 200 {
		key = uuid.NewString()
	}
	return w, key
}

// refused keeps the choice and says what stands in its way.
func (p *pages) refused(c *fiber.Ctx, err error, chosen []string) error {
	var why *Problem
	if !errors.As(err, &why) {
		return p.sorry(c, err)
	}
	if order, ok := why.Extra["order"].(uuid.UUID); ok {
		return p.to(c, "/orders/"+order.String())
	}
	message := why.Title + "."
	if taken, ok := why.Extra["taken"].([]string); ok && len(taken) > 0 {
		message = "Just gone: " + strings.Join(taken, ", ") + ". Your other seats are still ticked."
		gone := map[string]bool{}
		for _, g := range taken {
			gone[g] = true
		}
		kept := chosen[:0]
		for _, g := range chosen {
			if !gone[g] {
				kept = append(kept, g)
			}
		}
		chosen = kept
	}
	return p.pick(c, message, chosen)
}

func (p *pages) alive(c *fiber.Ctx) error {
	line, _, pass, err := p.admitted(c)
	if err != nil {
		return err
	}
	line.Alive(pass)
	return c.SendStatus(fiber.StatusNoContent)
}

func (p *pages) done(c *fiber.Ctx) error {
	if line, _, pass, err := p.admitted(c); err == nil {
		line.Gone(pass)
	}
	p.keep(c, passCookie, "", 0)
	return p.to(c, "")
}

type orderPage struct {
	frame
	Order             orderBody
	PayURL, Self, Key string
	Ticket            string
}

// order shows an order to who holds its ticket.
func (p *pages) order(c *fiber.Ctx) error {
	id, err := uuid.Parse(c.Params("order"))
	if err != nil {
		return p.sorry(c, problem("no_such_order", ""))
	}
	ticket, err := p.api.Tokens.Tickets.Read(cookie(c, ticketCookie))
	if err != nil {
		return p.to(c, "")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), readDeadline)
	defer cancel()
	o, err := p.api.orderOf(ctx, id, ticket.Holder())
	if err != nil {
		return p.sorry(c, err)
	}
	self := "/e/" + c.Params("event") + "/orders/" + id.String()
	return p.show(c, "order.html", orderPage{
		frame: frame{Title: "Your order", Event: c.Params("event")}, Order: o.Order, PayURL: o.Order.PayURL,
		Self: self, Key: "page-" + id.String(), Ticket: cookie(c, ticketCookie),
	}, personal)
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
