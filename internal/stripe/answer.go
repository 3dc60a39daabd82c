package stripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is what the provider said; exactly one of the two is set.
type Answer struct {
	Intent  *Intent
	Refused *Refused
}

// Intent is a payment as the provider has it. Amounts are in our minor units.
type Intent struct {
	ID            string
	Status        string // Succeeded, Cancelled, or one in which it may still become either
	AmountMinor   int64
	ReceivedMinor int64
	Currency      string
	CheckoutURL   string // the provider's own page, where there is one
	ClientSecret  string // for the provider's form in our page; never logged
	Tags
}

// The two ends of an intent, in the provider's words.
const (
	Succeeded = "succeeded"
	Cancelled = "canceled"
)

// Refused is a definite no: what was asked for did not happen.
type Refused struct {
	HTTP       int
	Type       string // card_error, invalid_request_error, idempotency_error, …
	Code       string // card_declined, payment_intent_unexpected_state, …
	Message    string // for operators, not for buyers
	Status     string // of the intent that it is about, where the provider says it
	RetryAfter time.Duration
}

// Later holds where the same key may be sent again after a while: the provider
// was busy, or is busy with this very key.
func (r Refused) Later() bool {
	return r.HTTP == http.StatusTooManyRequests || r.HTTP == http.StatusConflict || r.Code == "lock_timeout"
}

// Ours holds where trying again cannot help before an operator did something:
// the key of the account is not accepted, or one idempotency key was used for
// two different requests.
func (r Refused) Ours() bool {
	return r.HTTP == http.StatusUnauthorized || r.HTTP == http.StatusForbidden ||
		r.keyOfAnother()
}

// UnderWay holds where the same request, or another about the same, is being
// carried out: the provider is well, and the same key gets its answer soon.
func (r Refused) UnderWay() bool {
	return r.HTTP == http.StatusConflict || r.Code == "lock_timeout"
}

func (r Refused) keyOfAnother() bool { return r.Type == "idempotency_error" && !r.Later() }

// intent is a payment intent on the wire.
type intent struct {
	object
	Object       string `json:"object"`
	ClientSecret string `json:"client_secret"`
	NextAction   struct {
		Redirect struct {
			URL string `json:"url"`
		} `json:"redirect_to_url"`
	} `json:"next_action"`
}

// believe turns a reply into an answer. What cannot be read for certain is
// unknown: a 2xx that is not the payment, a redirect, a 5xx, and a 4xx that
// the provider itself did not write.
func (r reply) believe() (Answer, error) {
	if r.status >= 400 && r.status < 500 {
		return r.refusal()
	}
	if r.status >= 500 && r.replayed {
		return Answer{}, fmt.Errorf("%w: %w: status %d", ErrUnknown, ErrKept, r.status)
	}
	if r.status != http.StatusOK && r.status != http.StatusCreated {
		return Answer{}, fmt.Errorf("%w: status %d", ErrUnknown, r.status)
	}
	var w intent
	if err := json.Unmarshal(r.body, &w); err != nil {
		return Answer{}, fmt.Errorf("%w: status %d: %w", ErrUnknown, r.status, err)
	}
	if w.Object != "payment_intent" || w.ID == "" || w.Status == "" || w.Amount == nil || w.AmountReceived == nil {
		return Answer{}, fmt.Errorf("%w: status %d and no payment intent", ErrUnknown, r.status)
	}
	in := Intent{
		ID: w.ID, Status: w.Status, Currency: strings.ToUpper(w.Currency),
		CheckoutURL: w.NextAction.Redirect.URL, ClientSecret: w.ClientSecret, Tags: tagsOf(w.Metadata),
	}
	var err error
	if in.AmountMinor, err = FromProvider(*w.Amount, in.Currency); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if in.ReceivedMinor, err = FromProvider(*w.AmountReceived, in.Currency); err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return Answer{Intent: &in}, nil
}

func (r reply) refusal() (Answer, error) {
	var w struct {
		Error struct {
			Type          string `json:"type"`
			Code          string `json:"code"`
			Message       string `json:"message"`
			PaymentIntent struct {
				Status string `json:"status"`
			} `json:"payment_intent"`
		} `json:"error"`
	}
	if err := json.Unmarshal(r.body, &w); err != nil || w.Error.Type == "" {
		return Answer{}, fmt.Errorf("%w: status %d that is not the provider's", ErrUnknown, r.status)
	}
	return Answer{Refused: &Refused{
		HTTP: r.status, Type: w.Error.Type, Code: w.Error.Code, Message: w.Error.Message,
		Status: w.Error.PaymentIntent.Status, RetryAfter: r.retryAfter,
	}}, nil
}

// retryAfter reads whole seconds, or a date by our clock, at most a day.
func retryAfter(h http.Header, now time.Time) time.Duration {
	told := h.Get("Retry-After")
	seconds, err := strconv.Atoi(told)
	if err != nil {
		at, err := http.ParseTime(told)
		if err != nil {
			return 0
		}
		return min(max(at.Sub(now), 0), 24*time.Hour)
	}
	return time.Duration(min(max(seconds, 0), 86400)) * time.Second
}
