package httpapi

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
	"waitroom/web"
)

// looked is a look that is to be set.
type looked struct {
	asked
	look inventory.Look
}

func (a *API) look(ctx context.Context, r asked) (reply, error) {
	l, err := inventory.LookOf(ctx, a.Desk.Pool, r.event)
	if err != nil {
		return reply{}, a.unavailable("look", err)
	}
	return reply{body: l}, nil
}

func (a *API) readLook(c *fiber.Ctx) (looked, error) {
	r, err := a.asks(organiser.LineWrite)(c)
	if err != nil {
		return looked{}, err
	}
	var body struct{ By, Accent, Note *string }
	if err := json.Unmarshal(c.BodyRaw(), &body); err != nil || body.By == nil || body.Accent == nil || body.Note == nil {
		return looked{}, problem("bad_request", "by, accent and note, each a text, which may be empty")
	}
	l := inventory.Look{By: strings.TrimSpace(*body.By), Accent: strings.ToLower(*body.Accent), Note: strings.TrimSpace(*body.Note)}
	if why := senselessLook(l); why != nil {
		return looked{}, why
	}
	return looked{r, l}, nil
}

var hexColour = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// senselessLook names what of a look no page could show.
func senselessLook(l inventory.Look) *Problem {
	switch {
	case utf8.RuneCountInString(l.By) > 80 || !printable(l.By, ""):
		return senseless("by", "at most 80 characters, on one line")
	case utf8.RuneCountInString(l.Note) > 600 || !printable(l.Note, "\n"):
		return senseless("note", "at most 600 characters")
	case l.Accent != "" && !hexColour.MatchString(l.Accent):
		return senseless("accent", "a colour as #rrggbb, or empty")
	case l.Accent != "" && !web.Accent(l.Accent).Visible():
		return senseless("accent", "a colour that stands out on white by 3 to 1")
	}
	return nil
}

func printable(text, but string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(but, r) })
}

func (a *API) setLook(ctx context.Context, r looked) (reply, error) {
	if err := inventory.SetLook(ctx, a.Desk.Pool, r.event, r.look, r.key.Name); err != nil {
		return reply{}, a.unavailable("look", err)
	}
	return reply{body: r.look}, nil
}
