package httpapi

import (
	"html/template"

	"github.com/gofiber/fiber/v2"

	"waitroom/web"
)

// tongue is a language and the pages as it says them. It is part of the address,
// after the event: so every language has its own document in a cache, that needs
// no Vary and no cookie, and a place's cookies go with all of them.
type tongue struct {
	*web.Language
	html *template.Template
}

func tongues(assets map[string]web.Asset, money func(int64, string) string) (all []*tongue, err error) {
	languages, err := web.Languages()
	if err != nil {
		return nil, err
	}
	for _, l := range languages {
		html, err := web.Pages(l, assets, money)
		if err != nil {
			return nil, err
		}
		all = append(all, &tongue{l, html})
	}
	return all, nil
}

type spokenHere struct{}

// speak makes t the language of what follows.
func (p *pages) speak(t *tongue) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Locals(spokenHere{}, t)
		return c.Next()
	}
}

// tongue is the language that is spoken here: where nobody said, the first.
func (p *pages) tongue(c *fiber.Ctx) *tongue {
	if t, ok := c.Locals(spokenHere{}).(*tongue); ok {
		return t
	}
	return p.spoken[0]
}

// keepTongue notes the language of what is somebody's own.
func (p *pages) keepTongue(c *fiber.Ctx) {
	if here := p.tongue(c).Path; here != cookie(c, tongueCookie) {
		p.keep(c, tongueCookie, here, cookieLife)
	}
}

// wayBack is where a buyer belongs who comes from the provider, which knows no
// languages; "": here.
func (p *pages) wayBack(c *fiber.Ctx) string {
	if p.tongue(c).Path != "" || c.Query("redirect_status") == "" && c.Query("pay") == "" {
		return ""
	}
	for _, t := range p.spoken[1:] {
		if t.Path == cookie(c, tongueCookie) {
			return "/e/" + c.Params("event") + t.Path + "/orders/" + c.Params("order") + "?" + string(c.Request().URI().QueryString())
		}
	}
	return ""
}
