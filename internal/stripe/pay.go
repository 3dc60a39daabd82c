package stripe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Payment is what Create asks for. It is all that the request's bytes depend
// on: the same Payment is the same request.
type Payment struct {
	Tags               // Payment is also the key: pay:{id}
	AmountMinor int64  // what the buyer pays
	Currency    string // upper case
	ReturnURL   string // where the provider's page sends the buyer back to; needed with Settings.Method
}

// Create opens a payment. Asked again with the same Payment, within the life
// of the provider's keys (24 h), it answers the same intent, or ErrKept.
func (c *Client) Create(ctx context.Context, p Payment) (Answer, error) {
	amount, err := ToProvider(p.AmountMinor, p.Currency)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if p.Tags.Payment == "" {
		return Answer{}, fmt.Errorf("%w: a payment without an id has no key", ErrNotSent)
	}
	r, err := c.send(ctx, http.MethodPost, "/v1/payment_intents", "pay:"+p.Tags.Payment, c.form(p, amount))
	if err != nil {
		return Answer{}, fmt.Errorf("create payment %s: %w", p.Tags.Payment, err)
	}
	a, err := r.believe()
	if no := a.Refused; no != nil && no.keyOfAnother() {
		a, err = Answer{}, fmt.Errorf("%w: %w: %s", ErrUnknown, ErrKept, no.Message)
	}
	if in := a.Intent; in != nil && (in.AmountMinor != p.AmountMinor || in.Currency != p.Currency || in.Tags != p.Tags) {
		err = fmt.Errorf("%w: the answer is about another payment (%s)", ErrUnknown, in.ID)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("create payment %s: %w", p.Tags.Payment, err)
	}
	return a, nil
}

func (c *Client) form(p Payment, amount int64) url.Values {
	f := url.Values{
		"amount":            {strconv.FormatInt(amount, 10)},
		"currency":          {strings.ToLower(p.Currency)},
		"metadata[install]": {p.Install},
		"metadata[event]":   {p.Event},
		"metadata[order]":   {p.Order},
		"metadata[payment]": {p.Tags.Payment},
	}
	if c.method == "" {
		f.Set("automatic_payment_methods[enabled]", "true")
		return f
	}
	f.Set("confirm", "true")
	f.Set("payment_method_types[0]", c.method)
	f.Set("payment_method_data[type]", c.method)
	f.Set("return_url", p.ReturnURL)
	return f
}

// Retrieve looks at a payment.
func (c *Client) Retrieve(ctx context.Context, id string) (Answer, error) {
	return c.about(ctx, http.MethodGet, id, "", "", nil)
}

// Search finds the payment of these tags, also where its answer never came.
// "" and no error: the provider does not know of it; what was created within the
// last minute or so it may not know of yet.
func (c *Client) Search(ctx context.Context, t Tags) (id string, err error) {
	query := url.Values{"query": {fmt.Sprintf("metadata['payment']:'%s'", t.Payment)}}
	r, err := c.send(ctx, http.MethodGet, "/v1/payment_intents/search?"+query.Encode(), "", nil)
	if err != nil {
		return "", fmt.Errorf("search payment %s: %w", t.Payment, err)
	}
	var found struct {
		Object string `json:"object"`
		Data   []struct {
			ID       string            `json:"id"`
			Metadata map[string]string `json:"metadata"`
		} `json:"data"`
	}
	if err := json.Unmarshal(r.body, &found); r.status != http.StatusOK || err != nil || found.Object != "search_result" {
		return "", fmt.Errorf("search payment %s: %w: status %d and no result of a search", t.Payment, ErrUnknown, r.status)
	}
	for _, in := range found.Data {
		if tagsOf(in.Metadata) == t {
			return in.ID, nil
		}
	}
	return "", nil
}

// Cancel ends a payment that nobody paid, so that it cannot succeed later. A
// payment that did succeed, or was cancelled before, refuses: Refused.Status
// says which. A key's first answer is kept for a day, also a refusal that is not
// true any more: nth tells one cancellation of a payment from the next.
func (c *Client) Cancel(ctx context.Context, id string, nth int) (Answer, error) {
	form := url.Values{"cancellation_reason": {"abandoned"}}
	return c.about(ctx, http.MethodPost, id, "/cancel", "cancel:"+id+":"+strconv.Itoa(nth), form)
}

// about calls on one payment and believes only an answer about that one.
func (c *Client) about(ctx context.Context, method, id, verb, key string, form url.Values) (Answer, error) {
	if !strings.HasPrefix(id, "pi_") || strings.ContainsAny(id, "/?#%") {
		return Answer{}, fmt.Errorf("%w: %q is no payment of the provider", ErrNotSent, id)
	}
	r, err := c.send(ctx, method, "/v1/payment_intents/"+id+verb, key, form)
	if err != nil {
		return Answer{}, fmt.Errorf("payment %s%s: %w", id, verb, err)
	}
	a, err := r.believe()
	if a.Intent != nil && a.Intent.ID != id {
		err = fmt.Errorf("%w: the answer is about %s", ErrUnknown, a.Intent.ID)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("payment %s%s: %w", id, verb, err)
	}
	return a, nil
}
