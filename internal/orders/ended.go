package orders

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// EndedPayments counts the payments of an order that it will not be paid by any
// more, also those whose money a person has, and those of which no answer will ever
// come: a buyer's next one needs a name of
// its own, for a name stands for one payment.
func EndedPayments(ctx context.Context, pool *pgxpool.Pool, order uuid.UUID) (n int64, err error) {
	err = pool.QueryRow(ctx, `
		SELECT count(*) FROM payments WHERE order_id = $1
		  AND (status IN ('failed', 'cancelled', 'captured') OR status = 'opening' AND lost_at IS NOT NULL)`, order).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("ended payments of order %s: %w", order, err)
	}
	return n, nil
}
