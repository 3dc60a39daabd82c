package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// payment is the row of a captured payment.
type payment struct {
	id      uuid.UUID
	order   uuid.UUID
	counted bool // its money was counted before, and stands where it stands

	// With counted: what was, and where it stands.
	amountMinor int64
	currency    string
	stands      string
}

// payment finds the payment's row and locks it; the caller holds the named order's.
// The provider's name is looked for first; ours serves where the answer that
// carries the provider's was lost, or is behind its notice. Money without
// either row was asked for all the same (its order is ours): it gets one. A row
// that is found may be another order's: the caller has to look.
func (c Capture) payment(ctx context.Context, tx pgx.Tx) (payment, error) {
	var p payment
	err := tx.QueryRow(ctx, `
		SELECT id, order_id, status = 'captured', captured_minor, currency, coalesce(stands, '') FROM payments
		WHERE id = coalesce(
		  (SELECT id FROM payments WHERE provider = $1 AND provider_payment_id = $2),
		  (SELECT id FROM payments WHERE id = $3 AND provider = $1 AND provider_payment_id IS NULL))
		FOR UPDATE`,
		c.Provider, c.ProviderPayment, c.Payment).Scan(&p.id, &p.order, &p.counted, &p.amountMinor, &p.currency, &p.stands)
	if errors.Is(err, pgx.ErrNoRows) {
		return c.newPayment(ctx, tx)
	}
	if err != nil {
		return payment{}, fmt.Errorf("find payment %s: %w", c.ProviderPayment, err)
	}
	return p, nil
}

func (c Capture) newPayment(ctx context.Context, tx pgx.Tx) (payment, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return payment{}, err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency)
		VALUES ($1, $2, $3, $4, 'open', $5, $6)`,
		id, c.Order, c.Provider, c.ProviderPayment, c.AmountMinor, c.Currency)
	if err != nil {
		return payment{}, fmt.Errorf("record payment %s: %w", c.ProviderPayment, err)
	}
	return payment{id: id, order: c.Order}, nil
}

// count records the captured money and where it stands, once and for good. A
// payment that failed or was given up before counts like any other: an earlier
// failure never undoes a success. The currency becomes the captured one. What was
// told of its refunds before the money, also while nobody knew the provider's name
// of it, is due at once; one that is being tried sees the money.
func (c Capture) count(ctx context.Context, tx pgx.Tx, p payment, stands string) error {
	if err := refunds.TakeTurns(ctx, tx, c.Provider, c.ProviderPayment); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `
		WITH due AS (
		  UPDATE provider_notices SET status = 'waiting', next_try_at = now(), done_at = NULL WHERE ctid = ANY (ARRAY(
		    SELECT ctid FROM provider_notices WHERE about = $4 AND about <> '' AND provider = $6 FOR NO KEY UPDATE SKIP LOCKED)))
		UPDATE payments SET status = 'captured', captured_minor = $2, currency = $3,
		  provider_payment_id = $4, stands = $5, captured_at = now(), look_at = NULL
		WHERE id = $1 AND status IN ('opening', 'open', 'failed', 'cancelled')`,
		p.id, c.AmountMinor, c.Currency, c.ProviderPayment, stands, c.Provider)
	if err != nil {
		return fmt.Errorf("count payment %s: %w", c.ProviderPayment, err)
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("count payment %s: its row %s was counted by somebody else", c.ProviderPayment, p.id)
	}
	return errors.Join(foundOut(ctx, tx, PaymentUnknown, p.id.String()), foundOut(ctx, tx, UnknownOrder, c.ProviderPayment))
}

// foundOut resolves what was asked about a payment of which nobody could say
// what became, or whose it is: it was captured, or cannot be any more.
func foundOut(ctx context.Context, tx pgx.Tx, asked Outcome, subject string) error {
	_, err := tx.Exec(ctx, `UPDATE human_list SET resolved_at = now()
		WHERE kind = $1 AND subject = $2 AND resolved_at IS NULL`, asked, subject)
	if err != nil {
		return fmt.Errorf("human list: %s %s: %w", asked, subject, err)
	}
	return nil
}
