// Package refunds owns the ledger of operations: each refund that we owe or
// were asked for is one row, written in the transaction of the fact that causes
// it. The row's id names what it refunds, its bytes never change, and its id is
// the provider's idempotency key: asked any number of times, the money goes
// back once. Nothing here sends.
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

// Operation is the refund of one payment of one order, in full.
type Operation struct {
	Install string // which installation of ours
	Event   string
	Order   uuid.UUID
	Payment uuid.UUID
	Reason  Reason

	ProviderPayment string // the provider's name of the payment
	AmountMinor     int64
	// ProviderAmount is the same amount in the unit that the provider counts
	// the currency in.
	ProviderAmount int64
	Currency       string
}

// ID names the operation by what it refunds. It is the provider's key.
func (o Operation) ID() string { return "refund:" + o.Order.String() + ":" + o.Payment.String() }

// request is the body that every send of this operation will carry. Its keys
// are sorted: the same operation is the same bytes.
func (o Operation) request() []byte {
	return []byte(url.Values{
		"payment_intent":      {o.ProviderPayment},
		"amount":              {strconv.FormatInt(o.ProviderAmount, 10)},
		"metadata[operation]": {o.ID()},
		"metadata[install]":   {o.Install},
		"metadata[event]":     {o.Event},
		"metadata[order]":     {o.Order.String()},
		"metadata[payment]":   {o.Payment.String()},
	}.Encode())
}

// Owe queues the operation, once: inserted is false when it is in the ledger
// already, and then nothing changes. The caller holds the locks of the order
// and of the payment, whose captured money must cover everything refunded and
// pending: the payment's own CHECK refuses what would not.
func Owe(ctx context.Context, tx pgx.Tx, o Operation) (inserted bool, err error) {
	tag, err := tx.Exec(ctx, `
		WITH owed AS (
		  INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request)
		  VALUES ($1, $2, $3, $4, $5, $6, $7)
		  ON CONFLICT (id) DO NOTHING
		  RETURNING payment_id, amount_minor)
		UPDATE payments p SET refund_pending_minor = p.refund_pending_minor + owed.amount_minor
		FROM owed WHERE p.id = owed.payment_id`,
		o.ID(), o.Order, o.Payment, o.Reason, o.AmountMinor, o.Currency, o.request())
	if err != nil {
		return false, fmt.Errorf("owe %s: %w", o.ID(), err)
	}
	return tag.RowsAffected() == 1, nil
}
