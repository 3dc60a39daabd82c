package httpapi

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
)

// countsView is the stock as pages show it.
type countsView struct{ Free, Pending, Sold int64 }

// Bar is the stock in hundredths of its bar's length.
func (v countsView) Bar() (b struct{ Sold, Pending float64 }) {
	if all := float64(v.Free + v.Pending + v.Sold); all > 0 {
		b.Sold, b.Pending = 100*float64(v.Sold)/all, 100*float64(v.Pending)/all
	}
	return b
}

type eventPage struct {
	frame
	Venue, StateText, Tone     string
	Note                       string // the organiser's own words
	Closed                     bool
	NoLine                     bool      // seats are chosen at once
	Opens                      time.Time // zero: it has begun
	LobbyUntil                 time.Time // zero: who comes now is not drawn
	Seats                      countsView
	Waiting                    *int64 // nil: nobody knows
	AtDoor, Inside, LastMinute int64
	Currency                   string
	Hall                       *drawing // nil: nothing to draw
	Quota                      int      // 0: nothing is chosen here
}

// dressedDoc is what the event's page is made from.
type dressedDoc struct {
	doc  *admission.Document
	look inventory.Look
}

// event is the same for everyone: it reads no cookie, so that a cache may keep it.
func (p *pages) event(c *fiber.Ctx) error {
	line, ok := p.api.Lines.Line(c.Params("event"))
	if !ok {
		return p.sorry(c, problem("no_such_event", ""))
	}
	l, look := p.tongue(c), lookOf(c)
	return p.everybodys(c, line.Event(), dressedDoc{line.Status(), look}, "event.html", func(now time.Time) any { return p.eventPage(l, line, now, look) })
}

func (p *pages) eventPage(l *tongue, line *admission.Line, now time.Time, look inventory.Look) eventPage {
	s, sale := line.Standing(), line.Sale()
	_, tone := l.shortState(s.State)
	page := eventPage{
		frame: p.frameOf(l, line.Event(), sale.Title, "").dressed(look), Venue: sale.Venue,
		StateText: l.stateText(s.State, s.Reason), Tone: tone, Closed: s.State == admission.Closed,
		Seats: viewOf(s.Stock), Waiting: s.Figures.Waiters(), AtDoor: s.Figures.AtDoor, Inside: s.Figures.Inside, LastMinute: s.Figures.LastMinute,
	}
	page.Note, page.NoLine = look.Note, sale.Open
	page.Title = sale.Title + " – " + cmp.Or(look.By, "Waitroom")
	if s.State.Early() {
		page.Opens = sale.OpensAt
	}
	if l := sale.Lobby; l != nil && now.Before(l.ClosesAt) {
		page.LobbyUntil = l.ClosesAt
	}
	if hall, ok := p.api.Halls.Get(page.Event); ok {
		page.Hall, page.Currency = hall.drawing.says(l.Say("event.map"), hall.last.Load()), hall.plan.Currency
	}
	return page
}

// holder is whose ticket the browser carries.
func (p *pages) holder(c *fiber.Ctx) (ticketRequest, error) {
	return p.api.ticketHolder(c.Params("event"), cookie(c, ticketCookie))
}

type placePage struct {
	frame
	placeWords
	View                            admission.View // "" is not in the line
	Live                            bool           // worth watching
	Leave, Stock                    bool
	Number, Epoch, Ahead            int64
	Start, Gone                     int64     // the progress bar
	OpensAt                         time.Time // zero: it has begun
	Until                           time.Time // of the pass in this browser; zero: it has none
	EtaText, VerdictText, StateText string
	Again                           string    // in how many seconds to come again to the door; "": nobody said
	ComeBy                          time.Time // called: until then it is not late; zero: nobody can say, or it is
	Late, Exceeds, Standby          bool      // Standby: its holder stays though those ahead want more than there is
	Wave                            bool      // tickets came back since everything was gone
	Drawn                           bool      // its number came by lot, which everybody can check
	Index                           int64     // what it was drawn by
	ReachText                       string    // how far what is left goes; "": for any line
	Seats                           countsView
	Orders                          []uuid.UUID
}

func (p *pages) place(c *fiber.Ctx) error { return p.standing(c, "", "") }

