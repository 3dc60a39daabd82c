package httpapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"waitroom/internal/account"
	"waitroom/internal/admission"
)

// Identity is what an event may ask of who joins, beside a secret. Who has a
// live place is asked nothing: what fails later keeps the place.
type Identity struct {
	Accounts *account.Issuer // nil: an event that asks for accounts lets nobody join
	// Codes says how often a code may be used; 0: the event has no such code.
	Codes     func(ctx context.Context, event string, hash [32]byte) (uses int64, err error)
	Suspicion *Suspicion // nil: nobody is suspected

	AccountCookie string // in which pages find the account's token; "": pages cannot
	SignIn        string // where people sign in, for pages

	refusals *prometheus.CounterVec
}

// Count registers what was refused, by route and code.
func (i *Identity) Count(metrics prometheus.Registerer) {
	i.refusals = promauto.With(metrics).NewCounterVec(prometheus.CounterOpts{
		Name: "waitroom_refusals_total", Help: "Joins, and passes of gateways, that were refused, by the problem's code.",
	}, []string{"route", "code"})
}

// refused counts a refusal and lets it through.
func (i *Identity) refused(route string, err error) error {
	var p *Problem
	if errors.As(err, &p) && i.refusals != nil {
		i.refusals.WithLabelValues(route, p.Code).Inc()
	}
	return err
}

// joinAsked is what a join brings of what an event may ask for.
type joinAsked struct {
	Account   string `json:"account"`   // a token of the organiser's sign-in
	Code      string `json:"code"`      // an access code
	Challenge string `json:"challenge"` // a challenge's answer
}

func (q *joinAsked) read(c *fiber.Ctx) error {
	if len(c.BodyRaw()) == 0 {
		return nil
	}
	return jsonBody(c, q)
}

// whose is the holder that joins: the account's where the event asks for one,
// else the secret's. made is the secret of somebody who brought none.
func (a *API) whose(ctx context.Context, sale admission.Sale, r joinRequest) (holder, made string, err error) {
	switch {
	case sale.Accounts:
		holder, err = a.accountHolder(ctx, sale.Event, r.asked.Account)
		return holder, "", err
	case r.secret != "":
		return admission.HolderOf(r.secret), "", nil
	case sale.Codes:
		// Else an answer that is lost would leave the code used by nobody.
		return "", "", problem("bad_request", "where codes are asked for, a join brings its own secret: the code's use is its")
	}
	made = admission.NewSecret()
	return admission.HolderOf(made), made, nil
}

func (a *API) accountHolder(ctx context.Context, event, token string) (string, error) {
	switch {
	case a.Identity.Accounts == nil:
		return "", a.unavailable("join", errors.New("the event asks for accounts, and ACCOUNT_ISSUER is not set"))
	case token == "":
		return "", problem("account_required", "")
	}
	holder, err := a.Identity.Accounts.Holder(ctx, event, token, time.Now())
	var refused account.Refusal
	switch {
	case errors.As(err, &refused):
		return "", problem("account_invalid", refused.Error())
	case err != nil:
		return "", a.unavailable("join", err)
	}
	return holder, nil
}

// coded is the condition of an event that asks for codes. The use is the
// holder's before a number is: a code that is used up uses no number.
func (a *API) coded(line *admission.Line, holder, code string) admission.Condition {
	return func(ctx context.Context) error {
		if code == "" {
			return problem("code_required", "")
		}
		hash, ok := admission.CodeHash(line.Event(), code)
		if !ok {
			return problem("code_wrong", "")
		}
		uses, err := a.Identity.Codes(ctx, line.Event(), hash)
		switch {
		case err != nil:
			return fmt.Errorf("%w: codes: %w", admission.ErrDoubt, err)
		case uses == 0:
			return problem("code_wrong", "")
		}
		return line.UseCode(ctx, holder, hash, uses)
	}
}

// challenged asks somebody suspicious who has no live place to prove that they
// are a person; shown says that they have, now. It asks before the line does
// anything: whoever judges is slow.
func (a *API) challenged(ctx context.Context, line *admission.Line, holder string, r joinRequest) (shown bool, err error) {
	s := a.Identity.Suspicion
	if s == nil {
		return false, nil
	}
	suspicious := s.suspects(ctx, r.seen)
	if r.asked.Challenge != "" {
		if is, err := s.proves(ctx, r.asked.Challenge); is != unproven || err != nil {
			return is == proven, err
		}
	}
	if !suspicious || s.away() {
		return false, nil
	}
	if has, err := line.Holds(ctx, holder); has || err != nil {
		return false, err
	}
	return false, s.challenge()
}

// person is the condition at the door: whoever is suspected there, and has not
// proven themselves yet, is asked to. Their place and their lane wait for them.
func (a *API) person(r *doorRequest) []admission.Condition {
	s := a.Identity.Suspicion
	if s == nil || r.ticket.Proven {
		return nil
	}
	return []admission.Condition{func(ctx context.Context) error {
		if r.challenge != "" {
			is, err := s.proves(ctx, r.challenge)
			if is == proven {
				r.ticket.Proven, r.differs = true, true
			}
			if is != unproven || err != nil {
				return err
			}
		}
		if !s.suspects(ctx, r.seen) || s.away() {
			return nil
		}
		return s.challenge()
	}}
}
