package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
	"waitroom/internal/notice"
	"waitroom/internal/refunds"
)

// Outcome is what became of a provider notice. Outcomes are written into the
// inbox as they stand here.
type Outcome string

// What money can do to an order.
const (
	Paid          Outcome = "paid"
	Reclaimed     Outcome = "reclaimed"      // too late, and the same seats were still free: it is paid after all
	AlreadyPaid   Outcome = "already_paid"   // by this very payment: a repeat
	PaidTwice     Outcome = "paid_twice"     // by another payment: this one goes back
	PaidTooLate   Outcome = "paid_too_late"  // the order had ended: it goes back
	WrongAmount   Outcome = "wrong_amount"   // a person decides
	WrongCurrency Outcome = "wrong_currency" // a person decides
	WrongOrder    Outcome = "wrong_order"    // the payment is another order's: a person decides
	UnknownOrder  Outcome = "unknown_order"  // nothing was changed
)

// Capture is money that the provider says it took. It is above zero.
type Capture struct {
	Provider        string
	ProviderPayment string // the provider's name of the payment
	Install         string // which installation of ours asked for it
	Order           uuid.UUID
	Payment         uuid.UUID // our name of it; Nil where the provider was not told one
	AmountMinor     int64
	ProviderAmount  int64  // the same, in the unit that the provider counts in
	Currency        string // three capital letters
}

// Pay takes money for an order: it is paid, or the money's way back (or to a
// person) is laid down in the same transaction. Money that was counted before
// changes nothing, and gets the answer that it got.
//
// A paid order holds exactly the seats of its lines: a pending one does, and
// whatever ends it has to pass the same guard, so only one of the two happens.
// One that has expired may take them again, where its event wants that.
func Pay(ctx context.Context, tx pgx.Tx, c Capture) (Outcome, error) {
	mayReclaim, err := inventory.LockToReclaim(ctx, tx, c.Order)
	if err != nil {
		return "", err
	}
	o, err := lock(ctx, tx, c.Order)
	if errors.Is(err, pgx.ErrNoRows) {
		return UnknownOrder, nil
	}
	if err != nil {
		return "", err
	}
	p, err := c.payment(ctx, tx)
	if err != nil {
		return "", err
	}
	switch {
	case p.counted:
		return again(ctx, tx, o, p, c)
	case p.order != o.id:
		return WrongOrder, misnamed(ctx, tx, o, p, c)
	}
	var version int64
	err = tx.QueryRow(ctx, `
		UPDATE orders SET status = 'paid', payment_id = $2, paid_at = now(), version = version + 1
		WHERE id = $1 AND status = 'pending' AND amount_minor = $3 AND currency = $4
		RETURNING version`, o.id, p.id, c.AmountMinor, c.Currency).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return divert(ctx, tx, o, p, c, mayReclaim)
	case err != nil:
		return "", fmt.Errorf("pay order %s: %w", o.id, err)
	}
	return Paid, settlePaid(ctx, tx, o, p, c, version)
}

// settlePaid counts the money on its order and tells of it. The order's other
// payments, if any may still succeed, are to be cancelled before they do.
func settlePaid(ctx context.Context, tx pgx.Tx, o order, p payment, c Capture, version int64) error {
	if err := c.count(ctx, tx, p, "on_order"); err != nil {
		return err
	}
	if err := lookNow(ctx, tx, o.id); err != nil {
		return err
	}
	return notice.Write(ctx, tx, notice.Notice{
		Kind: "order.paid", Event: o.event, Subject: o.id.String(), Version: version,
		Body: paidBody{o.id, p.id, o.seats, o.amountMinor, o.currency},
	})
}

type paidBody struct {
	Order       uuid.UUID `json:"order"`
	Payment     uuid.UUID `json:"payment"`
	Seats       int       `json:"seats"`
	AmountMinor int64     `json:"amount_minor"`
	Currency    string    `json:"currency"`
}

// again answers money that was counted before. Under another order's name than
// the first time, or in another amount, it moves nothing: it lies where it was put,
// and a person is told. So does money that a person has, whatever is said of it now.
func again(ctx context.Context, tx pgx.Tx, o order, p payment, c Capture) (Outcome, error) {
	switch {
	case p.order == o.id && p.stands == "human":
		return p.withPerson(o), nil
	case p.order == o.id && (c.AmountMinor != p.amountMinor || c.Currency != p.currency):
		return c.differs(ctx, tx, o, p)
	case p.order == o.id:
		return why(o, p, c)
	}
	return WrongOrder, list(ctx, tx, WrongOrder, c.ProviderPayment, &o.id, &p.id, fmt.Sprintf(
		"%s now says that %s pays this order; its money was counted for order %s", c.Provider, c.ProviderPayment, p.order))
}

