package httpapi

import (
	"context"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

// join gives the browser its place, or asks for what the event asks for first.
// The browser has its secret before a code is used by it: an answer that is lost
// is found again.
func (p *pages) join(c *fiber.Ctx) error {
	if err := p.api.admit(c); err != nil {
		return p.sorry(c, err)
	}
	secret, code := cookie(c, secretCookie), c.FormValue("code")
	if secret == "" {
		secret, code = admission.NewSecret(), ""
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), joinDeadline)
	defer cancel()
	r := joinRequest{
		event: c.Params("event"), secret: secret, ticket: cookie(c, ticketCookie), seen: p.api.Identity.Suspicion.look(c),
		asked: joinAsked{Code: code, Challenge: c.FormValue("challenge")},
	}
	if name := p.api.Identity.AccountCookie; name != "" {
		r.asked.Account = c.Cookies(name)
	}
	out, err := p.api.join(ctx, r)
	if err != nil {
		return p.askFor(c, secret, err)
	}
	joined := out.body.(joinedBody)
	p.keep(c, secretCookie, secret, cookieLife)
	p.keep(c, ticketCookie, joined.Ticket, cookieLife)
	p.keep(c, leftCookie, "", 0)
	if joined.Place.State == openView {
		return p.to(c, "/seats")
	}
	if line, ok := p.api.Lines.Line(c.Params("event")); ok {
		p.keepCame(c, joined.Place.Number, line.Standing().Front)
	}
	return p.to(c, "/place")
}

type askedPage struct {
	frame
	Code                 bool
	SignIn, ChallengeURL string
	To, Button           string // the form's
}

// askFor is the page of somebody who did not bring what the event asks for.
func (p *pages) askFor(c *fiber.Ctx, secret string, err error) error {
	var refused *Problem
	if !errors.As(err, &refused) || !slices.Contains([]string{
		"account_required", "account_invalid", "code_required", "code_wrong", "code_used_up", "challenge_required",
	}, refused.Code) {
		return p.sorry(c, err)
	}
	p.keep(c, secretCookie, secret, cookieLife)
	l := p.tongue(c)
	page := askedPage{frame: p.frame(c, l.refusal(refused), ""), To: "join", Button: l.Say("event.join")}
	switch refused.Code {
	case "account_required", "account_invalid":
		page.SignIn, page.Message = p.api.Identity.SignIn, l.Say("asked.account_help")
	case "challenge_required":
		page.ChallengeURL, _ = refused.Extra["challenge_url"].(string)
		page.Message = l.Say("asked.person_help")
	default:
		page.Code, page.Message = true, l.Say("asked.code_help")
	}
	c.Status(refused.Status)
	return p.show(c, "asked.html", page, personal)
}

// askAtDoor is the page of somebody whose turn it is, and who is suspected.
func (p *pages) askAtDoor(c *fiber.Ctx, refused *Problem) error {
	l := p.tongue(c)
	page := askedPage{frame: p.frame(c, l.refusal(refused), "/place"), To: "pass", Button: l.Say("place.go_in")}
	page.ChallengeURL, _ = refused.Extra["challenge_url"].(string)
	page.Message = l.Say("asked.door_help")
	c.Status(refused.Status)
	return p.show(c, "asked.html", page, personal)
}
