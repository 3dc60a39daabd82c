package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"waitroom/internal/admission"
	"waitroom/web"
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
	Closed                     bool
	OpensAt                    time.Time
	OpensIn                    int       // seconds; 0: it has begun
	LobbyUntil                 time.Time // zero: who comes now is not drawn
	Seats                      countsView
	Waiting                    *int64 // nil: nobody knows
	AtDoor, Inside, LastMinute int64
	Currency                   string
	Hall                       *drawing // nil: nothing to draw
	Quota                      int      // 0: nothing is chosen here
}

// event is the same for everyone: it reads no cookie, so that a cache may keep it.
func (p *pages) event(c *fiber.Ctx) error {
	line, ok := p.api.Lines.Line(c.Params("event"))
	if !ok {
		return p.sorry(c, problem("no_such_event", "The address may be misspelt, or the event is over."))
	}
	return p.everybodys(c, line.Event(), line.Status(), "event.html", func(now time.Time) any { return p.eventPage(line, now) })
}

func (p *pages) eventPage(line *admission.Line, now time.Time) eventPage {
	s, sale := line.Standing(), line.Sale()
	_, tone := shortState(s.State)
	page := eventPage{
		frame: p.frameOf(line.Event(), sale.Title), Venue: sale.Venue,
		StateText: stateText(s.State, s.Reason), Tone: tone, Closed: s.State == admission.Closed, OpensAt: sale.OpensAt,
		Seats: viewOf(s.Stock), Waiting: s.Figures.Waiters(), AtDoor: s.Figures.AtDoor, Inside: s.Figures.Inside, LastMinute: s.Figures.LastMinute,
	}
	page.Title = sale.Title + " – Waitroom"
	if s.State.Early() {
		page.OpensIn = max(1, int(sale.OpensAt.Sub(now).Seconds()))
	}
	if l := sale.Lobby; l != nil && now.Before(l.ClosesAt) {
		page.LobbyUntil = l.ClosesAt
	}
	if hall, ok := p.api.Halls.Get(page.Event); ok {
		page.Hall, page.Currency = hall.drawing.says("Map of the hall. The figures above say the same in numbers."), hall.plan.Currency
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
	Late, Exceeds, Standby          bool   // Standby: its holder stays though those ahead want more than there is
	ReachText                       string // how far what is left goes; "": for any line
	LateText, BackAgain             string
	OnStandby, MayStandby           string
	Seats                           countsView
	Orders                          []uuid.UUID
}

func (p *pages) place(c *fiber.Ctx) error { return p.standing(c, "") }

// standing shows where the browser's place stands now.
func (p *pages) standing(c *fiber.Ctx, message string) error {
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
	page := placePage{
		placeWords: wordsOf(at.View, closed), View: at.View,
		Number: at.Number, Epoch: r.line.Epoch(), Ahead: at.Ahead,
		EtaText: etaText(at), VerdictText: verdictText(at), Seats: viewOf(at.Stock), Stock: true, Orders: keptOrders(c),
	}
	page.frame = p.frame(c, page.Head)
	page.Message = message
	page.Late, page.LateText = at.Late, lateText
	page.Standby, page.Exceeds, page.OnStandby, page.MayStandby, page.BackAgain = cookie(c, standbyCookie) != "", at.Exceeds, onStandby, mayStandby, backAgain
	if reach, some := r.line.Standing().Reach(); some {
		page.ReachText = reachText(reach)
	}
	switch {
	case message != "" && at.View == admission.ViewPassed:
		page.Lead = ""
	case len(page.Orders) > 0 && at.View == admission.ViewPassed:
		page.Lead = "You can choose more seats while your pass is good, as far as this sale’s limit goes."
	}
	if at.State.Early() && at.View == admission.ViewWaiting {
		page.OpensAt = sale.OpensAt
	}
	if _, _, pass, err := p.admitted(c); err == nil && at.View == admission.ViewPassed {
		page.Until = pass.ExpiresAt
	}
	page.Live = !closed && page.Join == ""
	page.Leave = !closed && (at.View == admission.ViewWaiting || at.View == admission.ViewCalled)
	page.Start, page.Gone = progress(c, at)
	if at.View == admission.ViewWaiting && !closed {
		page.Title = web.Num(at.Ahead) + " ahead – " + page.Sale
	}
	if at.State != admission.Open && !at.State.Early() && !closed {
		page.StateText = stateText(at.State, at.Reason)
	}
	if c.Query("refresh") != "" && page.Live {
		page.Refresh = max(5, int(at.Poll.Seconds()))
		if page.Standby && at.Exceeds {
			page.Refresh = min(standbySlower*page.Refresh, int(admission.PollMax.Seconds()))
		}
	}
	return p.show(c, "place.html", page, personal)
}

// outside is the place of somebody who has none here.
func (p *pages) outside(c *fiber.Ctx, why error) error {
	line, ok := p.api.Lines.Line(c.Params("event"))
	if !ok {
		return p.sorry(c, why)
	}
	s := line.Standing()
	page := placePage{placeWords: noPlace(s.State == admission.Closed, cookie(c, ticketCookie) != ""), Seats: viewOf(s.Stock), Stock: true, Orders: keptOrders(c)}
	page.frame = p.frame(c, page.Head)
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
		return p.standing(c, "")
	}
	switch answer := out.body.(type) {
	case passBody:
		p.keep(c, passCookie, answer.Pass, time.Until(answer.ExpiresAt))
		return p.to(c, "/seats")
	case notYetBody:
		if answer.Ticket != "" {
			p.keep(c, ticketCookie, answer.Ticket, cookieLife)
		}
		if answer.State == admission.ViewWaiting {
			return p.standing(c, "It is not your turn yet.")
		}
	}
	return p.standing(c, atDoor)
}
