package payprov

import (
	"net/http"
	"time"
)

func ended(in *intent) bool { return in.status == succeeded || in.status == canceled }

func unexpectedState(in *intent, verb string) answer {
	return refusal(http.StatusBadRequest, problem{
		Type: "invalid_request_error", Code: "payment_intent_unexpected_state", PaymentIntent: in.wire(),
		Message: "You cannot " + verb + " this PaymentIntent because it has a status of " + in.status + ".",
	})
}

// pay, decline and cancel are the only three things that happen to an intent;
// each is told. Callers hold the lock and have looked at the state.

func (p *Provider) pay(in *intent) {
	in.status, in.captured, in.failure = succeeded, in.amount, nil
	in.charge, in.chargedAt = newID("ch_"), time.Now()
	p.notices.tell("payment_intent.succeeded", in.wire())
}

func (p *Provider) decline(in *intent) {
	in.status = needsMethod
	in.failure = &problem{
		Type: "card_error", Code: "card_declined", DeclineCode: "generic_decline", Message: "Your card was declined.",
	}
	p.notices.tell("payment_intent.payment_failed", in.wire())
}

func (p *Provider) cancel(in *intent, reason string) {
	in.status, in.endedAt, in.endReason = canceled, time.Now().Unix(), reason
	p.notices.tell("payment_intent.canceled", in.wire())
}
