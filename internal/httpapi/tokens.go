package httpapi

import (
	"errors"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/ticket"
)

// Tokens checks what callers carry. A ticket is a place, a pass is leave to
// buy; both name their holder, whose orders they open.
type Tokens struct {
	Tickets *admission.TicketKeys
	Passes  *admission.PassKeys
	Codes   *ticket.Keys // of sold seats; nil: there are none yet
}

// Holder tells whose ticket or pass a token is, of which event.
func (t Tokens) Holder(token string, now time.Time) (event, holder string, err error) {
	if ticket, err := t.Tickets.Read(token); err == nil {
		return ticket.Event, ticket.Holder(), nil
	}
	pass, err := t.Passes.Read(token, now)
	if err != nil {
		return "", "", err
	}
	return pass.Event, pass.Holder, nil
}

// ticketRefused turns what is wrong with a ticket into its problem. The epoch's
// change is no fault of its holder and has a code of its own.
func ticketRefused(err error) *Problem {
	if errors.Is(err, admission.EpochChanged) {
		return problem("epoch_changed", "")
	}
	return problem("ticket_invalid", err.Error())
}

func passRefused(err error) *Problem {
	if errors.Is(err, admission.EpochChanged) {
		return problem("epoch_changed", "")
	}
	return problem("pass_invalid", err.Error())
}
