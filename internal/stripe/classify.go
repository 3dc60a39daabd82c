package stripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"waitroom/internal/refunds"
)

// classify is the one table from what the provider answered to what we know. A
// row stands for each thing that an answer can be; nobody else reads a status.
//
//	2xx, this operation's refund, in all we ask   its own status (standing)
//	2xx, a list                                   the same, not_there, next_page, by_hand, differs
//	2xx, by its name, of as much for this line    its own status (standing)
//	2xx, another refund, or none                  differs, unreadable: not confirmed
//	3xx, not followed                             redirected
//	4xx that the provider did not write           unreadable
//	401, 403                                      key_refused
//	409, lock_timeout                             key_in_use
//	429                                           busy
//	idempotency_error                             other_parameters
//	charge_already_refunded                       already_refunded
//	any other 4xx                                 rejected
//	5xx                                           server_error
func classify(r reply, c refunds.Call, want expected) refunds.Answer {
	switch {
	case r.status >= 500:
		return answer(refunds.ServerError, "the provider answered %d", r.status)
	case r.status >= 400:
		return refused(r)
	case r.status >= 300:
		return answer(refunds.Redirected, "the provider answered %d, which is not followed", r.status)
	case r.status != http.StatusOK && r.status != http.StatusCreated:
		return answer(refunds.Unreadable, "the provider answered %d", r.status)
	case c.Verb == refunds.List:
		return listed(r, want)
	}
	w, ok := readRefund(r.body)
	if !ok {
		return answer(refunds.Unreadable, "the provider answered %d and no refund", r.status)
	}
	if c.ByOthers && c.Verb == refunds.Retrieve && w.ID == c.ProviderRefund && want.gaveBack(w) {
		return standing(w)
	}
	if !want.is(w) || c.Verb == refunds.Retrieve && w.ID != c.ProviderRefund {
		return answer(refunds.Differs, "the answer is about another refund (%s, of %d %s of %s)", w.ID, *w.Amount, w.Currency, w.PaymentIntent)
	}
	return standing(w)
}

func answer(o refunds.Outcome, detail string, args ...any) refunds.Answer {
	return refunds.Answer{Outcome: o, Detail: fmt.Sprintf(detail, args...)}
}

// standing is a refund's own status. One that we do not know may still become
// anything: it is on its way.
func standing(w wireRefund) refunds.Answer {
	a := answer(refunds.OnItsWay, "the refund is %s", w.Status)
	switch w.Status {
	case "succeeded":
		a.Outcome = refunds.Succeeded
	case "failed", "canceled":
		a = answer(refunds.Failed, "the refund %s: %s", w.Status, w.FailureReason)
	}
	a.Refund = w.ID
	return a
}

func refused(r reply) refunds.Answer {
	no, err := r.refusal()
	if err != nil {
		return answer(refunds.Unreadable, "%v", err)
	}
	says := answer(refunds.Rejected, "the provider refused: %d %s %s: %s", r.status, no.Refused.Type, no.Refused.Code, no.Refused.Message)
	switch {
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		says.Outcome = refunds.KeyRefused
	case r.status == http.StatusTooManyRequests:
		says.Outcome = refunds.Busy
	case no.Refused.Later():
		says.Outcome = refunds.KeyInUse
	case no.Refused.Ours():
		says.Outcome = refunds.OtherParameters
	case no.Refused.Code == "charge_already_refunded":
		says.Outcome = refunds.AlreadyRefunded
	}
	return says
}

// listed looks for the operation on one page of its payment's refunds.
func listed(r reply, want expected) refunds.Answer {
	var page struct {
		Object  string            `json:"object"`
		Data    []json.RawMessage `json:"data"`
		HasMore bool              `json:"has_more"`
	}
	if err := json.Unmarshal(r.body, &page); err != nil || page.Object != "list" || page.Data == nil {
		return answer(refunds.Unreadable, "the provider answered %d and no list of refunds", r.status)
	}
	var hand, last wireRefund
	var others []refunds.Told
	for _, raw := range page.Data {
		w, ok := readRefund(raw)
		if !ok {
			return answer(refunds.Unreadable, "the list has something that is no refund")
		}
		if w.Metadata["operation"] == want.operation {
			if !want.is(w) {
				return answer(refunds.Differs, "refund %s has our name and is %d %s of %s", w.ID, *w.Amount, w.Currency, w.PaymentIntent)
			}
			return standing(w)
		}
		if want.madeByHand(w) {
			hand = w
		}
		if other, ok := want.other(w); ok {
			others = append(others, other)
		}
		last = w
	}
	switch {
	case page.HasMore && last.ID != "":
		return refunds.Answer{Outcome: refunds.NextPage, After: last.ID, Others: others}
	case hand.ID != "":
		return refunds.Answer{Outcome: refunds.ByHand, Refund: hand.ID, Detail: "somebody refunded all of the payment by hand"}
	}
	a := answer(refunds.NotThere, "none of the payment's refunds is this one; found %s", told(page.Data))
	a.Others = others
	return a
}

// other is a refund of the same payment that did not fail, as its notice tells of it:
// whoever made it may have meant what this operation was to give back.
func (e expected) other(w wireRefund) (refunds.Told, bool) {
	currency := strings.ToUpper(w.Currency)
	minor, err := FromProvider(*w.Amount, currency)
	return refunds.Told{
		ProviderPayment: e.payment, ProviderRefund: w.ID, Operation: w.Metadata["operation"], Status: w.Status, AmountMinor: minor, Currency: currency,
	}, err == nil && w.PaymentIntent == e.payment && w.Status != "failed" && w.Status != "canceled"
}

// madeByHand is a refund of the whole payment that none of our operations
// stands for: what this operation was to give back has arrived by it.
func (e expected) madeByHand(w wireRefund) bool {
	return w.Metadata["operation"] == "" && w.Status == "succeeded" && w.PaymentIntent == e.payment &&
		w.Currency == e.currency && *w.Amount == e.amount && e.amount == e.captured
}

// gaveBack holds for a refund that none of our requests made and that gave back what
// this operation was to: as much, of the same payment, and in no other line's name.
func (e expected) gaveBack(w wireRefund) bool {
	line := func(operation string) string { stem, _, _ := strings.Cut(operation, "#"); return stem }
	of := w.Metadata["operation"]
	return w.PaymentIntent == e.payment && w.Currency == e.currency && *w.Amount == e.amount && (of == "" || line(of) == line(e.operation))
}

func told(data []json.RawMessage) string {
	if len(data) == 0 {
		return "none"
	}
	var all []string
	for _, raw := range data[:min(len(data), 5)] {
		if w, ok := readRefund(raw); ok {
			all = append(all, fmt.Sprintf("%s %d %s", w.ID, *w.Amount, w.Status))
		}
	}
	return strings.Join(all, ", ")
}
