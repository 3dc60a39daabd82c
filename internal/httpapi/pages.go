package httpapi

import (
	"bytes"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"waitroom/internal/inventory"
	"waitroom/web"
)

// pages are the HTML face of the API: the same functions, by forms and links,
// so that the line works without a script. What a browser carries is in
// cookies of its own that no script reads and no other site's form sends.
type pages struct {
	api    *API
	spoken []*tongue // the first for who asks for none
	assets map[string]web.Asset
	policy string
	press  press
	looks  looks
}

func newPages(a *API) (*pages, error) {
	assets, err := web.Assets()
	if err != nil {
		return nil, err
	}
	spoken, err := tongues(assets, a.Money)
	if err != nil {
		return nil, err
	}
	// Where the pay button leads: also what its answer redirects to counts.
	forms := strings.TrimSpace("'self' " + a.PayOrigins)
	return &pages{api: a, spoken: spoken, assets: assets, policy: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action " + forms}, nil
}

func (p *pages) route(app *fiber.App) {
	app.Get("/assets/look/:name", p.accent)
	app.Get("/assets/:hash/:name", p.asset)
	p.docs(app)
	for _, t := range p.spoken {
		app.Get("/"+strings.TrimPrefix(t.Path, "/"), p.speak(t), p.index)
		at := app.Group("/e/:event"+t.Path, p.speak(t), p.dressed)
		at.Get("", p.event)
		at.Get("/place", p.place)
		at.Get("/draw", p.draw)
		at.Get("/seats", p.seats)
		at.Get("/orders/:order", p.order)
		at.Post("/join", p.sameOrigin, p.join)
		at.Post("/leave", p.sameOrigin, p.leave)
		at.Post("/standby", p.sameOrigin, p.standby)
		at.Post("/pass", p.sameOrigin, p.goIn)
		at.Post("/alive", p.sameOrigin, p.alive)
		at.Post("/claim", p.sameOrigin, p.claim)
		at.Post("/done", p.sameOrigin, p.done)
		at.Post("/orders/:order/cancel", p.sameOrigin, p.cancel)
	}
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
		return p.sorry(c, problem("no_such_route", ""))
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
	Refresh int      // seconds; 0: only when asked
	Path    string   // of its language
	Home    string   // all events, in its language
	At      string   // the event, in its language
	Tongues []sameIn // the same page in every language
	By      string   // the organiser, as they are to be called
	Accent  string   // the stylesheet of their colour; "": ours
}

// sameIn is a page in a language.
type sameIn struct{ Tag, Name, URL string }

// frame begins a page of the event that the address names. page is where it is
// under the event, as a link leads there.
func (p *pages) frame(c *fiber.Ctx, heading, page string) frame {
	return p.frameOf(p.tongue(c), c.Params("event"), heading, page).dressed(lookOf(c))
}

func (p *pages) frameOf(t *tongue, event, heading, page string) frame {
	f := frame{Title: heading + " – Waitroom", Heading: heading, Event: event, Path: t.Path, Home: "/" + strings.TrimPrefix(t.Path, "/"), At: "/e/" + event + t.Path}
	line, ok := p.api.Lines.Line(f.Event)
	if ok {
		f.Sale = line.Sale().Title
		f.Title = heading + " – " + f.Sale
	}
	for _, other := range p.spoken {
		to := sameIn{other.Tag, other.Name, "/" + strings.TrimPrefix(other.Path, "/")}
		if ok {
			to.URL = "/e/" + event + other.Path + page
		}
		f.Tongues = append(f.Tongues, to)
	}
	return f
}

func (f frame) dressed(look inventory.Look) frame {
	f.By = look.By
	if look.Accent != "" {
		f.Accent = "/assets/look/" + strings.TrimPrefix(look.Accent, "#") + ".css"
	}
	return f
}

func (p *pages) show(c *fiber.Ctx, name string, data any, cache string) error {
	var b bytes.Buffer
	if err := p.tongue(c).html.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	p.head(c, cache)
	return c.Send(b.Bytes())
}

// everybodys shows a page that reads nothing of who asks, so that a cache may
// keep it. It stands for a second, as long as it was made from the same.
func (p *pages) everybodys(c *fiber.Ctx, page string, from any, name string, data func(now time.Time) any) error {
	html := p.tongue(c).html
	doc, err := p.press.of(p.tongue(c).Tag+" "+page).made(time.Now(), from, func(now time.Time) ([]byte, error) {
		var b bytes.Buffer
		err := html.ExecuteTemplate(&b, name, data(now))
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
	l := p.tongue(c)
	page := p.frame(c, l.refusal(refused), "")
	page.Message = l.help(refused)
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
	return c.Redirect("/e/"+c.Params("event")+p.tongue(c).Path+path, fiber.StatusSeeOther)
}
