package httpapi

import (
	"encoding/hex"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
)

type lobbyPage struct {
	frame
	Index, Epoch int64
	ClosesAt     time.Time
	Left         int // seconds until then
	Closed       bool
	StateText    string
	Seats        countsView
}

// lobby is the place of somebody whose number is still to be drawn.
func (p *pages) lobby(c *fiber.Ctx, r ticketRequest, at admission.Position) error {
	if gaveUp(c, r.ticket) {
		return p.outside(c, nil)
	}
	lobby, now := r.line.Sale().Lobby, time.Now()
	page := lobbyPage{
		frame: p.frame(c, p.tongue(c).Say("lobby.heading"), "/place"), Index: at.Index, Epoch: r.line.Epoch(), Seats: viewOf(at.Stock),
		ClosesAt: lobby.ClosesAt, Left: max(0, int(lobby.ClosesAt.Sub(now).Seconds())), Closed: !now.Before(lobby.ClosesAt),
	}
	if at.State != admission.Open && !at.State.Early() {
		page.StateText = p.tongue(c).stateText(at.State, at.Reason)
	}
	return p.show(c, "lobby.html", page, personal)
}

type drawPage struct {
	frame
	ClosesAt                    time.Time
	Closed                      bool
	Count                       int64
	Commit, Beacon, Seed, Value string
}

// draw is the same for everyone: what the draw rests on, and how to check it.
func (p *pages) draw(c *fiber.Ctx) error {
	line, ok := p.api.Lines.Line(c.Params("event"))
	if !ok {
		return p.sorry(c, problem("no_such_event", ""))
	}
	lobby := line.Sale().Lobby
	if lobby == nil {
		return p.sorry(c, problem("no_such_route", "help.first_come"))
	}
	end := line.Ends()
	l, look := p.tongue(c), lookOf(c)
	return p.everybodys(c, "draw of "+line.Event(), end, "draw.html", func(time.Time) any { return p.drawPage(l, line, lobby, end, look) })
}

func (p *pages) drawPage(l *tongue, line *admission.Line, lobby *admission.Lobby, end admission.Tail, look inventory.Look) drawPage {
	commit := lobby.Seed.Commit()
	page := drawPage{
		frame: p.frameOf(l, line.Event(), l.Say("draw.heading"), "/draw").dressed(look), ClosesAt: lobby.ClosesAt, Closed: end.Closed, Count: end.Lobby,
		Commit: hex.EncodeToString(commit[:]), Beacon: lobby.Beacon,
	}
	if end.Drawn {
		page.Seed, page.Value = hex.EncodeToString(end.Seed[:]), end.Beacon
	}
	return page
}
