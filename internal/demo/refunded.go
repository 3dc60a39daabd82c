package demo

import (
	"context"
	"time"

	"waitroom/internal/pg"
)

// refundsWithin bounds the wait for refunds: five start in a second. What is
// still open then is younger than its promise, which the audit sees.
const refundsWithin = 2 * time.Minute

// refunded waits until what is owed has gone back, and its notices are told.
func (h *House) refunded(ctx context.Context) error {
	pool, err := pg.Open(ctx, h.DatabaseURL, "demo", pg.Limits{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	over := time.NewTimer(refundsWithin)
	defer over.Stop()
	for {
		var open int
		err := pool.QueryRow(ctx, `SELECT count(*) FROM refund_operations
			WHERE status IN ('queued', 'submitted', 'unknown')`).Scan(&open)
		if err != nil || open == 0 && h.Provider.Undelivered() == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return nil
		case <-again.C:
		}
	}
}
