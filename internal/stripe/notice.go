package stripe

import (
	"encoding/json"
	"fmt"
	"time"
)

// Effect is what a notice may do to us. Allow-list: a kind that is not named
// here does nothing, whatever it says.
type Effect uint8

// The effects.
const (
	NoEffect         Effect = iota
	PaymentSucceeded        // ReceivedMinor was captured
	PaymentFailed           // this try failed; the same payment may still succeed
	PaymentCancelled        // it cannot succeed any more
	ChargeRefunded          // RefundedMinor is the sum refunded of the payment so far
	RefundChanged           // one refund of AmountMinor has a (new) Status
)

// Tags are our own names, written into the metadata of what we create. Empty
// on what others created on the same account.
type Tags struct {
	Install string // which installation of ours
	Event   string
	Order   string
	Payment string // our payment's id
}

// Notice is one message of the provider. Amounts are in our minor units where
// Exponent knows the currency, else as told.
type Notice struct {
	ID      string
	Kind    string // the provider's type, as told
	Effect  Effect
	Created time.Time

	Object          string // payment_intent, charge, refund, …
	ObjectID        string
	ProviderPayment string // the payment intent that it is about
	Status          string // the object's
	AmountMinor     int64
	ReceivedMinor   int64
	RefundedMinor   int64
	Currency        string // upper case
	Operation       string // metadata.operation, on refunds of ours
	Tags
}

// FieldError names the place in a notice that is not what it must be.
type FieldError struct {
	Field string // data.object.amount; empty for the whole body
	Want  string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return "notice: want " + e.Want
	}
	return fmt.Sprintf("notice: %s: want %s", e.Field, e.Want)
}

// ParseNotice reads a verified body. Unknown kinds, unknown fields, thin (v2)
// notices and objects of another sort than the kind's are notices without
// effect. When a kind that has an effect cannot be read, the error is a
// *FieldError and the notice still carries what could be: with an ID it can be
// kept for a person, with Tags it can be seen to be foreign.
func ParseNotice(body []byte) (Notice, error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return Notice{}, fieldError("", err)
	}
	n := Notice{ID: e.ID, Kind: e.Type, Created: e.created()}
	if e.ID == "" || len(e.ID) > 255 {
		return Notice{Kind: e.Type}, &FieldError{"id", "1 to 255 characters"}
	}
	if e.Type == "" {
		return n, &FieldError{"type", "the notice's kind"}
	}
	raw := e.about()
	var head struct{ ID, Object string }
	_ = json.Unmarshal(raw, &head) // of a kind unknown to us it may be anything
	n.Object, n.ObjectID = head.Object, head.ID
	sort, effect := meaning(e.Type)
	if e.Object != "event" || effect == NoEffect || head.Object != sort {
		return n, nil
	}
	return n.read(effect, raw)
}

// meaning is the table of kinds: the object that each is about, and its effect.
func meaning(kind string) (object string, effect Effect) {
	switch kind {
	case "payment_intent.succeeded":
		return "payment_intent", PaymentSucceeded
	case "payment_intent.payment_failed":
		return "payment_intent", PaymentFailed
	case "payment_intent.canceled":
		return "payment_intent", PaymentCancelled
	case "charge.refunded":
		return "charge", ChargeRefunded
	case "refund.created", "refund.updated", "refund.failed", "charge.refund.updated":
		return "refund", RefundChanged
	}
	return "", NoEffect
}

type envelope struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Type    string          `json:"type"`
	Created json.RawMessage `json:"created"` // Unix seconds; a thin notice tells a time in text
	Data    json.RawMessage `json:"data"`
}

// about is the object that the notice tells of; nil in a thin one.
func (e envelope) about() json.RawMessage {
	var data struct{ Object json.RawMessage }
	_ = json.Unmarshal(e.Data, &data)
	return data.Object
}

func (e envelope) created() time.Time {
	var seconds int64
	if json.Unmarshal(e.Created, &seconds) == nil {
		return time.Unix(seconds, 0).UTC()
	}
	var at time.Time
	_ = json.Unmarshal(e.Created, &at) // unknown, then
	return at.UTC()
}
