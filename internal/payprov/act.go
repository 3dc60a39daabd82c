package payprov

import "net/http"

func ended(in *intent) bool { return in.status == succeeded || in.status == canceled }

func unexpectedState(in *intent, verb string) answer {
	return refusal(http.StatusBadRequest, problem{
		Type: "invalid_request_error", Code: "payment_intent_unexpected_state", PaymentIntent: in.wire(),
		Message: "You cannot " + verb + " this PaymentIntent because it has a status of " + in.status + ".",
	})
}

// pay, decline and cancel are the only three things that happen to an intent;
// each is told. Callers hold the lock and have looked at the state.

func (p *Provider) pay(in *intent, captured int64) {
	p.book.changes++
	in.status, in.captured, in.failure = succeeded, captured, nil
	in.charge, in.chargedAt = newID("ch_"), p.clock.now()
	p.tell("payment_intent.succeeded", in.wire(), nil)
}

func (p *Provider) decline(in *intent) {
	p.book.changes++
	in.status = needsMethod
	in.failure = &problem{
		Type: "card_error", Code: "card_declined", DeclineCode: "generic_decline", Message: "Your card was declined.",
	}
	p.tell("payment_intent.payment_failed", in.wire(), nil)
}

func (p *Provider) cancel(in *intent, reason string) {
	p.book.changes++
	in.status, in.endedAt, in.endReason = canceled, p.clock.now().Unix(), reason
	p.tell("payment_intent.canceled", in.wire(), nil)
}
