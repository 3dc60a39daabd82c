package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// PayTime is how long an order is held at least from when its buyer goes on to
// pay; 0: that was done already, or the event gives no more time for it.
func PayTime(ctx context.Context, pool *pgxpool.Pool, order uuid.UUID) (more time.Duration, err error) {
	err = pool.QueryRow(ctx, `
		SELECT CASE WHEN o.extended_at IS NULL THEN e.pay_extension ELSE '0' END
		FROM orders o JOIN events e ON e.id = o.event_id WHERE o.id = $1`, order).Scan(&more)
	if err != nil {
		return 0, fmt.Errorf("pay time of order %s: %w", order, err)
	}
	return more, nil
}
