package httpapi

import (
	"bytes"
	"context"
	"html/template"
	"slices"
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
	Key, Currency string
	Quota         int
	Until         time.Time // zero: for as long as it is on sale
	AnyFree       bool
	Code          string    // of a presale, as it was given
	Hall          *drawing  // nil: nothing to draw
	Best          *bestPage // nil: no seats to choose among
	General       []generalGroup
	Near          []nearSeat // in place of those that have just gone
	List          template.HTML
}

// generalGroup is one tier's units: a claim names the tier, and so no section can be
// chosen.
type generalGroup struct {
	Sections, Tier string
	AmountMinor    int64
	Free           int64
	Kept           bool // all of it for a presale's code
	Wanted         int  // as it was filled in
}

// picker is the list as everybody without a choice gets it: written once for
// each recount, for writing it costs more than all else of the page.
type picker struct {
	count *inventory.Count
	list  template.HTML
	any   bool
}

func (p *pages) picker(l *tongue, h *Hall) (*picker, error) {
	count := h.last.Load()
	if kept, ok := h.pickers.Load(l.Tag); ok && kept.(*picker).count == count {
		return kept.(*picker), nil
	}
	made, err := p.list(l, h, count, nil, "")
	if err == nil {
		h.pickers.Store(l.Tag, made)
	}
	return made, err
}

// list writes what is free by a recount. What is chosen is ticked; it is there
// whether or not it is still free, for the claim to judge.
func (p *pages) list(l *tongue, h *Hall, count *inventory.Count, chosen map[string]bool, open string) (*picker, error) {
	var b bytes.Buffer
	sections := h.sections(count, chosen)
	h.shorten(sections, open)
	err := l.html.ExecuteTemplate(&b, "list", struct {
		Sections     []*sectionGroup
		Currency, At string
	}{sections, h.plan.Currency, "/e/" + h.event + l.Path})
	return &picker{count, template.HTML(b.String()), len(sections) > 0}, err //nolint:gosec // a template wrote it
}

// general is the standing places that are free, by a code or without one, by tier; of
// what was filled in all that was.
func (h *Hall) general(l *tongue, count *inventory.Count, wanted map[string]int) (out []generalGroup) {
	if count == nil || len(h.tiers) == 0 {
		return nil
	}
	type lot struct{ section, tier string }
	prices := map[lot]int64{}
	for _, seat := range h.plan.Seats {
		if seat.Kind == "general" {
			prices[lot{seat.Section, seat.Tier}] = seat.AmountMinor
		}
	}
	for _, c := range count.Sections {
		price, ok := prices[lot{c.Section, c.Tier}]
		if !ok || c.Free+c.Kept == 0 {
			continue
		}
		if i := slices.IndexFunc(out, func(g generalGroup) bool { return g.Tier == c.Tier }); i >= 0 {
			out[i].Sections += l.Say("seats.or") + c.Section
			out[i].Free, out[i].Kept = out[i].Free+c.Free+c.Kept, out[i].Kept && c.Free == 0
			continue
		}
		out = append(out, generalGroup{c.Section, c.Tier, price, c.Free + c.Kept, c.Free == 0, wanted[c.Tier]})
	}
	return out
}

// admitted is who has a good pass in a cookie; where the event has no line, a ticket,
// which is good for as long as the sale is.
func (p *pages) admitted(c *fiber.Ctx) (*admission.Line, *Hall, admission.Pass, error) {
	line, hall, err := p.api.sale(c.Params("event"))
	if err != nil {
		return nil, nil, admission.Pass{}, err
	}
	if sale := line.Sale(); sale.Open {
		ticket, err := p.api.Tokens.Tickets.Check(cookie(c, ticketCookie), sale.Event, sale.Epoch)
		if err != nil {
			return nil, nil, admission.Pass{}, ticketRefused(err)
		}
		return line, hall, admission.Pass{Event: sale.Event, Epoch: sale.Epoch, Holder: ticket.Holder(), Quota: int(sale.OrderLimit)}, nil
	}
	pass, err := line.Admitted(cookie(c, passCookie))
	if err != nil {
		return nil, nil, admission.Pass{}, passRefused(err)
	}
	return line, hall, pass, nil
}

func (p *pages) seats(c *fiber.Ctx) error { return p.pick(c, choice{key: uuid.NewString()}, "") }

// pick shows the seats, with a message when the last choice was refused.
func (p *pages) pick(c *fiber.Ctx, was choice, message string) error {
	line, hall, pass, err := p.admitted(c)
	if err != nil {
		return p.to(c, "/place")
	}
	alive(line, pass)
	shown, err := p.picker(p.tongue(c), hall)
	if open := c.Query("section"); err == nil && (len(was.wish.Seats) > 0 || open != "") {
		shown, err = p.list(p.tongue(c), hall, hall.last.Load(), was.ticked(), open)
	}
	if err != nil {
		return p.sorry(c, err)
	}
	s := seatsPage{
		frame: p.frame(c, p.tongue(c).Say("seats.heading"), "/seats"), Key: was.key, Currency: hall.plan.Currency, Code: was.wish.Code,
		Quota: pass.Quota, Until: pass.ExpiresAt,
		Hall:    hall.drawing.says(p.tongue(c).Say("hall.picker"), hall.last.Load()),
		General: hall.general(p.tongue(c), hall.last.Load(), was.general), List: shown.list,
		Best: hall.bestOf(c.Params("event"), was.key, pass.Quota),
	}
	s.Near = hall.near(p.tongue(c), was.gone, was.ticked())
	s.AnyFree, s.Message = shown.any || len(s.General) > 0, message
	if err := p.show(c, "seats.html", s, personal); err != nil {
		return err
	}
	squeeze(c)
	return nil
}

// alive is a sign of life of somebody inside; where there is no line nobody is.
func alive(line *admission.Line, pass admission.Pass) {
	if !line.Sale().Open {
		line.Alive(pass)
	}
}

func (p *pages) alive(c *fiber.Ctx) error {
	line, _, pass, err := p.admitted(c)
	if err != nil {
		return err
	}
	alive(line, pass)
	return c.SendStatus(fiber.StatusNoContent)
}

// done says that somebody inside wants nothing (more). Their pass stays good:
// they may change their mind.
func (p *pages) done(c *fiber.Ctx) error {
	line, _, pass, err := p.admitted(c)
	if err != nil || line.Sale().Open {
		return p.to(c, "/place")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), readDeadline)
	defer cancel()
	if err := line.Gone(ctx, pass); err != nil {
		return p.sorry(c, p.api.lineRefused("give back", err))
	}
	return p.standing(c, p.tongue(c).Say("place.thanks"), "")
}