// differs tells a person that what was counted is told of otherwise now.
func (c Capture) differs(ctx context.Context, tx pgx.Tx, o order, p payment) (Outcome, error) {
	outcome := WrongAmount
	if c.Currency != p.currency {
		outcome = WrongCurrency
	}
	return outcome, list(ctx, tx, outcome, c.ProviderPayment, &o.id, &p.id, fmt.Sprintf(
		"%s now says that it captured %d %s by %s; %d %s were counted", c.Provider, c.AmountMinor, c.Currency, c.ProviderPayment, p.amountMinor, p.currency))
}

// withPerson is why the payment's money went to a person, read off what was
// counted: a later telling may say otherwise, and moves nothing.
func (p payment) withPerson(o order) Outcome {
	switch {
	case o.currency != p.currency:
		return WrongCurrency
	case o.amountMinor != p.amountMinor:
		return WrongAmount
	}
	return WrongOrder
}

// misnamed takes money that is told of under another order's name than its
// payment was opened for. Which of the two the buyer meant is not for us to say:
// neither is paid, and a person has the money.
func misnamed(ctx context.Context, tx pgx.Tx, o order, p payment, c Capture) error {
	if err := c.count(ctx, tx, p, "human"); err != nil {
		return err
	}
	return list(ctx, tx, WrongOrder, c.ProviderPayment, &o.id, &p.id, fmt.Sprintf(
		"%s captured %d %s by %s for this order; that payment was opened for order %s", c.Provider, c.AmountMinor, c.Currency, c.ProviderPayment, p.order))
}

// why reads the order that the guarded update refused. It was locked before
// the update, so what was read then is what the update saw.
func why(o order, p payment, c Capture) (Outcome, error) {
	switch {
	case o.currency != c.Currency:
		return WrongCurrency, nil
	case o.amountMinor != c.AmountMinor:
		return WrongAmount, nil
	case o.status == "paid" && o.payment == p.id:
		return AlreadyPaid, nil
	case o.status == "paid":
		return PaidTwice, nil
	case o.status == "expired" || o.status == "cancelled":
		return PaidTooLate, nil
	}
	return "", fmt.Errorf("order %s is %s and was not paid by %s", o.id, o.status, c.ProviderPayment)
}

// divert sends money that the order does not take where it belongs. What comes
// too late for an order that has expired may take its seats again; an order that
// was given back stays so: nobody wants it.
func divert(ctx context.Context, tx pgx.Tx, o order, p payment, c Capture, mayReclaim bool) (Outcome, error) {
	outcome, err := why(o, p, c)
	if err != nil {
		return "", err
	}
	if outcome == PaidTooLate && mayReclaim {
		version, err := inventory.Reclaim(ctx, tx, o.id, p.id)
		if err != nil {
			return "", err
		}
		if version > 0 {
			return Reclaimed, settlePaid(ctx, tx, o, p, c, version)
		}
	}
	switch outcome {
	case PaidTwice:
		return outcome, giveBack(ctx, tx, o, p, c, refunds.SecondPayment)
	case PaidTooLate:
		return outcome, giveBack(ctx, tx, o, p, c, refunds.Late)
	case WrongAmount, WrongCurrency:
		return outcome, askPerson(ctx, tx, o, p, c, outcome)
	}
	return "", fmt.Errorf("order %s: %s is not counted, yet %s", o.id, c.ProviderPayment, outcome)
}

func giveBack(ctx context.Context, tx pgx.Tx, o order, p payment, c Capture, reason refunds.Reason) error {
	if err := c.count(ctx, tx, p, "to_refund"); err != nil {
		return err
	}
	op := refunds.Operation{
		Install: c.Install, Event: o.event, Order: o.id, Payment: p.id, Reason: reason,
		ProviderPayment: c.ProviderPayment, AmountMinor: c.AmountMinor,
		ProviderAmount: c.ProviderAmount, Currency: c.Currency,
	}
	inserted, err := refunds.Owe(ctx, tx, op)
	if err != nil || !inserted {
		return err
	}
	return notice.Write(ctx, tx, notice.Notice{
		Kind: "refund.queued", Event: o.event, Subject: op.ID(), Version: 1,
		Body: refundBody{op.ID(), o.id, p.id, reason, op.AmountMinor, op.Currency},
	})
}

type refundBody struct {
	Operation   string         `json:"operation"`
	Order       uuid.UUID      `json:"order"`
	Payment     uuid.UUID      `json:"payment"`
	Reason      refunds.Reason `json:"reason"`
	AmountMinor int64          `json:"amount_minor"`
	Currency    string         `json:"currency"`
}

// askPerson leaves the order as it is: it was not paid, and its seats go back
// when its time is over, whatever is decided about the money.
func askPerson(ctx context.Context, tx pgx.Tx, o order, p payment, c Capture, outcome Outcome) error {
	if err := c.count(ctx, tx, p, "human"); err != nil {
		return err
	}
	detail := fmt.Sprintf("the order is for %d %s, %s captured %d %s",
		o.amountMinor, o.currency, c.Provider, c.AmountMinor, c.Currency)
	return list(ctx, tx, outcome, c.ProviderPayment, &o.id, &p.id, detail)
}
