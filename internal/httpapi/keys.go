package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
	"waitroom/internal/document"
)

// A key is published for longer than gateways keep the set before it signs,
// and stays until the last pass that it signed has run out (docs/EDGE.md).
// Gateways go on with the set that they have while we do not answer.
const keysCache = "public, max-age=300, stale-while-revalidate=600, stale-if-error=86400"

// verifiedKept is how long a gateway may take an answer for granted, unless the
// pass ends sooner.
const verifiedKept = 5 * time.Second

func (a *API) readAnyPass(c *fiber.Ctx) (admission.Pass, error) {
	event := c.Query("event")
	if event == "" && c.Context().QueryArgs().Has("event") {
		return admission.Pass{}, problem("bad_request", "event: names none; a gateway that means any leaves it out")
	}
	p, err := a.passFor(event, carried(c, event))
	return p, a.Identity.refused("verify", err)
}

func (a *API) passFor(event, token string) (admission.Pass, error) {
	if token == "" {
		return admission.Pass{}, problem("token_missing", "")
	}
	p, err := a.Tokens.Passes.Read(token, time.Now())
	if err != nil {
		return admission.Pass{}, passRefused(err)
	}
	return p, a.stands(p, event)
}

// carried is the pass that a request brings: an API client's bearer, else the
// cookie that our pages keep for that event. A bearer is never passed over for
// a cookie: who sends one means it.
func carried(c *fiber.Ctx, event string) string {
	if c.Get("Authorization") != "" || event == "" {
		return bearer(c)
	}
	return c.Cookies(passCookie + "." + event)
}

// stands refuses a pass that is for another event than the gateway's, if it
// names its own, and one from before the event was begun anew. Of an event that
// this process does not serve the signature is all that is known.
func (a *API) stands(p admission.Pass, event string) error {
	line, served := a.Lines.Line(p.Event)
	switch {
	case event != "" && event != p.Event:
		return passRefused(admission.WrongEvent)
	case served && line.Epoch() != p.Epoch:
		return problem("pass_invalid", admission.EpochChanged.Error()) // 401: gateways know no 410
	}
	return nil
}

// verify answers a gateway that has no library of ours: the pass is good, and
// this is whose. The answer is for one pass: nobody keeps it but a gateway that
// does so by the pass itself, for as long as X-Accel-Expires says.
func (a *API) verify(_ context.Context, p admission.Pass) (reply, error) {
	return reply{header: [][2]string{
		{"Waitroom-Event", p.Event},
		{"Waitroom-Holder", p.Holder},
		{"Waitroom-Place", strconv.FormatInt(p.Place, 10)},
		{"Waitroom-Quota", strconv.Itoa(p.Quota)},
		{"Waitroom-Expires", strconv.FormatInt(p.ExpiresAt.Unix(), 10)},
		{"Vary", "Authorization, Cookie"},
		{"X-Accel-Expires", strconv.FormatInt(keepFor(p.ExpiresAt, time.Now()), 10)},
	}}, nil
}

// keepFor is in whole seconds, as nginx counts them: what it keeps for n from
// the middle of a second is good to the end of the nth after that one, which
// has to be before the pass ends. 0: not at all.
func keepFor(ends, now time.Time) int64 {
	return max(0, min(int64(verifiedKept/time.Second), ends.Unix()-now.Unix()-1))
}

// jwks is what passes are signed with. A new key stands here before its use.
func (a *API) jwks(c *fiber.Ctx) error {
	return tell(c.Context(), document.Plain(a.Tokens.Passes.JWKS()), keysCache)
}
