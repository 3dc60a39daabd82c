package refunds

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
)

// GiveSeatsBack frees the seats of an order whose whole payment was refunded by hand
// at the provider, by a person's word on an item that says so. Nothing of the money
// moves: it is back, and none of our operations made it. Whatever says otherwise was
// faster, or waits for the locks and then finds the lines given back: a refund that is
// asked for, a seat that is moved, the same word once more, a failure that is told.
func GiveSeatsBack(ctx context.Context, tx pgx.Tx, item int64, order, payment uuid.UUID, by, why string) (Verdict, error) {
	if err := as(ctx, tx, by); err != nil {
		return "", err
	}
	if err := inventory.LockToGiveAllBack(ctx, tx, order); err != nil {
		return "", err
	}
	if _, err := tx.Exec(ctx, `SELECT FROM payments WHERE id = $1 FOR NO KEY UPDATE`, payment); err != nil {
		return "", fmt.Errorf("lock payment %s: %w", payment, err)
	}
	if _, err := tx.Exec(ctx, `SELECT FROM human_list WHERE payment_id = $1 ORDER BY id FOR NO KEY UPDATE`, payment); err != nil {
		return "", fmt.Errorf("human list: lock those of %s: %w", payment, err)
	}
	var may bool
	err := tx.QueryRow(ctx, `SELECT kind = $2 AND resolved_at IS NULL AND order_id = $3 AND seats_may_go_back($4) FROM human_list WHERE id = $1`,
		item, madeByHand, order, payment).Scan(&may)
	if err != nil {
		return "", fmt.Errorf("human list: %d: %w", item, err)
	}
	if !may {
		return NotTheirs, nil
	}
	_, err = tx.Exec(ctx, `INSERT INTO human_notes (item, by, did, note) VALUES ($1, $2, 'decided', left('seats given back: ' || $3, 2000))`, item, by, why)
	if err != nil {
		return "", fmt.Errorf("human list: note on %d: %w", item, err)
	}
	if err := inventory.GiveAllBack(ctx, tx, inventory.ByHand{Order: order, Payment: payment, Item: item, By: by, Why: why}); err != nil {
		return "", err
	}
	// Where the payment went back in parts, each is an item, and this answers them all.
	_, err = tx.Exec(ctx, `UPDATE human_list SET resolved_at = now() WHERE payment_id = $1 AND kind = $2 AND resolved_at IS NULL`, payment, madeByHand)
	return Done, wrap("human list: refunds by hand of "+payment.String(), err)
}
