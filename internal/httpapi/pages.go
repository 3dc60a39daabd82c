package httpapi

import (
	"bytes"
	"errors"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

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
	press  press
}

func newPages(a *API) (*pages, error) {
	assets, err := web.Assets()
	if err != nil {
		return nil, err
	}
	said, err := words()
	if err != nil {
		return nil, err
	}
	html, err := web.Pages(assets, a.Money, said)
	if err != nil {
		return nil, err
	}
	// Where the pay button leads: also what its answer redirects to counts.
	forms := strings.TrimSpace("'self' " + a.PayOrigins)
	return &pages{api: a, html: html, assets: assets, policy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action " + forms}, nil
}

func (p *pages) route(app *fiber.App) {
	app.Get("/", p.index)
	app.Get("/assets/:hash/:name", p.asset)
	app.Get("/e/:event", p.event)
	app.Get("/e/:event/place", p.place)
	app.Get("/e/:event/draw", p.draw)
	app.Get("/e/:event/seats", p.seats)
	app.Get("/e/:event/orders/:order", p.order)
	own := app.Group("/e/:event", p.sameOrigin)
	own.Post("/join", p.join)
	own.Post("/leave", p.leave)
	own.Post("/standby", p.standby)
	own.Post("/pass", p.goIn)
	own.Post("/alive", p.alive)
	own.Post("/claim", p.claim)
	own.Post("/done", p.done)
	own.Post("/orders/:order/cancel", p.cancel)
	app.Use(p.lost)
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
		return p.sorry(c, problem("foreign_origin", ""))
	}
	return c.Next()
}

// lost answers a person who follows a wrong link as one.
func (p *pages) lost(c *fiber.Ctx) error {
	if c.Method() == fiber.MethodGet && strings.Contains(c.Get("Accept"), "text/html") {
		return p.sorry(c, problem("no_such_route", "The address may be misspelt, or what was here is over."))
	}
	return c.Next()
}

// frame is what every page has.
type frame struct {
	Title   string // of the window: what is specific first
	Heading string
	Event   string
	Sale    string // the event's title; "" on pages of no event
	Message string
	Refresh int // seconds; 0: only when asked
}

// frame begins a page of the event that the address names.
func (p *pages) frame(c *fiber.Ctx, heading string) frame {
	return p.frameOf(c.Params("event"), heading)
}

func (p *pages) frameOf(event, heading string) frame {
	f := frame{Title: heading + " – Waitroom", Heading: heading, Event: event}
	if line, ok := p.api.Lines.Line(f.Event); ok {
		f.Sale = line.Sale().Title
		f.Title = heading + " – " + f.Sale
	}
	return f
}

func (p *pages) show(c *fiber.Ctx, name string, data any, cache string) error {
	var b bytes.Buffer
	if err := p.html.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	p.head(c, cache)
	return c.Send(b.Bytes())
}

// everybodys shows a page that reads nothing of who asks, so that a cache may
// keep it. It stands for a second, as long as it was made from the same.
func (p *pages) everybodys(c *fiber.Ctx, page string, from any, name string, data func(now time.Time) any) error {
	doc, err := p.press.of(page).made(time.Now(), from, func(now time.Time) ([]byte, error) {
		var b bytes.Buffer
		err := p.html.ExecuteTemplate(&b, name, data(now))
		return b.Bytes(), err
	})
	if err != nil {
		return err
	}
	if err := tell(c.Context(), doc, sharedCache); err != nil {
		return err
	}
	p.head(c, sharedCache)
	return nil
}

// head is what every page's answer says of it.
func (p *pages) head(c *fiber.Ctx, cache string) {
	c.Set("Content-Type", "text/html; charset=utf-8")
	c.Set("Cache-Control", cache)
	c.Set("Content-Security-Policy", p.policy)
	c.Set("X-Content-Type-Options", "nosniff")
	c.Set("Referrer-Policy", "same-origin")
}

const personal = "private, no-store"

// squeeze compresses a long page. Never one with a secret in it: its length
// would tell.
func squeeze(c *fiber.Ctx) {
	c.Set("Vary", "Accept-Encoding")
	if takesGzip(c.Request().Header.Peek("Accept-Encoding")) {
		c.Set("Content-Encoding", "gzip")
		c.Response().SetBodyRaw(fasthttp.AppendGzipBytesLevel(nil, c.Response().Body(), fasthttp.CompressBestSpeed))
	}
}

// sorry shows a refusal as a page.
func (p *pages) sorry(c *fiber.Ctx, err error) error {
	var refused *Problem
	if !errors.As(err, &refused) {
		p.api.Log.Error("page failed", "route", c.Route().Path, "error", err)
		refused = problem("internal", "")
	}
	c.Status(refused.Status)
	if refused.RetryAfter > 0 {
		c.Set("Retry-After", strconv.Itoa(seconds(refused.RetryAfter)))
	}
	page := p.frame(c, refused.Title)
	page.Message = helpText(refused)
	return p.show(c, "problem.html", page, personal)
}

func (p *pages) asset(c *fiber.Ctx) error {
	a, ok := p.assets[c.Path()]
	if !ok {
		return problem("no_such_route", "")
	}
	c.Set("Content-Type", a.Type)
	c.Set("Cache-Control", "public, max-age=31536000, immutable")
	c.Set("X-Content-Type-Options", "nosniff")
	c.Set("Vary", "Accept-Encoding")
	if takesGzip(c.Request().Header.Peek("Accept-Encoding")) {
		c.Set("Content-Encoding", "gzip")
		return c.Send(a.Gzip)
	}
	return c.Send(a.Body)
}

func (p *pages) to(c *fiber.Ctx, path string) error {
	c.Set("Cache-Control", personal)
	return c.Redirect("/e/"+c.Params("event")+path, fiber.StatusSeeOther)
}
