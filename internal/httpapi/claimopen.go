package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
	"waitroom/internal/gate"
	"waitroom/internal/inventory"
)

// openQuota bounds nothing that the account's limit does not: there is no pass.
const openQuota = 10_000

// openView is the state of who holds a ticket of an event that has no line.
const openView admission.View = "open"

// holds answers who joins an event that has no line: a ticket, which is good for
// claims and orders and is no place. Nothing is written down.
func (a *API) holds(line *admission.Line, sale admission.Sale, holder, made string) (reply, error) {
	t := admission.Ticket{Event: sale.Event, Epoch: line.Epoch(), IssuedAt: time.Now()}
	if _, err := hex.Decode(t.Hash[:], []byte(holder)); err != nil {
		return reply{}, err
	}
	first := int64(0)
	return reply{status: fiber.StatusCreated, body: joinedBody{
		Place:  placeBody{t.Event, t.Epoch, &first, 0, openView, t.IssuedAt.UTC()},
		Ticket: a.Tokens.Tickets.Sign(t), Secret: made,
	}}, nil
}

// sells refuses what an event without a line does not sell now. What is not known of
// it closes.
func (a *API) sells(sale admission.Sale, now time.Time) error {
	switch {
	case sale.Sells(now) && (sale.Gate == string(inventory.GateOff) || sale.Gate == string(inventory.GateOn) && a.Gate != nil):
		return nil
	case !sale.Known(now):
		return a.unavailable("claim", errors.New("the event's settings are not known"))
	case sale.Control == admission.Close, !sale.ClosesAt.IsZero() && !now.Before(sale.ClosesAt):
		return problem("sale_closed", "")
	case now.Before(sale.OpensAt):
		return problem("sale_not_open", "It opens at "+sale.OpensAt.UTC().Format(time.RFC3339)+".")
	case sale.Control == admission.Pause:
		return salePaused()
	}
	return a.unavailable("claim", errors.New("the event's gate is "+sale.Gate+", and this process has none (REDIS_URL)"))
}

func salePaused() *Problem {
	return problem("unavailable", "The sale is paused.").after(5 * time.Second)
}

// claimOpen is the claim of an event that has no line: by a ticket, through the gate
// where it has one. The account's limit is all that one may buy.
func (a *API) claimOpen(ctx context.Context, line *admission.Line, hall *Hall, r claimRequest) (reply, error) {
	sale := line.Sale()
	ticket, err := a.Tokens.Tickets.Check(r.token, r.event, sale.Epoch)
	if err != nil {
		return reply{}, ticketRefused(err)
	}
	if err := a.sells(sale, time.Now()); err != nil {
		return reply{}, err
	}
	holder := ticket.Holder()
	attempt, err := hall.attempt(r, admission.Pass{Holder: holder, Epoch: sale.Epoch, Quota: openQuota})
	if err != nil {
		return reply{}, err
	}
	asked, cancel := r.waits(ctx)
	defer cancel()
	var at gate.Decision
	if sale.Gate == string(inventory.GateOn) {
		if at = a.Gate.Decide(asked, gated(attempt)); !at.Lets() {
			return a.early(r, hall, at)
		}
	}
	answer, err := a.Claim(asked, attempt)
	a.settle(ctx, at, answer, err)
	if err != nil {
		return a.unanswered(r, asked, err)
	}
	return a.answered(ctx, hall, r, holder, answer)
}

// gated is the attempt as the gate takes it.
func gated(at inventory.Attempt) gate.Attempt {
	return gate.Attempt{
		Event: at.Event, Epoch: at.Epoch, Name: gate.Name{Account: at.Account, Key: at.Key},
		Tier: at.Tier, Units: at.Quantity, Seats: at.Seats, Coded: at.Code != nil,
	}
}

// early is the gate's no, in the words that Postgres's would have.
func (a *API) early(r claimRequest, hall *Hall, at gate.Decision) (reply, error) {
	switch at.Outcome {
	case gate.SoldOut:
		return reply{}, problem("sold_out", "").with("left", at.Left)
	case gate.Taken:
		return reply{}, problem("seats_taken", "").with("taken", hall.names(r.wish.Seats, at.Taken))
	}
	return reply{}, problem("busy", "")
}

// settle gives back what the gate counted for an attempt that Postgres refused for
// certain, or that has its seats already. What is not certain is the gate's next turn's.
func (a *API) settle(ctx context.Context, at gate.Decision, answer inventory.Answer, err error) {
	switch {
	case errors.Is(err, inventory.ErrBusy), errors.Is(err, inventory.ErrFailed), errors.Is(err, inventory.ErrBadAttempt):
	case err != nil, answer.Outcome == inventory.Claimed, answer.Outcome == inventory.Unknown:
		return
	}
	var others []int64
	if answer.Outcome == inventory.Taken {
		others = answer.Taken // of code_needed these are nobody's
	}
	if a.Gate != nil {
		a.Gate.GiveBack(ctx, at, others)
	}
}
