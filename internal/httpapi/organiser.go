package httpapi

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

// Desk is where organisers steer their sales. It shares nothing with the crowd
// but the process: the listener is the operators', the connections are its own.
type Desk struct {
	Ring *organiser.Ring
	Pool *pgxpool.Pool
	// Halt stops letting people in, here and in every replica that can be
	// reached, before anything is asked or written. It holds here until the stop
	// is Halted, elsewhere for organiser.HeardFor: say it again meanwhile.
	Halt func(stop organiser.Stop)
	// Halted says that the stop is written down, as that version of the settings.
	Halted func(ctx context.Context, stop organiser.Stop, version int64)
	// Changed tells every replica that can be reached to read the settings now.
	// The others read them within a second.
	Changed func(ctx context.Context, event string)

	Endpoints EndpointRules

	importing sync.Mutex // one hall at a time: the others of Pool are for who steers

	mu      sync.Mutex
	keeping map[string][]kept // by event: stops that are still to be written down
}

const (
	deskDeadline = 3 * time.Second
	stopDeadline = 1500 * time.Millisecond // then a stop is written down later
)

func (a *API) organisers(app *fiber.App) {
	app.Get("/v1/organiser/events", serveRead(deskDeadline, a.asks(organiser.LineRead), a.own))
	app.Post("/v1/organiser/events", serveRead(importDeadline, a.readListing, a.create))
	app.Post("/v1/organiser/plans/check", serveRead(deskDeadline, a.readPlan, a.checkPlan))
	app.Get("/v1/organiser/claims", serveRead(deskDeadline, a.asks(organiser.LineRead), a.claims))
	event := app.Group("/v1/organiser/events/:event")
	event.Post("/plan", serveRead(importDeadline, a.readImport, a.importPlan))
	event.Get("/outlook", serveRead(deskDeadline, a.readOutlook, a.outlook))
	event.Get("/settings", serveRead(deskDeadline, a.asks(organiser.LineRead), a.settings))
	event.Put("/settings", serveRead(deskDeadline, a.readRevision, a.revise))
	event.Get("/look", serveRead(deskDeadline, a.asks(organiser.LineRead), a.look))
	event.Put("/look", serveRead(deskDeadline, a.readLook, a.setLook))
	event.Get("/live", serveRead(deskDeadline, a.asks(organiser.LineRead), a.live))
	event.Get("/changes", serveRead(deskDeadline, a.readChanges, a.changes))
	event.Post("/pause", serveRead(deskDeadline, a.readWish, a.steer(inventory.Paused)))
	event.Post("/resume", serveRead(deskDeadline, a.readWish, a.steer(inventory.Running)))
	event.Post("/close", serveRead(deskDeadline, a.readWish, a.steer(inventory.ClosedForGood)))
	event.Post("/orders/extend", serveRead(deskDeadline, a.readExtension, a.extend))
	a.seatRoutes(event)
	event.Post("/stop", serveRead(deskDeadline, a.readStop, a.stop))
}

// asked is a request that its key has leave for, of an event that is its
// organiser's, or of none.
type asked struct {
	key   organiser.Key
	event string
}

func (a *API) asks(scope organiser.Scope) func(*fiber.Ctx) (asked, error) {
	return func(c *fiber.Ctx) (asked, error) {
		look := a.Desk.Ring.Look(time.Now())
		if !look.Fresh() {
			return asked{}, problem("unavailable", "Keys cannot be read just now. A stop is taken all the same.").after(2 * time.Second)
		}
		return leaveOf(c, look, scope)
	}
}

// leaveOf is what the request's key opens. What it may do is judged before whose the event
// is, so that another's event is answered like none.
func leaveOf(c *fiber.Ctx, look organiser.Look, scope organiser.Scope) (asked, error) {
	token := bearer(c)
	if token == "" {
		return asked{}, problem("token_missing", "")
	}
	key, ok := look.Key(token)
	if !ok {
		return asked{}, problem("token_invalid", "")
	}
	if !key.May(scope) {
		return asked{}, problem("scope_missing", "This key may not do that: it lacks "+string(scope)+".").with("scope", scope)
	}
	r := asked{key: key, event: c.Params("event")}
	if r.event != "" && !look.Owns(key.Organiser, r.event) {
		return asked{}, problem("no_such_event", "")
	}
	return r, nil
}

type ownEvent struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	OpensAt time.Time `json:"opens_at"`
	Control string    `json:"control"`
	Version int64     `json:"version"`
}

// own are the organiser's events, the first to open first.
func (a *API) own(ctx context.Context, r asked) (reply, error) {
	events, err := inventory.Events(ctx, a.Desk.Pool, "")
	if err != nil {
		return reply{}, a.unavailable("events", err)
	}
	list := []ownEvent{}
	for _, e := range events {
		if e.Organiser == r.key.Organiser {
			list = append(list, ownEvent{e.ID, e.Title, e.OpensAt.UTC(), e.Control, e.Version})
		}
	}
	slices.SortFunc(list, func(x, y ownEvent) int {
		return cmp.Or(x.OpensAt.Compare(y.OpensAt), cmp.Compare(x.ID, y.ID))
	})
	return reply{body: map[string]any{"organiser": r.key.Organiser, "events": list}}, nil
}
