package stripe

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// object is the union of what we read of payment intents, charges and refunds.
// A pointer is a field that must be there where it counts.
type object struct {
	ID             string            `json:"id"`
	PaymentIntent  string            `json:"payment_intent"`
	Status         string            `json:"status"`
	Amount         *int64            `json:"amount"`
	AmountReceived *int64            `json:"amount_received"`
	AmountRefunded *int64            `json:"amount_refunded"`
	Currency       string            `json:"currency"`
	Metadata       map[string]string `json:"metadata"`
}

func (n Notice) read(effect Effect, raw json.RawMessage) (Notice, error) {
	var meta struct{ Metadata map[string]string }
	if json.Unmarshal(raw, &meta) == nil { // first, so that a foreign object is seen to be foreign
		n.Tags, n.Operation = tagsOf(meta.Metadata), meta.Metadata["operation"]
	}
	n.ProviderPayment = n.ObjectID
	if n.Object != "payment_intent" {
		n.ProviderPayment = intentOf(raw)
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return n, fieldError("data.object", err)
	}
	n.Status, n.Currency = o.Status, strings.ToUpper(o.Currency)
	if n.ProviderPayment == "" { // money that never was a payment of ours
		return n, nil
	}
	if n.Currency == "" {
		return n, &FieldError{"data.object.currency", "a currency"}
	}
	if err := n.amounts(effect, o); err != nil {
		return n, err
	}
	n.Effect = effect
	return n, nil
}

// intentOf is read also of what cannot be read besides, so that a refund of a
// payment of ours is seen to be ours.
func intentOf(raw json.RawMessage) string {
	var about struct {
		PaymentIntent string `json:"payment_intent"`
	}
	_ = json.Unmarshal(raw, &about) // "" then
	return about.PaymentIntent
}

// amounts reads those that the effect hangs on; one that is not there is not 0.
func (n *Notice) amounts(effect Effect, o object) error {
	for _, f := range []struct {
		name   string
		told   *int64
		needed bool
		into   *int64
	}{
		{"amount", o.Amount, true, &n.AmountMinor},
		{"amount_received", o.AmountReceived, effect == PaymentSucceeded, &n.ReceivedMinor},
		{"amount_refunded", o.AmountRefunded, effect == ChargeRefunded, &n.RefundedMinor},
	} {
		if f.told == nil {
			if f.needed {
				return &FieldError{"data.object." + f.name, "a whole number"}
			}
			continue
		}
		minor, err := FromProvider(*f.told, n.Currency)
		switch {
		case *f.told < 0:
			return &FieldError{"data.object." + f.name, "an amount that is not negative"}
		case errors.Is(err, ErrCurrency):
			minor = *f.told // equal to no order's currency, whatever the figure
		case err != nil:
			return &FieldError{"data.object." + f.name, "a whole amount of " + n.Currency}
		}
		*f.into = minor
	}
	return nil
}

func tagsOf(metadata map[string]string) Tags {
	return Tags{
		Install: metadata["install"], Event: metadata["event"],
		Order: metadata["order"], Payment: metadata["payment"],
	}
}

func fieldError(within string, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return &FieldError{within, "a JSON object"}
	}
	field := strings.Trim(within+"."+wrong.Field, ".")
	return &FieldError{field, inWords(wrong.Type.Kind()) + ", not " + wrong.Value}
}

func inWords(k reflect.Kind) string {
	switch k {
	case reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "text"
	}
	return "a JSON object"
}
