package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/admission"
	"waitroom/internal/gate"
	"waitroom/internal/inventory"
	"waitroom/internal/support"
)

// API is what the waiting room's listeners need from the rest of the process.
type API struct {
	// Lines are the events that this process serves.
	Lines  Lines
	Halls  *Halls
	Tokens Tokens
	Pool   *pgxpool.Pool // reads of orders, and cancelling
	// Claim asks the claimers; see inventory.Ask.
	Claim func(ctx context.Context, at inventory.Attempt) (inventory.Answer, error)
	Gate  *gate.Gate // before the claims of events without a line; nil: such an event that asks for one is closed
	// PayURL is where browsers reach paycallback; "" is this same origin.
	PayURL string
	// PayOrigins may take a form's redirect: the provider's checkout pages.
	PayOrigins string
	Secure     bool // pages are reached by https: cookies go nowhere else
	// Money writes an amount in minor units, with its currency's decimals.
	Money      func(minor int64, currency string) string
	AdminToken string
	Desk       *Desk         // where organisers steer
	Doors      *pgxpool.Pool // scans alone: a crowd at the door keeps nobody from steering
	Support    *support.Desk
	Identity   Identity  // what events may ask of who joins
	Joins      *Limiter  // of joins from one network; nil limits nobody
	list       printed   // of what is on sale
	told       sync.Pool // of *written
	Log        *slog.Logger
	Limits     Limits
}

// Lines finds lines. The two methods are all that a handler asks of it.
type Lines interface {
	Line(event string) (*admission.Line, bool)
	All() []*admission.Line
}

// Deadlines of the routes: everything that a request causes is over by then.
const (
	joinDeadline  = 5 * time.Second
	doorDeadline  = 6 * time.Second // longer than a request is held
	claimDeadline = claimMost + 2*time.Second
	readDeadline  = 3 * time.Second
)

// Public is the listener of fans, pages and gateways.
func (a *API) Public() (*fiber.App, error) {
	app := newApp(a.Log, a.Limits)
	pages, err := newPages(a)
	if err != nil {
		return nil, err
	}
	app.Get("/v1/public/events", a.events)
	app.Get("/v1/public/events/:event/status", a.status)
	app.Get("/v1/public/events/:event/availability", a.availability)
	app.Get("/v1/public/events/:event/:file", a.seatmap)

	app.Post("/v1/events/:event/places", serveRead(joinDeadline, a.readJoin, a.join))
	app.Get("/v1/events/:event/places/me", serveRead(readDeadline, a.readTicket, a.me))
	app.Delete("/v1/events/:event/places/me", serveRead(joinDeadline, a.readTicket, a.leave))
	app.Post("/v1/events/:event/places/me/pass", serveRead(doorDeadline, a.readDoor, a.pass))
	app.Post("/v1/events/:event/passes/me/alive", serveRead(readDeadline, a.readPass, a.alive))
	app.Delete("/v1/events/:event/passes/me", serveRead(readDeadline, a.readLeaving, a.gone))

	app.Post("/v1/events/:event/orders", serve(claimDeadline, a.claim))
	app.Get("/v1/events/:event/attempts/:key", serveRead(readDeadline, a.readAttempt, a.attempt))
	app.Get("/v1/orders/:order", serveRead(readDeadline, a.readOrder, a.order))
	app.Post("/v1/orders/:order/cancel", serveRead(joinDeadline, a.readCancel, a.cancel))

	app.Get("/v1/verify", serveRead(readDeadline, a.readAnyPass, a.verify))
	app.Get("/.well-known/jwks.json", a.jwks)
	app.Get("/v1/public/code-keys", a.codeKeys)
	pages.route(app)
	app.Server().Handler = a.polled(app.Server().Handler)
	return app, nil
}

// Admin is the listener of operators and organisers, and never the public's: it
// answers while the public's is full.
func (a *API) Admin() *fiber.App {
	limits := a.Limits
	limits.Write = exportLimit + time.Minute // bounds a whole answer, and an export is a long one
	usual := cmp.Or(limits.Body, usualBody)
	limits.Body = planBody
	app := newApp(a.Log, limits)
	app.Use(short(usual))
	app.Get("/v1/admin/events/:event/line", a.export)
	a.organisers(app)
	a.refunding(app)
	a.endpointRoutes(app)
	a.gates(app)
	a.operatorPages(app)
	return app
}

// sale finds an event that this process serves.
func (a *API) sale(event string) (*admission.Line, *Hall, error) {
	line, ok := a.Lines.Line(event)
	if !ok {
		return nil, nil, problem("no_such_event", "")
	}
	hall, ok := a.Halls.Get(event)
	if !ok {
		return nil, nil, problem("unavailable", "The event's seats were not read yet.")
	}
	return line, hall, nil
}

// unavailable is a fault on the way to a store: the cause is logged here, and
// asking again is safe.
func (a *API) unavailable(what string, err error) error {
	a.Log.Error(what, "error", err)
	return problem("unavailable", "").after(2 * time.Second)
}
