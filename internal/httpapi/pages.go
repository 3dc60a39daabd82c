package httpapi

import (
	"bytes"
	"errors"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/web"
)

// pages are the HTML face of the API: the same functions, by forms and links,
// so that the line works without a script. What a browser carries is in
// cookies of its own that no script reads and no other site's form sends.
type pages struct {
	api    *API
	html   *template.Template
	assets map[string]web.Asset
	policy string
}

func newPages(a *API) (*pages, error) {
	assets, err := web.Assets()
	if err != nil {
		return nil, err
	}
	html, err := web.Pages(assets, a.Money)
	if err != nil {
		return nil, err
	}
	forms := "'self' " + a.PayOrigins
	return &pages{api: a, html: html, assets: assets, policy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action " + forms}, nil
}

func (p *pages) route(app *fiber.App) {
	app.Get("/", p.index)
	app.Get("/assets/:hash/:name", p.asset)
	app.Get("/e/:event", p.event)
	app.Get("/e/:event/place", p.place)
	app.Get("/e/:event/seats", p.seats)
	app.Get("/e/:event/orders/:order", p.order)
	own := app.Group("/e/:event", p.sameOrigin)
	own.Post("/join", p.join)
	own.Post("/leave", p.leave)
	own.Post("/pass", p.goIn)
	own.Post("/alive", p.alive)
	own.Post("/claim", p.claim)
	own.Post("/done", p.done)
	own.Post("/orders/:order/cancel", p.cancel)
}

// sameOrigin refuses a form that another site sent. Browsers name the origin
// of every POST; what names none is no browser, and has no cookies to misuse.
func (p *pages) sameOrigin(c *fiber.Ctx) error {
	origin := c.Get("Origin")
	if origin == "" {
		return c.Next()
	}
	at, err := url.Parse(origin)
	if err != nil || !strings.EqualFold(at.Host, string(c.Request().Host())) {
		return problem("foreign_origin", "")
	}
	return c.Next()
}

// frame is what every page has.
type frame struct {
	Title   string
	Name    string // the heading
	Event   string
	Message string
	Refresh int // seconds; 0: only when asked
}

func (p *pages) show(c *fiber.Ctx, name string, data any, cache string) error {
	var b bytes.Buffer
	if err := p.html.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	c.Set("Content-Type", "text/html; charset=utf-8")
	c.Set("Cache-Control", cache)
	c.Set("Content-Security-Policy", p.policy)
	c.Set("X-Content-Type-Options", "nosniff")
	c.Set("Referrer-Policy", "same-origin")
	return c.Send(b.Bytes())
}

const personal = "private, no-store"

// sorry shows a refusal as a page.
func (p *pages) sorry(c *fiber.Ctx, err error) error {
	var refused *Problem
	if !errors.As(err, &refused) {
		p.api.Log.Error("page failed", "route", c.Route().Path, "error", err)
		refused = problem("internal", "")
	}
	c.Status(refused.Status)
	if refused.RetryAfter > 0 {
		c.Set("Retry-After", "2")
	}
	message := refused.Detail
	if message == "" {
		message = "Please try again in a moment."
	}
	return p.show(c, "problem.html", frame{Title: refused.Title, Name: refused.Title, Event: c.Params("event"), Message: message}, personal)
}

func (p *pages) asset(c *fiber.Ctx) error {
	a, ok := p.assets[c.Path()]
	if !ok {
		return problem("no_such_route", "")
	}
	c.Set("Content-Type", a.Type)
	c.Set("Cache-Control", "public, max-age=31536000, immutable")
	c.Set("X-Content-Type-Options", "nosniff")
	return c.Send(a.Body)
}

// The cookies of one event. They hold what API clients send as bearers.
const (
	secretCookie = "secret"
	ticketCookie = "ticket"
	passCookie   = "pass"
)

func cookie(c *fiber.Ctx, name string) string { return c.Cookies(name + "." + c.Params("event")) }

// keep sets a cookie of this event; an empty value takes it back.
func (p *pages) keep(c *fiber.Ctx, name, value string, life time.Duration) {
	k := fiber.Cookie{
		Name: name + "." + c.Params("event"), Value: value, Path: "/e/" + c.Params("event"),
		HTTPOnly: true, SameSite: "Lax", Secure: p.api.Secure,
		MaxAge: int(life.Seconds()),
	}
	if value == "" {
		k.MaxAge, k.Expires = 0, time.Unix(1, 0)
	}
	c.Cookie(&k)
}

func (p *pages) to(c *fiber.Ctx, path string) error {
	c.Set("Cache-Control", personal)
	return c.Redirect("/e/"+c.Params("event")+path, fiber.StatusSeeOther)
}
