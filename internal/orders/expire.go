package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
)

// ExpireDue ends every pending order whose time to pay is over, most at a time
// in one transaction, and says how many it ended. Any number of expirers may be
// at work; an order ends once, and one that was paid in the meantime is left.
func ExpireDue(ctx context.Context, pool *pgxpool.Pool, most int) (ended int, err error) {
	for {
		due, err := inventory.Lapsed(ctx, pool, most)
		if err != nil || len(due) == 0 {
			return ended, err
		}
		n, err := expire(ctx, pool, due)
		ended += n
		if err != nil {
			return ended, err
		}
	}
}

// expire ends a batch. One order that cannot be ended must not keep the others'
// seats: a batch that fails over a row is tried in halves, until that one
// stands alone. Any other failure is tried again by whoever calls next.
func expire(ctx context.Context, pool *pgxpool.Pool, due []uuid.UUID) (n int, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		ended, err := inventory.End(ctx, tx, due, inventory.Expired)
		n = len(ended)
		return err
	})
	if err == nil {
		return n, nil
	}
	if len(due) == 1 || !aboutRows(err) {
		return 0, fmt.Errorf("expire %d orders from %s on: %w", len(due), due[0], err)
	}
	half := len(due) / 2
	a, errA := expire(ctx, pool, due[:half])
	b, errB := expire(ctx, pool, due[half:])
	return a + b, errors.Join(errA, errB)
}

// aboutRows reports whether the database refused what a row would have become:
// a data exception or a broken constraint.
func aboutRows(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (strings.HasPrefix(refused.Code, "22") || strings.HasPrefix(refused.Code, "23"))
}

// Overdue is how long the longest overdue pending order is overdue; 0 if none is.
func Overdue(ctx context.Context, pool *pgxpool.Pool) (time.Duration, error) {
	var seconds float64
	err := pool.QueryRow(ctx, `
		SELECT greatest(0, coalesce(extract(epoch FROM now() - min(pay_by)), 0))::float8
		FROM orders WHERE status = 'pending' AND ended_at IS NULL`).Scan(&seconds)
	if err != nil {
		return 0, fmt.Errorf("overdue orders: %w", err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
