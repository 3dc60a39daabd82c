package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// giveUp ends a payment that the provider will not have, and says what is to be
// told: an order that has ended meanwhile is no order to try again for. What became of
// it is known then, and no person's question any more.
func giveUp(ctx context.Context, pool *pgxpool.Pool, order, id uuid.UUID) (Opening, error) {
	var status string
	var inTime bool
	err := pool.QueryRow(ctx, `
		WITH given_up AS (
		  UPDATE payments SET status = 'failed', look_at = NULL WHERE id = $2 AND status = 'opening' RETURNING id
		), known AS (
		  UPDATE human_list h SET resolved_at = now() FROM given_up g WHERE h.kind = $3 AND h.subject = g.id::text AND h.resolved_at IS NULL)
		SELECT status, pay_by > now() FROM orders WHERE id = $1`, order, id, PaymentUnknown).Scan(&status, &inTime)
	if err != nil {
		return "", fmt.Errorf("give up payment %s: %w", id, err)
	}
	if is := openingOf(status, inTime); is != Opened {
		return is, nil
	}
	return Refused, nil
}

// lose writes down that the provider will never answer for a payment: its buyer
// begins another, and it is searched for, because the provider may have it.
func lose(ctx context.Context, pool *pgxpool.Pool, order, id uuid.UUID) (Opening, error) {
	var status string
	var inTime bool
	err := pool.QueryRow(ctx, `
		WITH lost AS (
		  UPDATE payments SET lost_at = now(), look_at = least(look_at, now() + $3::interval)
		  WHERE id = $2 AND status = 'opening' AND lost_at IS NULL)
		SELECT status, pay_by > now() FROM orders WHERE id = $1`, order, id, searchAfter).Scan(&status, &inTime)
	if err != nil {
		return "", fmt.Errorf("lose payment %s: %w", id, err)
	}
	if is := openingOf(status, inTime); is != Opened {
		return is, nil
	}
	return Refused, nil
}