// standing shows where the browser's place stands now, and when to come again.
func (p *pages) standing(c *fiber.Ctx, message, again string) error {
	r, err := p.holder(c)
	if err != nil {
		return p.outside(c, err)
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), readDeadline)
	defer cancel()
	at, err := r.line.Me(ctx, r.ticket)
	if err != nil {
		return p.sorry(c, p.api.lineRefused("place", err))
	}
	if at.View == admission.ViewLobby {
		return p.lobby(c, r, at)
	}
	if r.differs {
		p.keep(c, ticketCookie, r.anew(), cookieLife)
	}
	if gaveUp(c, r.ticket) && (at.View == admission.ViewWaiting || at.View == admission.ViewCalled) {
		at.View = admission.ViewLeft
	}
	sale, closed := r.line.Sale(), at.State == admission.Closed
	l := p.tongue(c)
	page := placePage{
		placeWords: l.wordsOf(at.View, closed), View: at.View,
		Number: at.Number, Epoch: r.line.Epoch(), Ahead: at.Ahead,
		EtaText: l.etaText(at), VerdictText: l.verdictText(at), Seats: viewOf(at.Stock), Stock: true, Orders: keptOrders(c),
	}
	page.frame = p.frame(c, page.Head, "/place")
	page.Message, page.Again = message, again
	page.Late, page.Standby, page.Exceeds = at.Late, cookie(c, standbyCookie) != "", at.Exceeds
	standing := r.line.Standing()
	page.Wave = standing.Figures.Wave > 1 && at.State == admission.Open
	if reach, some := standing.Reach(); some {
		page.ReachText = l.reachText(reach)
	}
	if end := r.line.Ends(); end.Drawn && r.ticket.Index < end.Lobby {
		page.Drawn, page.Index = true, r.ticket.Index
	}
	switch {
	case message != "" && at.View == admission.ViewPassed:
		page.Lead = ""
	case len(page.Orders) > 0 && at.View == admission.ViewPassed:
		page.Lead = l.Say("place.in_more")
	}
	if at.State.Early() && at.View == admission.ViewWaiting {
		page.OpensAt = sale.OpensAt
	}
	if at.View == admission.ViewCalled && at.Left >= time.Second {
		page.ComeBy = time.Now().Add(at.Left)
	}
	if _, _, pass, err := p.admitted(c); err == nil && at.View == admission.ViewPassed {
		page.Until = pass.ExpiresAt
	}
	page.Live = !closed && page.Join == ""
	page.Leave = !closed && (at.View == admission.ViewWaiting || at.View == admission.ViewCalled)
	page.Start, page.Gone = progress(c, at)
	if at.View == admission.ViewWaiting && !closed {
		page.Title = l.Say("place.ahead_title", "n", at.Ahead) + " – " + page.Sale
	}
	if at.State != admission.Open && !at.State.Early() && !closed {
		page.StateText = l.stateText(at.State, at.Reason)
	}
	if c.Query("refresh") != "" && page.Live {
		page.Refresh = max(5, int(at.Poll.Seconds()))
		if page.Standby && at.Exceeds {
			page.Refresh = min(standbySlower*page.Refresh, int(admission.PollMax.Seconds()))
		}
	}
	if err := p.show(c, "place.html", page, personal); err != nil {
		return err
	}
	squeeze(c) // there is no secret in it: the ticket is a cookie's
	return nil
}

// outside is the place of somebody who has none here.
func (p *pages) outside(c *fiber.Ctx, why error) error {
	line, ok := p.api.Lines.Line(c.Params("event"))
	if !ok {
		return p.sorry(c, why)
	}
	s, l := line.Standing(), p.tongue(c)
	words := l.noPlace(s.State == admission.Closed, cookie(c, ticketCookie) != "")
	if line.Sale().Open && s.State != admission.Closed {
		words = placeWords{l.Say("place.open"), l.Say("place.open_lead"), l.Say("event.buy")}
	}
	page := placePage{placeWords: words, Seats: viewOf(s.Stock), Stock: true, Orders: keptOrders(c)}
	page.frame = p.frame(c, page.Head, "/place")
	return p.show(c, "place.html", page, personal)
}

// standby is a flag of this browser's, and never another order: stay though those
// ahead want more than there is, ask less often, and be told when that changes.
func (p *pages) standby(c *fiber.Ctx) error {
	flag := ""
	if c.FormValue("standby") == "1" {
		flag = "1"
	}
	p.keep(c, standbyCookie, flag, cookieLife)
	return p.to(c, "/place")
}

func (p *pages) leave(c *fiber.Ctx) error {
	r, err := p.holder(c)
	if err != nil {
		return p.to(c, "/place")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), joinDeadline)
	defer cancel()
	if _, err := p.api.leave(ctx, r); err != nil {
		return p.sorry(c, err)
	}
	p.keep(c, leftCookie, nameOf(r.ticket), cookieLife)
	return p.to(c, "/place")
}

// goIn exchanges the place for its pass, or says that it is not yet its turn.
func (p *pages) goIn(c *fiber.Ctx) error {
	r, err := p.holder(c)
	if err != nil {
		return p.to(c, "/place")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), doorDeadline)
	defer cancel()
	out, err := p.api.pass(ctx, doorRequest{r, p.api.Identity.Suspicion.look(c), c.FormValue("challenge")})
	var refused *Problem
	if errors.As(err, &refused) && refused.Code == "challenge_required" {
		return p.askAtDoor(c, refused)
	}
	if err != nil {
		return p.standing(c, "", "")
	}
	again := ""
	switch answer := out.body.(type) {
	case passBody:
		p.keep(c, passCookie, answer.Pass, time.Until(answer.ExpiresAt))
		return p.to(c, "/seats")
	case notYetBody:
		if answer.Ticket != "" {
			p.keep(c, ticketCookie, answer.Ticket, cookieLife)
		}
		if answer.State == admission.ViewWaiting {
			return p.standing(c, p.tongue(c).Say("place.not_yet"), "")
		}
		again = strconv.FormatFloat(answer.RetryAfter, 'f', -1, 64)
	}
	return p.standing(c, p.tongue(c).Say("place.at_door"), again)
}
