package payprov

type wireIntent struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	Amount             int64             `json:"amount"`
	AmountCapturable   int64             `json:"amount_capturable"`
	AmountReceived     int64             `json:"amount_received"`
	CanceledAt         *int64            `json:"canceled_at"`
	CancellationReason *string           `json:"cancellation_reason"`
	CaptureMethod      string            `json:"capture_method"`
	ConfirmationMethod string            `json:"confirmation_method"`
	ClientSecret       string            `json:"client_secret"`
	Created            int64             `json:"created"`
	Currency           string            `json:"currency"`
	Description        *string           `json:"description"`
	LastPaymentError   *problem          `json:"last_payment_error"`
	LatestCharge       *string           `json:"latest_charge"`
	Livemode           bool              `json:"livemode"`
	Metadata           map[string]string `json:"metadata"`
	NextAction         *nextAction       `json:"next_action"`
	PaymentMethod      *string           `json:"payment_method"`
	PaymentMethodTypes []string          `json:"payment_method_types"`
	Status             string            `json:"status"`
}

type nextAction struct {
	Type     string   `json:"type"`
	Redirect redirect `json:"redirect_to_url"`
}

type redirect struct {
	ReturnURL string `json:"return_url"`
	URL       string `json:"url"`
}

func (in *intent) wire() *wireIntent {
	w := &wireIntent{
		ID: in.id, Object: "payment_intent", Amount: in.amount, AmountReceived: in.captured,
		CaptureMethod: "automatic", ConfirmationMethod: "automatic", ClientSecret: in.secret, Created: in.created.Unix(), Currency: in.currency,
		LastPaymentError: in.failure, Metadata: in.metadata,
		PaymentMethodTypes: []string{orDefault(in.method, "card")}, Status: in.status,
	}
	w.LatestCharge, w.PaymentMethod, w.Description = orNull(in.charge), orNull(in.card), orNull(in.about)
	if in.status == canceled {
		w.CanceledAt, w.CancellationReason = &in.endedAt, &in.endReason
	}
	if in.status == needsAction {
		w.NextAction = &nextAction{"redirect_to_url", redirect{in.returnURL, in.checkout}}
	}
	return w
}

type wireRefund struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	Amount             int64             `json:"amount"`
	BalanceTransaction *string           `json:"balance_transaction"`
	Charge             string            `json:"charge"`
	Created            int64             `json:"created"`
	Currency           string            `json:"currency"`
	FailureTransaction string            `json:"failure_balance_transaction,omitempty"`
	FailureReason      string            `json:"failure_reason,omitempty"`
	Metadata           map[string]string `json:"metadata"`
	PaymentIntent      string            `json:"payment_intent"`
	PendingReason      string            `json:"pending_reason,omitempty"`
	Reason             *string           `json:"reason"`
	ReceiptNumber      *string           `json:"receipt_number"`
	Status             string            `json:"status"`
}

type wireCharge struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	AmountCaptured int64             `json:"amount_captured"`
	AmountRefunded int64             `json:"amount_refunded"`
	Captured       bool              `json:"captured"`
	Created        int64             `json:"created"`
	Currency       string            `json:"currency"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Paid           bool              `json:"paid"`
	PaymentIntent  string            `json:"payment_intent"`
	Refunded       bool              `json:"refunded"`
	Status         string            `json:"status"`
}

func (re *refund) wire() *wireRefund {
	w := &wireRefund{
		ID: re.id, Object: "refund", Amount: re.amount, Charge: re.of.charge, Created: re.created.Unix(),
		Currency: re.of.currency, Metadata: re.metadata, PaymentIntent: re.of.id, Status: re.status, Reason: orNull(re.reason),
		BalanceTransaction: orNull(re.tx), FailureTransaction: re.failureTx, FailureReason: re.failure,
	}
	if re.status == pending {
		w.PendingReason = "processing"
	}
	return w
}

// wireCharge is the intent's one charge, with the intent's metadata as it was.
func (in *intent) wireCharge() *wireCharge {
	return &wireCharge{
		ID: in.charge, Object: "charge", Amount: in.amount, AmountCaptured: in.captured, AmountRefunded: in.refunded,
		Captured: true, Created: in.chargedAt.Unix(), Currency: in.currency, Metadata: in.metadata,
		Paid: true, PaymentIntent: in.id, Refunded: in.refunded == in.captured, Status: succeeded,
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
