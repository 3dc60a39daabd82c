package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
)

// Cancelling is what became of a buyer's wish to cancel.
type Cancelling string

// The cancellings.
const (
	Cancelled        Cancelling = "cancelled"
	AlreadyCancelled Cancelling = "already_cancelled"
	CancelledPaid    Cancelling = "paid"    // too late: it is paid
	CancelledExpired Cancelling = "expired" // nothing left to cancel
	NotYours         Cancelling = "no_such_order"
)

// Cancel ends the holder's pending order and gives its seats back. Another
// holder's order is answered like one that does not exist. Payments of it that
// may still succeed are to be cancelled; money that is on its way all the same
// will find it ended, and go back.
func Cancel(ctx context.Context, pool *pgxpool.Pool, order uuid.UUID, holder string) (out Cancelling, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		var theirs bool // whose an order is never changes, so it can be read first
		err := tx.QueryRow(ctx, `SELECT holder = $2 FROM orders WHERE id = $1`, order, holder).Scan(&theirs)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !theirs {
			out = NotYours
			return nil
		}
		if err != nil {
			return err
		}
		ended, err := inventory.End(ctx, tx, []uuid.UUID{order}, inventory.Cancelled)
		if err != nil {
			return err
		}
		if len(ended) == 1 {
			out = Cancelled
			return lookNow(ctx, tx, order)
		}
		out, err = whyNot(ctx, tx, order)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("cancel order %s: %w", order, err)
	}
	return out, nil
}

// whyNot reads the order that End left alone. No pending order is left alone,
// and the other states are final: what is read now is why.
func whyNot(ctx context.Context, tx pgx.Tx, order uuid.UUID) (Cancelling, error) {
	var status string
	if err := tx.QueryRow(ctx, `SELECT status FROM orders WHERE id = $1`, order).Scan(&status); err != nil {
		return "", err
	}
	switch status {
	case "paid":
		return CancelledPaid, nil
	case "expired":
		return CancelledExpired, nil
	case "cancelled":
		return AlreadyCancelled, nil
	}
	return "", fmt.Errorf("it is %s and was not cancelled", status)
}
