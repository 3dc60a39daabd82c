package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

const (
	cookieLife = 24 * time.Hour
	sharedPage = "public, max-age=0, s-maxage=1, stale-while-revalidate=2, stale-if-error=30"
)

func (p *pages) index(c *fiber.Ctx) error {
	return p.show(c, "index.html", struct {
		frame
		Events []eventBody
	}{frame{Title: "On sale"}, p.api.onSale()}, sharedPage)
}

type eventPage struct {
	frame
	Venue, StateText                    string
	Closed                              bool
	Seats                               countsView
	Waiting, AtDoor, Inside, LastMinute int64
}

// countsView is the stock as the pages' shared part wants it.
type countsView struct{ Free, Pending, Sold int64 }

func viewOf(s admission.Stock) countsView { return countsView{s.Free, s.Pending, s.Sold} }

// event is the same for everyone: it reads no cookie, so that a cache may keep it.
func (p *pages) event(c *fiber.Ctx) error {
	line, ok := p.api.Lines.Line(c.Params("event"))
	if !ok {
		return p.sorry(c, problem("no_such_event", ""))
	}
	s, sale := line.Standing(), line.Sale()
	return p.show(c, "event.html", eventPage{
		frame:     frame{Title: sale.Title, Name: sale.Title, Event: c.Params("event")},
		StateText: stateText(s.State, s.Reason, sale.OpensAt), Closed: s.State == admission.Closed,
		Seats: viewOf(s.Stock), Waiting: s.Figures.Waiting, AtDoor: s.Figures.AtDoor, Inside: s.Figures.Inside, LastMinute: s.Figures.LastMinute,
	}, sharedPage)
}

// stateText is what the sale is doing, in plain words.
func stateText(state admission.SaleState, reason admission.Reason, opens time.Time) string {
	switch state {
	case admission.Scheduled:
		return "The sale begins at " + opens.UTC().Format("15:04:05 UTC, 2 January 2006") + ". You can join the line now."
	case admission.Open:
		return "The sale is open."
	case admission.Paused:
		return "Paused by the organiser. Places are kept."
	case admission.OnDoubt:
		return fmt.Sprintf("Paused for a moment (%s). Places are kept.", reason)
	case admission.Exhausted:
		return "Everything is sold or in carts at the moment. Tickets do come back; the line goes on then."
	}
	return "The sale is over."
}

func (p *pages) join(c *fiber.Ctx) error {
	secret := cookie(c, secretCookie)
	if secret == "" {
		secret = admission.NewSecret()
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), joinDeadline)
	defer cancel()
	out, err := p.api.join(ctx, joinRequest{event: c.Params("event"), secret: secret})
	if err != nil {
		return p.sorry(c, err)
	}
	p.keep(c, secretCookie, secret, cookieLife)
	p.keep(c, ticketCookie, out.body.(joinedBody).Ticket, cookieLife)
	return p.to(c, "/place")
}

// holder is whose ticket the browser carries.
func (p *pages) holder(c *fiber.Ctx) (ticketRequest, error) {
	return p.api.ticketHolder(c.Params("event"), cookie(c, ticketCookie))
}

type placePage struct {
	frame
	State                           admission.View
	Number, Epoch, Ahead            int64
	Start, Gone                     int64 // the progress bar
	EtaText, VerdictText, StateText string
	Seats                           countsView
}

func (p *pages) place(c *fiber.Ctx) error { return p.standing(c, "") }

func (p *pages) standing(c *fiber.Ctx, message string) error {
	r, err := p.holder(c)
	if err != nil {
		return p.to(c, "")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), readDeadline)
	defer cancel()
	at, err := r.line.Me(ctx, r.ticket)
	if err != nil {
		return p.sorry(c, p.api.lineRefused("place", err))
	}
	sale := r.line.Sale()
	page := placePage{
		frame: frame{Title: "Your place: " + sale.Title, Name: sale.Title, Event: c.Params("event"), Message: message},
		State: at.View, Number: at.Number, Epoch: r.line.Epoch(), Ahead: at.Ahead,
		Start: max(at.Number, 1), Gone: max(at.Number, 1) - min(at.Ahead, max(at.Number, 1)),
		EtaText: etaText(at), VerdictText: verdictText(at), Seats: viewOf(at.Stock),
	}
	if at.State != admission.Open {
		page.StateText = stateText(at.State, at.Reason, sale.OpensAt)
	}
	if c.Query("refresh") != "" {
		page.Refresh = int(at.Poll.Seconds()) + 1
	}
	return p.show(c, "place.html", page, personal)
}

func etaText(at admission.Position) string {
	if !at.Known || at.Ahead == 0 {
		return ""
	}
	return "About " + roughly(at.P50) + " to " + roughly(at.P90)
}

// roughly rounds as people would say it.
func roughly(d time.Duration) string {
	if d < 90*time.Second {
		return fmt.Sprintf("%d s", max(5, int(d.Seconds()/5+0.5)*5))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
}

// verdictText says plainly what waiting is worth, with both raw numbers.
func verdictText(at admission.Position) string {
	words := map[admission.Verdict]string{
		admission.Likely:   "There should be tickets for you.",
		admission.Possible: "There may be tickets for you, if some in carts come back.",
		admission.Unlikely: "The queue ahead already exceeds the remaining tickets. You may stay: tickets do come back.",
	}[at.Verdict]
	if at.Exceeds {
		words = "The queue ahead already exceeds the remaining tickets. You may stay: tickets do come back."
	}
	return fmt.Sprintf("%s %d ahead of you, %d free and %d in carts.", words, at.Ahead, at.Stock.Free, at.Stock.Pending)
}

func (p *pages) leave(c *fiber.Ctx) error {
	r, err := p.holder(c)
	if err != nil {
		return p.to(c, "")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), joinDeadline)
	defer cancel()
	if _, err := p.api.leave(ctx, r); err != nil {
		return p.sorry(c, err)
	}
	p.keep(c, ticketCookie, "", 0)
	return p.to(c, "")
}

// goIn exchanges the place for its pass, or says that it is not yet its turn.
func (p *pages) goIn(c *fiber.Ctx) error {
	r, err := p.holder(c)
	if err != nil {
		return p.to(c, "")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), doorDeadline)
	defer cancel()
	out, err := p.api.pass(ctx, r)
	if err != nil {
		return p.standing(c, "")
	}
	pass, ok := out.body.(passBody)
	if !ok {
		return p.standing(c, "You are at the door. Press the button again: who came first goes in first.")
	}
	p.keep(c, passCookie, pass.Pass, time.Until(pass.ExpiresAt))
	return p.to(c, "/seats")
}
