package httpapi

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/inventory"
	"waitroom/web"
)

// looks are how events' pages look, read at most every few seconds for each event.
type looks struct{ by sync.Map }

type keptLook struct {
	mu   sync.Mutex
	at   time.Time
	look inventory.Look
}

// lookFresh is how long a look is believed: nobody waits for another colour.
const lookFresh = 5 * time.Second

// of is an event's look. While it cannot be read it stays as it was, and nobody
// waits for one who reads it.
func (k *looks) of(event string, read func() (inventory.Look, error)) inventory.Look {
	known, _ := k.by.LoadOrStore(event, &keptLook{})
	kept := known.(*keptLook)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if now := time.Now(); now.Sub(kept.at) > lookFresh {
		kept.at = now
		if fresh, err := read(); err == nil {
			kept.look = fresh
		}
	}
	return kept.look
}

// dressed has what follows look as its event does.
func (p *pages) dressed(c *fiber.Ctx) error {
	if _, ok := p.api.Lines.Line(c.Params("event")); !ok {
		return c.Next()
	}
	look := p.looks.of(strings.Clone(c.Params("event")), func() (inventory.Look, error) {
		ctx, cancel := context.WithTimeout(c.UserContext(), time.Second)
		defer cancel()
		return inventory.LookOf(ctx, p.api.Pool, c.Params("event"))
	})
	c.Locals(lookHere{}, look)
	return c.Next()
}

type lookHere struct{}

func lookOf(c *fiber.Ctx) inventory.Look {
	look, _ := c.Locals(lookHere{}).(inventory.Look)
	return look
}

// accent is a stylesheet that is made of nothing but the colour in its name.
func (p *pages) accent(c *fiber.Ctx) error {
	hex, css := strings.CutSuffix(c.Params("name"), ".css")
	if !css || !hexColour.MatchString("#"+hex) {
		return problem("no_such_route", "")
	}
	c.Set("Content-Type", "text/css; charset=utf-8")
	c.Set("Cache-Control", "public, max-age=31536000, immutable")
	c.Set("X-Content-Type-Options", "nosniff")
	return c.SendString(web.Accent("#" + hex).Styles())
}
