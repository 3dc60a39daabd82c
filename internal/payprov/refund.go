package payprov

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

type refund struct {
	header
	of        *intent
	key       string
	amount    int64
	status    string
	reason    string
	failure   string
	tx        string // in the account's balance
	failureTx string // which took it back

	due              time.Time // when it becomes what is to come then
	then, reasonThen string
}

func (p *Provider) createRefund(r *http.Request) answer {
	if bad := onlyKnown(r, "payment_intent", "amount", "metadata", "reason"); bad != nil {
		return *bad
	}
	in, reason := p.book.intent[r.PostForm.Get("payment_intent")], r.PostForm.Get("reason")
	if in == nil {
		return noSuch("payment_intent", "payment_intent", r.PostForm.Get("payment_intent"))
	}
	if reason != "" && !slices.Contains([]string{"duplicate", "fraudulent", "requested_by_customer"}, reason) {
		return invalid(http.StatusBadRequest, "", "reason", "Invalid reason: %s", reason)
	}
	metadata, bad := metadataOf(r)
	if bad != nil {
		return *bad
	}
	left := in.captured - in.refunded
	amount := left
	if r.PostForm.Has("amount") {
		if amount, bad = amountOf(r); bad != nil {
			return *bad
		}
	}
	if no := refundable(in, amount, left); no != nil {
		return *no
	}
	if len(p.book.refunds) >= p.cfg.Objects {
		return busy("This stand-in holds as many refunds as it can.")
	}
	course := callOf(r).script.Refund
	if course == (Course{}) {
		course = courseOf(in.card)
	}
	re := p.refund(in, amount, reason, metadata, course)
	re.key = keyOf(r)
	return ok(re.wire())
}

// refundable is nil when amount can be taken from what is left of in.
func refundable(in *intent, amount, left int64) *answer {
	e := problem{Type: "invalid_request_error"}
	switch {
	case in.status != succeeded:
		e.Code = "payment_intent_unexpected_state"
		e.Message = "This PaymentIntent (" + in.id + ") does not have a successful charge to refund."
	case left == 0:
		e.Code = "charge_already_refunded"
		e.Message = "Charge " + in.charge + " has already been refunded."
	case amount > left:
		e.Param = "amount"
		e.Message = "Refund amount (" + money(amount, in.currency) +
			") is greater than unrefunded amount on charge (" + money(left, in.currency) + ")"
	default:
		return nil
	}
	a := refusal(http.StatusBadRequest, e)
	return &a
}

func (p *Provider) refund(in *intent, amount int64, reason string, metadata map[string]string, c Course) *refund {
	re := &refund{header: p.book.header("re_", metadata), of: in, tx: newID("txn_"), amount: amount, reason: reason}
	p.begin(re, c)
	p.book.changes++
	in.refunded += amount
	in.refunds = append(in.refunds, re)
	p.book.refunds = append(p.book.refunds, re)
	p.book.refund[re.id] = re
	p.tell("refund.created", re.wire(), nil)
	p.tell("charge.refunded", in.wireCharge(), nil)
	return re
}

// RefundByHand is what somebody does in the provider's own pages: a refund
// that no call asked for and no operation names. 0 is all that is left.
func (p *Provider) RefundByHand(payment string, amount int64) (id string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.book.intent[payment]
	if in == nil {
		return "", fmt.Errorf("payprov: there is no payment %s", payment)
	}
	left := in.captured - in.refunded
	amount = orDefault(amount, left)
	if amount < 0 || refundable(in, amount, left) != nil {
		return "", fmt.Errorf("payprov: %d cannot be refunded of %s (%s), %d are left", amount, payment, in.status, left)
	}
	return p.refund(in, amount, "", map[string]string{}, courseOf(in.card)).id, nil
}

func (p *Provider) retrieveRefund(r *http.Request) answer {
	re := p.book.refund[r.PathValue("id")]
	if re == nil {
		return noSuch("refund", "id", r.PathValue("id"))
	}
	return ok(re.wire())
}

func (p *Provider) listRefunds(r *http.Request) answer {
	if bad := onlyKnown(r, "limit", "starting_after", "payment_intent"); bad != nil {
		return *bad
	}
	all := p.book.refunds
	if id := r.Form.Get("payment_intent"); id != "" {
		in := p.book.intent[id]
		if in == nil {
			return noSuch("payment_intent", "payment_intent", id)
		}
		all = in.refunds
	}
	var after *header
	if id := r.Form.Get("starting_after"); id != "" {
		re := p.book.refund[id]
		if re == nil {
			return noSuch("refund", "starting_after", id)
		}
		after = &re.header
	}
	got, more, bad := page(r, all, after)
	if bad != nil {
		return *bad
	}
	list := wireList[*wireRefund]{Object: "list", URL: "/v1/refunds", HasMore: more, Data: []*wireRefund{}}
	for _, re := range got {
		list.Data = append(list.Data, re.wire())
	}
	return ok(list)
}
