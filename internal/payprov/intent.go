package payprov

import (
	"net/http"
	"strings"
	"time"
)

// The states of intents and refunds that this stand-in knows, in the
// provider's words.
const (
	needsMethod = "requires_payment_method"
	needsAction = "requires_action"
	succeeded   = "succeeded"
	canceled    = "canceled"

	pending = "pending" // of refunds only
	failed  = "failed"
)

type intent struct {
	header
	status    string
	amount    int64
	captured  int64
	refunded  int64
	currency  string
	secret    string
	charge    string
	chargedAt time.Time
	returnURL string
	checkout  string // the page to go to, while needsAction
	method    string
	card      string
	about     string // description
	foreign   bool   // another application's, on the same account
	failure   *problem
	endedAt   int64
	endReason string
	refunds   []*refund
}

func (p *Provider) createIntent(r *http.Request) answer {
	if bad := onlyKnown(r, "amount", "currency", "metadata", "confirm", "return_url", "payment_method",
		"payment_method_types", "payment_method_data", "automatic_payment_methods", "description", "receipt_email"); bad != nil {
		return *bad
	}
	amount, bad := amountOf(r)
	if bad != nil {
		return *bad
	}
	currency := r.PostForm.Get("currency")
	if len(currency) != 3 || strings.Trim(currency, "abcdefghijklmnopqrstuvwxyz") != "" {
		return invalid(http.StatusBadRequest, "", "currency", "Invalid currency: %s. It is three letters in lower case.", currency)
	}
	metadata, bad := metadataOf(r)
	if bad != nil {
		return *bad
	}
	if len(p.book.intents) >= p.cfg.Objects {
		return busy("This stand-in holds as many payments as it can.")
	}
	in := &intent{header: p.book.header("pi_", metadata), status: needsMethod, amount: amount, currency: currency}
	in.secret = in.id + "_secret_" + newID("")
	in.method, in.about = r.PostForm.Get("payment_method_data[type]"), r.PostForm.Get("description")
	return p.confirm(r, in)
}

// confirm enters in into the book. Confirmed with a card of the provider's
// test set it is decided at once; with a method that has a page, the buyer is
// sent there.
func (p *Provider) confirm(r *http.Request, in *intent) answer {
	card := r.PostForm.Get("payment_method")
	in.card = card
	in.returnURL = r.PostForm.Get("return_url")
	switch {
	case r.PostForm.Get("confirm") != "true":
		p.book.enter(in)
		return ok(in.wire())
	case card == "" && in.method == "":
		return invalid(http.StatusBadRequest, "", "payment_method", "A confirmed PaymentIntent needs a payment method.")
	case card == "" && !isWeb(in.returnURL):
		return invalid(http.StatusBadRequest, "parameter_missing", "return_url", "This payment method needs a return_url.")
	case card == "":
		in.status, in.checkout = needsAction, p.checkoutURL(r, in.id)
		p.book.enter(in)
		return ok(in.wire())
	}
	p.book.enter(in)
	if strings.HasPrefix(card, "pm_card_chargeDeclined") {
		p.decline(in)
		e := *in.failure
		e.PaymentIntent = in.wire()
		return refusal(http.StatusPaymentRequired, e)
	}
	p.pay(in, in.amount)
	return ok(in.wire())
}

func (b *book) enter(in *intent) {
	b.changes++
	b.intents = append(b.intents, in)
	b.intent[in.id] = in
}

func (p *Provider) retrieveIntent(r *http.Request) answer {
	in := p.book.intent[r.PathValue("id")]
	if in == nil {
		return noSuch("payment_intent", "intent", r.PathValue("id"))
	}
	return ok(in.wire())
}

func (p *Provider) listIntents(r *http.Request) answer {
	if bad := onlyKnown(r, "limit", "starting_after"); bad != nil {
		return *bad
	}
	var after *header
	if id := r.Form.Get("starting_after"); id != "" {
		in := p.book.intent[id]
		if in == nil {
			return noSuch("payment_intent", "starting_after", id)
		}
		after = &in.header
	}
	got, more, bad := page(r, p.book.intents, after)
	if bad != nil {
		return *bad
	}
	list := wireList[*wireIntent]{Object: "list", URL: "/v1/payment_intents", HasMore: more, Data: []*wireIntent{}}
	for _, in := range got {
		list.Data = append(list.Data, in.wire())
	}
	return ok(list)
}

func (p *Provider) cancelIntent(r *http.Request) answer {
	if bad := onlyKnown(r, "cancellation_reason"); bad != nil {
		return *bad
	}
	in := p.book.intent[r.PathValue("id")]
	if in == nil {
		return noSuch("payment_intent", "intent", r.PathValue("id"))
	}
	if ended(in) {
		return unexpectedState(in, "cancel")
	}
	p.cancel(in, orDefault(r.PostForm.Get("cancellation_reason"), "requested_by_customer"))
	return ok(in.wire())
}

func noSuch(object, param, id string) answer {
	return invalid(http.StatusNotFound, "resource_missing", param, "No such %s: '%s'", object, id)
}
