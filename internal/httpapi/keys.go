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
	return p, nil
}

// verify answers a gateway that has no library of ours: the pass is good.
func (a *API) verify(context.Context, admission.Pass) (reply, error) { return reply{}, nil }

// jwks is what passes are signed with. A new key stands here before its use.
func (a *API) jwks(c *fiber.Ctx) error {
	body := a.Tokens.Passes.JWKS()
	return shared(c, body, newDocument(body).ETag, "public, max-age=300")
}
