package httpapi

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

func (a *API) readAnyPass(c *fiber.Ctx) (admission.Pass, error) {
	token := bearer(c)
	if token == "" {
		return admission.Pass{}, problem("token_missing", "")
	}
	p, err := a.Tokens.Passes.Read(token, time.Now())
	if err != nil {
		return admission.Pass{}, passRefused(err)
	}
	return p, a.stands(p, c.Query("event"))
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

// verify answers a gateway that has no library of ours: the pass is good.
func (a *API) verify(context.Context, admission.Pass) (reply, error) { return reply{}, nil }

// jwks is what passes are signed with. A new key stands here before its use.
func (a *API) jwks(c *fiber.Ctx) error {
	body := a.Tokens.Passes.JWKS()
	return shared(c, body, newDocument(body).ETag, "public, max-age=300")
}
