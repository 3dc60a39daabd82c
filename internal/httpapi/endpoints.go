package httpapi

import (
	"context"
	"crypto/sha256"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/organiser"
	"waitroom/internal/webhooks"
)

// EndpointRules are what the house lets organisers' endpoints be.
type EndpointRules struct {
	Most     int  // that an organiser may have
	Loopback bool // plain http to this machine itself will do, for tests and the demo
}

func (a *API) endpointRoutes(app *fiber.App) {
	app.Get("/v1/organiser/endpoints", serveRead(deskDeadline, a.asks(organiser.WebhooksRead), a.endpoints))
	app.Post("/v1/organiser/endpoints", serveRead(deskDeadline, a.readAddition, a.addEndpoint))
	one := app.Group("/v1/organiser/endpoints/:endpoint")
	one.Get("", serveRead(deskDeadline, a.readEndpoint, a.endpoint))
	one.Delete("", serveRead(deskDeadline, a.readEndpointChange, a.deleteEndpoint))
	one.Get("/settings", serveRead(deskDeadline, a.readEndpoint, a.endpointSettings))
	one.Put("/settings", serveRead(deskDeadline, a.readEndpointEdit, a.editEndpoint))
	one.Put("/state", serveRead(deskDeadline, a.readEndpointState, a.setEndpointState))
	one.Post("/secret", serveRead(deskDeadline, a.readRotation, a.rotateSecret))
	one.Post("/test", serveRead(deskDeadline, a.readEndpointWish, a.testEndpoint))
	one.Get("/changes", serveRead(deskDeadline, a.readEndpointPast, a.endpointPast))
	one.Post("/replays", serveRead(replayDeadline, a.readReplays, a.replaySince))
	a.deliveryRoutes(app)
}

// endpointRequest is a request about one endpoint, that its key has leave for.
type endpointRequest struct {
	asked
	id  string
	who webhooks.Asker
}

func (a *API) readEndpoint(c *fiber.Ctx) (endpointRequest, error) {
	return a.readEndpointFor(c, organiser.WebhooksRead)
}

// readEndpointChange is of changes that done twice are done once: they need no
// Idempotency-Key.
func (a *API) readEndpointChange(c *fiber.Ctx) (endpointRequest, error) {
	return a.readEndpointFor(c, organiser.WebhooksWrite)
}

func (a *API) readEndpointFor(c *fiber.Ctx, scope organiser.Scope) (r endpointRequest, err error) {
	if r.asked, err = a.asks(scope)(c); err != nil {
		return r, err
	}
	r.id = c.Params("endpoint")
	r.who = webhooks.Asker{Organiser: r.key.Organiser, By: r.key.Name}
	if !isText(r.id) {
		return r, problem("no_such_endpoint", "")
	}
	return r, nil
}

// readEndpointWish is of changes that are made once under the name that their
// asker gave them.
func (a *API) readEndpointWish(c *fiber.Ctx) (r endpointRequest, err error) {
	if r, err = a.readEndpointChange(c); err != nil {
		return r, err
	}
	if r.who.Attempt, err = idempotencyKey(c); err != nil {
		return r, err
	}
	r.who.Request = sha256.Sum256([]byte(c.Path() + "\n" + string(c.BodyRaw())))
	return r, nil
}

func (a *API) endpoints(ctx context.Context, r asked) (reply, error) {
	all, err := webhooks.HealthOf(ctx, a.Desk.Pool, r.key.Organiser, "")
	if err != nil {
		return reply{}, a.unavailable("endpoints", err)
	}
	list := []endpointBody{}
	for _, h := range all {
		list = append(list, endpointHealthOf(h))
	}
	return reply{body: map[string]any{"endpoints": list}}, nil
}

func (a *API) endpoint(ctx context.Context, r endpointRequest) (reply, error) {
	h, err := a.findEndpoint(ctx, r.key.Organiser, r.id)
	return endpointReply(h.Endpoint, 0, endpointHealthOf(h)), err
}

func (a *API) findEndpoint(ctx context.Context, whose, id string) (webhooks.Health, error) {
	if id == "" {
		return webhooks.Health{}, problem("no_such_endpoint", "")
	}
	all, err := webhooks.HealthOf(ctx, a.Desk.Pool, whose, id)
	switch {
	case err != nil:
		return webhooks.Health{}, a.unavailable("endpoint", err)
	case len(all) == 0:
		return webhooks.Health{}, problem("no_such_endpoint", "")
	}
	return all[0], nil
}

func (a *API) endpointSettings(ctx context.Context, r endpointRequest) (reply, error) {
	e, found, err := webhooks.Find(ctx, a.Desk.Pool, r.key.Organiser, r.id)
	switch {
	case err != nil:
		return reply{}, a.unavailable("endpoint", err)
	case !found:
		return reply{}, problem("no_such_endpoint", "")
	}
	return endpointReply(e, 0, endpointSettingsOf(e.Settings)), nil
}
