package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"waitroom/internal/outlet"
	"waitroom/internal/refunds"
)

// Refunds makes the calls of refund operations: refunds.Provider. Its client's
// transport has to be the outlet.
type Refunds struct{ Client *Client }

// pageSize is the most that the provider lists at once.
const pageSize = 100

// Call makes one call, which is one send at most.
func (r Refunds) Call(ctx context.Context, c refunds.Call) refunds.Answer {
	want, err := wanted(c)
	if err != nil {
		return refunds.Answer{Outcome: refunds.OtherParameters, Detail: err.Error()}
	}
	got, err := r.send(ctx, c)
	if err != nil {
		return unanswered(got, err)
	}
	a := classify(got, c, want)
	a.HTTP, a.RequestID, a.RetryAfter = got.status, got.requestID, got.retryAfter
	return a
}

func (r Refunds) send(ctx context.Context, c refunds.Call) (reply, error) {
	switch c.Verb {
	case refunds.Create: // the frozen bytes, whatever made them
		return r.Client.sendBytes(ctx, http.MethodPost, "/v1/refunds", c.Operation, string(c.Request))
	case refunds.Retrieve:
		return r.Client.sendBytes(ctx, http.MethodGet, "/v1/refunds/"+url.PathEscape(c.ProviderRefund), "", "")
	case refunds.List:
		q := url.Values{"payment_intent": {c.ProviderPayment}, "limit": {strconv.Itoa(pageSize)}}
		if c.After != "" {
			q.Set("starting_after", c.After)
		}
		return r.Client.sendBytes(ctx, http.MethodGet, "/v1/refunds?"+q.Encode(), "", "")
	}
	return reply{}, fmt.Errorf("%w: no call is named %q", ErrNotSent, c.Verb)
}

// expected is what a refund has to say to be an operation's own.
type expected struct {
	operation string
	payment   string
	amount    int64 // in the provider's unit
	captured  int64 // of the payment, the same; 0 where it cannot be told
	currency  string
	metadata  map[string]string
}

// wanted reads the frozen request: answers are held against what was sent, not
// against what we would send today.
func wanted(c refunds.Call) (expected, error) {
	form, err := url.ParseQuery(string(c.Request))
	if err != nil {
		return expected{}, fmt.Errorf("the frozen request cannot be read: %w", err)
	}
	e := expected{
		operation: c.Operation, payment: form.Get("payment_intent"),
		currency: strings.ToLower(c.Currency), metadata: map[string]string{},
	}
	if e.amount, err = strconv.ParseInt(form.Get("amount"), 10, 64); err != nil {
		return expected{}, fmt.Errorf("the frozen request has no amount: %w", err)
	}
	for name := range form {
		if key, ok := strings.CutPrefix(name, "metadata["); ok {
			e.metadata[strings.TrimSuffix(key, "]")] = form.Get(name)
		}
	}
	if e.metadata["operation"] != c.Operation || e.payment != c.ProviderPayment {
		return expected{}, fmt.Errorf("the frozen request is %s's of %s, not %s's of %s",
			e.metadata["operation"], e.payment, c.Operation, c.ProviderPayment)
	}
	e.captured, _ = ToProvider(c.CapturedMinor, c.Currency)
	return e, nil
}

// is says whether the provider's refund is the expected one, in everything.
func (e expected) is(w wireRefund) bool {
	for key, value := range e.metadata {
		if w.Metadata[key] != value {
			return false
		}
	}
	return strings.HasPrefix(w.ID, "re_") && w.Amount != nil && *w.Amount == e.amount &&
		w.Currency == e.currency && w.PaymentIntent == e.payment
}

// wireRefund is a refund on the wire.
type wireRefund struct {
	object
	Object        string `json:"object"`
	FailureReason string `json:"failure_reason"`
}

// unanswered is a call without an answer that could be read.
func unanswered(r reply, err error) refunds.Answer {
	a := refunds.Answer{Outcome: refunds.CutOff, HTTP: r.status, RequestID: r.requestID, Detail: err.Error()}
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(err, outlet.ErrClosed):
		a.Outcome = refunds.NotStarted
	case errors.Is(err, ErrNotSent):
		a.Outcome = refunds.NotSent
	case errors.As(err, &slow) && slow.Timeout():
		a.Outcome = refunds.TimedOut
	}
	return a
}

func readRefund(raw json.RawMessage) (w wireRefund, ok bool) {
	err := json.Unmarshal(raw, &w)
	return w, err == nil && w.Object == "refund" && w.ID != "" && w.Amount != nil
}
