package refunds

import (
	"context"
	"time"
)

// Provider makes one call, which is one send at most, and says what came of
// it. It never decides what to do next.
type Provider interface {
	Call(ctx context.Context, c Call) Answer
}

// Verb is what a call asks of the provider.
type Verb string

// The verbs. Only Create can move money.
const (
	Create   Verb = "create"
	List     Verb = "list"     // one page of a payment's refunds
	Retrieve Verb = "retrieve" // one refund, by the provider's name
)

// Call is one call of an operation: what the provider is asked, and nothing
// else. The operation's id is the idempotency key of Create, and what a look
// matches in metadata.operation.
type Call struct {
	Verb            Verb
	Operation       string
	ProviderPayment string
	ProviderRefund  string // of Retrieve
	After           string // of List: the last refund of the page before
	Request         []byte // the frozen bytes: what Create sends, and what answers are held against
	AmountMinor     int64
	CapturedMinor   int64 // of the payment
	Currency        string
	ByOthers        bool // of Retrieve: the refund is one that none of our requests made
}

// Outcome is what a call came to. The provider's words are classified once, in
// internal/stripe.
type Outcome string

// What can be known after a call.
const (
	// The refund is there, and is this operation's in id, amount, currency,
	// payment and metadata.
	Succeeded Outcome = "succeeded"
	OnItsWay  Outcome = "on_its_way" // it may still fail, also days later
	Failed    Outcome = "failed"

	// A look's. NotThere is not "not refunded".
	NotThere Outcome = "not_there"
	NextPage Outcome = "next_page" // not on this page, and there is another
	ByHand   Outcome = "by_hand"   // not there, and one refund of others gave all of the payment back
	Differs  Outcome = "differs"   // there under our name, and another amount, currency or payment

	// Nothing happened, and the same key may be sent again later.
	Busy     Outcome = "busy"       // 429
	KeyInUse Outcome = "key_in_use" // 409: a send of this key is under way
	NotSent  Outcome = "not_sent"   // no byte left us

	// Nothing happened, and sending again would not help.
	Rejected        Outcome = "rejected"
	AlreadyRefunded Outcome = "already_refunded" // by whom, a look tells
	OtherParameters Outcome = "other_parameters" // this key was used for another request: our bug
	KeyRefused      Outcome = "key_refused"      // 401, 403: no call can succeed

	// Anything may have happened.
	TimedOut    Outcome = "timed_out"
	CutOff      Outcome = "cut_off"
	ServerError Outcome = "server_error" // 5xx
	Redirected  Outcome = "redirected"   // 3xx, which is not followed
	Unreadable  Outcome = "unreadable"   // 2xx, or a refusal, that cannot be believed

	// A person found the refund at the provider: no call's.
	PersonFound Outcome = "person_found"

	// The call was given up before it started: the outlet is not ours any more.
	NotStarted Outcome = "not_started"
	// Its process ended before its answer was written down.
	Lost Outcome = "lost"
)

// unknown holds where the money may have gone and may not.
func (o Outcome) unknown() bool {
	switch o {
	case TimedOut, CutOff, ServerError, Redirected, Unreadable, Differs, Lost:
		return true
	}
	return false
}

// confirms holds where the money is back.
func (o Outcome) confirms() bool { return o == Succeeded || o == ByHand }

// later holds where nothing happened and the same key can be sent again.
func (o Outcome) later() bool { return o == Busy || o == KeyInUse || o == NotSent }

// Answer is what a call came to.
type Answer struct {
	Outcome    Outcome
	HTTP       int    // 0: no status came
	RequestID  string // the provider's
	RetryAfter time.Duration
	Refund     string // the provider's name of the refund that it is about
	After      string // with NextPage: where it begins
	Others     []Told // of a look that did not find it: what stands of the payment on that page, all the same
	Detail     string // for a person
}
