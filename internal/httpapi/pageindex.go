package httpapi

import (
	"cmp"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
)

type indexEvent struct {
	ID, Title, Venue string
	State, Tone      string
	OpensAt          time.Time // zero: it has begun
	Seats            countsView

	opens time.Time
}

// indexGroup is what is in one stage of its sale.
type indexGroup struct {
	Name   string
	Events []indexEvent
}

// index is the page of all events, however many there are.
func (p *pages) index(c *fiber.Ctx) error {
	l := p.tongue(c)
	return p.everybodys(c, "", nil, "index.html", func(now time.Time) any {
		return struct {
			frame
			Groups []indexGroup
		}{p.indexFrame(l), p.groups(l, now)}
	})
}

// indexFrame names no page above it: it is the first.
func (p *pages) indexFrame(l *tongue) frame {
	f := p.frameOf(l, "", l.Say("index.title"), "")
	f.Heading = ""
	return f
}

// groups are what is on sale, what will be and what is over. Whatever matters
// soonest comes first: the next to open, and of what is over the last.
func (p *pages) groups(l *tongue, now time.Time) []indexGroup {
	all := []indexGroup{{Name: l.Say("index.now")}, {Name: l.Say("index.soon")}, {Name: l.Say("index.over")}}
	for _, e := range p.api.onSale() {
		state, tone := l.shortState(e.State)
		shown := indexEvent{
			ID: e.ID, Title: e.Title, Venue: e.Venue, State: state, Tone: tone, opens: e.OpensAt,
			Seats: countsView{e.Seats.Free, e.Seats.Pending, e.Seats.Sold},
		}
		stage := 0
		switch {
		case tone == "over":
			stage = 2
		case tone == "soon" || e.OpensAt.After(now): // whatever is in doubt before then
			stage, shown.OpensAt = 1, e.OpensAt
		}
		all[stage].Events = append(all[stage].Events, shown)
	}
	for stage, g := range all {
		slices.SortStableFunc(g.Events, func(x, y indexEvent) int {
			if stage == 2 {
				x, y = y, x
			}
			return cmp.Or(x.opens.Compare(y.opens), cmp.Compare(x.Title, y.Title), cmp.Compare(x.ID, y.ID))
		})
	}
	return slices.DeleteFunc(all, func(g indexGroup) bool { return len(g.Events) == 0 })
}
