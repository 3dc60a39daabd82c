package support

// Says tells whoever asked what is known, what to do, and what not: for people,
// and for language models, which do what they are told. Nothing here says
// "failed", or "try again", of what may have been done.
func (a Answer) Says() string {
	const never = " Do not ask for another refund of it"
	switch a.Word {
	case Confirmed:
		return "This line has been refunded, once." + never + "."
	case Queued:
		return "The refund is accepted and waits for its turn." + never + ", and do not send it again: it is sent by itself. See how it stands later."
	case Sending:
		return "The refund is with the payment provider, whose word is still to come." + never + ", and do not send it again. See how it stands later."
	case NeedsApproval:
		return "A person has to approve this refund, and nothing is sent before. Do not ask again: it waits. Tell the customer that it is being looked at."
	case Unknown:
		if a.Reason == WithAPerson {
			return "It is not known whether the money went back; a person finds out. Do not send it again. Tell the customer that it is being looked at."
		}
		return "The refund was sent, and it is not known yet whether it was made. Do not send it again: we are finding out. Tell the customer that it is being confirmed."
	}
	return a.Reason.says()
}

func (r Reason) says() string {
	switch r {
	case NoSuchOrder:
		return "There is no such order of this customer."
	case NoSuchLine:
		return "The order has no such line. Nothing was refunded."
	case OrderNotPaid:
		return "The order is not paid. Nothing was refunded."
	case NothingToRefund:
		return "This line cost nothing. Nothing was refunded."
	case AlreadyRefunded:
		return "What was paid for this has gone back already. Nothing more was refunded."
	case ApprovalRefused:
		return "A person decided against this refund. Nothing was refunded, and asking again will not change it; only somebody who may approve refunds can bring it up again, by an asking with an Idempotency-Key of its own."
	case AttemptReused:
		return "This Idempotency-Key was used for another asking. Nothing was refunded."
	case RefundsBehind:
		return "Too many refunds are waiting to keep this one in time. Nothing was accepted; ask again later."
	case ProviderRefused:
		return "The payment provider refused this refund: the money did not go back by it. What follows is a person's to decide. Do not send it again."
	case DidNotArrive:
		return "The refund was made, and the money did not arrive. What follows is a person's to decide. Do not send it again."
	}
	return "Nothing was refunded."
}
