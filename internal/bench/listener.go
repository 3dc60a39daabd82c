package bench

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"waitroom/internal/admission"
	"waitroom/internal/httpapi"
)

const (
	statusPath = "/v1/public/events/" + event + "/status"
	placePath  = "/v1/events/" + event + "/places/me"
)

// only is the one line that a listener serves.
type only struct{ line *admission.Line }

func (o *only) Line(name string) (*admission.Line, bool) { return o.line, name == event }
func (o *only) All() []*admission.Line                   { return []*admission.Line{o.line} }

// public is the public listener, routes, pages and all.
func public(ctx context.Context, serves *only) (*fiber.App, error) {
	return (&httpapi.API{
		Lines: serves, Halls: &httpapi.Halls{}, Money: func(int64, string) string { return "" },
		Log: slog.New(slog.DiscardHandler), Limits: httpapi.Limits{BaseCtx: ctx},
	}).Public()
}

// listener is its handler.
func listener(ctx context.Context, serves *only) (fasthttp.RequestHandler, error) {
	app, err := public(ctx, serves)
	if err != nil {
		return nil, err
	}
	app.Handler() // makes the routes ready, as listening does
	return app.Server().Handler, nil
}

// still is a line as it was when it stopped: open, with so many in it. It
// answers, and does nothing beside that would be measured too.
func still(ctx context.Context, path string, people int64) (*admission.Line, error) {
	r, err := open(ctx, path, start{tail: people, rate: 50})
	if err != nil {
		return nil, err
	}
	defer r.end()
	return r.Line, until(ctx, "the sale is open, its line known", func() bool {
		s := r.Standing()
		return s.State == admission.Open && s.Tail == people
	})
}

// asking is a request of that path, ready to be answered any number of times.
func asking(path, token string) *fasthttp.RequestCtx {
	var c fasthttp.RequestCtx
	var r fasthttp.Request
	r.SetRequestURI(path)
	r.Header.SetHost("tickets.example")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	c.Init(&r, nil, nil)
	return &c
}

// waiting is the ticket of somebody far back in a line of so many.
func waiting(people int64) (string, error) {
	ring, err := ticketKeys()
	if err != nil {
		return "", err
	}
	return ring.Sign(aTicket(people - people/10)), nil
}
