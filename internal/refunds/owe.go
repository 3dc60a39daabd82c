package refunds

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Reason is why money goes back.
type Reason string

// The reasons that need nobody's asking: we owe these.
const (
	Late          Reason = "late"           // the order had ended when the money came
	SecondPayment Reason = "second_payment" // the order was paid already
)

// Requested is a refund that somebody asked for, of one line of a paid order.
const Requested Reason = "requested"

// Operation is the refund of one payment of one order, in full, or of one line
// of the order that it paid.
type Operation struct {
	Install string // which installation of ours
	Event   string
	Order   uuid.UUID
	Payment uuid.UUID
	Seat    *int64 // the order's line that is refunded; nil: the whole payment
	Reason  Reason

	ProviderPayment string // the provider's name of the payment
	AmountMinor     int64
	// ProviderAmount is the same amount in the unit that the provider counts
	// the currency in.
	ProviderAmount int64
	Currency       string
	BesideMinor    int64 // what went back of the payment by hand, and was not this, by a person's word
}

// ID names the operation by what it refunds. It is the provider's key.
func (o Operation) ID() string {
	if o.Seat != nil {
		return LineID(o.Order, *o.Seat)
	}
	return "refund:" + o.Order.String() + ":" + o.Payment.String()
}

// LineID names the refund of one line of an order.
func LineID(order uuid.UUID, seat int64) string {
	return "refund:" + order.String() + ":" + strconv.FormatInt(seat, 10)
}

// request is the body that every send of this operation will carry. Its keys
// are sorted: the same operation is the same bytes.
func (o Operation) request() []byte {
	v := url.Values{
		"payment_intent":      {o.ProviderPayment},
		"amount":              {strconv.FormatInt(o.ProviderAmount, 10)},
		"metadata[operation]": {o.ID()},
		"metadata[install]":   {o.Install},
		"metadata[event]":     {o.Event},
		"metadata[order]":     {o.Order.String()},
		"metadata[payment]":   {o.Payment.String()},
	}
	if o.Seat != nil {
		v.Set("metadata[line]", strconv.FormatInt(*o.Seat, 10))
	}
	return []byte(v.Encode())
}

// inForm is an operation's id as it stands in a request.
func inForm(id string) string { return "=" + url.QueryEscape(id) + "&" }

// Owe queues the operation, once: inserted is false when it is in the ledger
// already, and then nothing changes. The caller holds the locks of the order
// and of the payment, whose captured money must cover everything refunded and
// pending: the payment's own CHECK refuses what would not.
func Owe(ctx context.Context, tx pgx.Tx, o Operation) (inserted bool, err error) {
	tag, err := tx.Exec(ctx, `
		WITH owed AS (
		  INSERT INTO refund_operations (id, order_id, payment_id, seat_id, reason, amount_minor, currency, request, beside_minor)
		  VALUES ($1, $2, $3, $8, $4, $5, $6, $7, $9)
		  ON CONFLICT (id) DO NOTHING
		  RETURNING payment_id, amount_minor)
		UPDATE payments p SET refund_pending_minor = p.refund_pending_minor + owed.amount_minor
		FROM owed WHERE p.id = owed.payment_id`,
		o.ID(), o.Order, o.Payment, o.Reason, o.AmountMinor, o.Currency, o.request(), o.Seat, o.BesideMinor)
	if err != nil {
		return false, fmt.Errorf("owe %s: %w", o.ID(), err)
	}
	return tag.RowsAffected() == 1, nil
}
