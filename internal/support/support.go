// Package support owns what people ask of refunds: the asking itself, the
// approval of what is more than a key may ask alone, and the human list. It
// sends nothing. What it accepts is an operation of internal/refunds, named by
// what it refunds, so that asking twice is asking once; what it does not know
// it calls unknown, and never failed.
package support

import (
	"time"

	"github.com/google/uuid"

	"waitroom/internal/refunds"
)

// Desk is how an installation answers who asks.
type Desk struct {
	Install string // as it stands in the provider's metadata
	// LimitMinor is what may be asked to go back of one order without a
	// person's word, where its event says nothing.
	LimitMinor int64
	// StartsPerS is what the outlet can start at most.
	StartsPerS float64
	// ProviderAmount tells an amount in the unit that the provider counts in.
	ProviderAmount func(minor int64, currency string) (int64, error)
	// Answered, unless nil, hears of each answer.
	Answered func(Answer)
}

// Word is how the refund of a line stands, to whoever asked for it.
type Word string

// The words. None of them asks to be sent again.
const (
	Confirmed     Word = "confirmed"
	Queued        Word = "queued"         // accepted, and its turn comes
	Sending       Word = "sending"        // with the provider, who has not said yes or no
	Unknown       Word = "unknown"        // sent, and nobody knows yet: we find out
	NeedsApproval Word = "needs_approval" // a person decides; nothing is sent before
	Refused       Word = "refused"        // known: nothing goes back by this asking
)

// Reason is why a refund is refused, or why a person is asked. A reason never
// gets another meaning.
type Reason string

// The reasons of refusals that nothing was done for.
const (
	NoSuchOrder     Reason = "no_such_order" // or another organiser's, or another customer's
	NoSuchLine      Reason = "no_such_line"
	OrderNotPaid    Reason = "order_not_paid"
	NothingToRefund Reason = "nothing_to_refund" // the line cost nothing
	AlreadyRefunded Reason = "already_refunded"  // the money has gone back otherwise
	ApprovalRefused Reason = "approval_refused"  // a person said no
	RefundsBehind   Reason = "refunds_behind"    // it could not be kept in the time that is promised
	AttemptReused   Reason = "key_reused"        // the attempt was another asking
)

// The reasons of operations that ended without the money's going back. A person
// has each of them before them.
const (
	ProviderRefused Reason = "provider_refused"
	DidNotArrive    Reason = "did_not_arrive"
)

// Why a person is asked first.
const (
	OverLimit      Reason = "over_limit"
	RefundedByHand Reason = "refunded_by_hand" // part of the payment went back by nobody of ours
)

// WithAPerson: everything that can be tried was, and a person finds out.
const WithAPerson Reason = "with_a_person"

// Answer is what became of an asking, or how a refund stands.
type Answer struct {
	Word        Word
	Reason      Reason // "" where the word says all
	Line        string // the seat's guid; "" for all of a payment
	AmountMinor int64
	Currency    string
	Standing    *refunds.Standing // nil: there is no operation
	Approval    int64             // 0: nobody is asked
	RetryAfter  time.Duration     // of RefundsBehind
}

// standingAnswer is what an operation's state means to who asks for it.
func standingAnswer(line string, s refunds.Standing) Answer {
	a := Answer{Line: line, AmountMinor: s.AmountMinor, Currency: s.Currency, Standing: &s}
	switch s.Status {
	case refunds.Confirmed:
		a.Word = Confirmed
	case refunds.Queued:
		a.Word = Queued
	case refunds.Submitted, refunds.Pending:
		a.Word = Sending
	case refunds.Manual:
		a.Word, a.Reason = Unknown, WithAPerson
	case refunds.RejectedFor:
		a.Word, a.Reason = Refused, ProviderRefused
		if s.Contradicted { // never told as failed while it may not have
			a.Word, a.Reason = Unknown, WithAPerson
		}
	case refunds.FailedLater:
		a.Word, a.Reason = Refused, DidNotArrive
	default:
		a.Word = Unknown
	}
	return a
}

// Wanted asks for the refund of one line of an order, for its customer. It has
// no amount: that is the line's.
type Wanted struct {
	Organiser string // whose key asks
	Order     uuid.UUID
	Line      string // the seat's guid
	Customer  string // the order's account, or its holder
	By        string // who asks, for the evidence
	// MayApprove: after a no, whoever may say yes may bring it up again, by an
	// attempt of a new name; somebody else has to say it.
	MayApprove bool
	// Attempt names the asking: the same again, however late, brings nothing up.
	// "": it cannot be told from one that was made before the no, and brings nothing
	// up either.
	Attempt string
}

func refused(r Reason) Answer { return Answer{Word: Refused, Reason: r} }
