// Package orders owns what happens to an order after its claim: pending, then
// exactly one of paid, expired and cancelled. Each way out is a guarded update
// of the same row, so whichever comes first is the only one; money that comes
// afterwards finds zero rows, and its way back is written in the transaction
// that counted it. Where an event wants that, it takes the seats of an expired
// order again instead, if nobody else has them.
//
// Locks are taken order, seat, payment, as everywhere (the account before them
// where its row may change).
package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// order is what deciding about one needs. All but status and payment never
// change after the claim.
type order struct {
	id          uuid.UUID
	event       string
	status      string
	seats       int
	amountMinor int64
	currency    string
	payment     uuid.UUID // Nil unless paid
}

// lock holds the order's row until the transaction ends; pgx.ErrNoRows if
// there is none.
func lock(ctx context.Context, tx pgx.Tx, id uuid.UUID) (order, error) {
	o := order{id: id}
	var paidBy *uuid.UUID
	err := tx.QueryRow(ctx, `
		SELECT event_id, status, seat_count, amount_minor, currency, payment_id
		FROM orders WHERE id = $1 FOR NO KEY UPDATE`, id).
		Scan(&o.event, &o.status, &o.seats, &o.amountMinor, &o.currency, &paidBy)
	if err != nil {
		return order{}, fmt.Errorf("lock order %s: %w", id, err)
	}
	if paidBy != nil {
		o.payment = *paidBy
	}
	return o, nil
}

// list puts something before a person, once. Rows are resolved there, never
// deleted; told of in other words after that, the same is open again.
func list(ctx context.Context, tx pgx.Tx, kind Outcome, subject string, order, payment *uuid.UUID, detail string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO human_list AS h (kind, subject, order_id, payment_id, detail)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, opened_at = now(), detail = excluded.detail
		WHERE h.resolved_at IS NOT NULL AND h.detail <> excluded.detail`, kind, subject, order, payment, detail)
	if err != nil {
		return fmt.Errorf("human list: %s %s: %w", kind, subject, err)
	}
	return nil
}
