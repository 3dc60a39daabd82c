package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// settledWithin bounds the wait for money to come to rest: five refunds start in
// a second, and one in doubt is looked for a few times. What is still open then
// is younger than its promise, which the audit sees.
const settledWithin = 3 * time.Minute

// moneyRests waits until the provider has told everything, and what is owed has
// gone back or is a person's.
func (h *House) moneyRests(ctx context.Context) error {
	pool, err := pg.Open(ctx, h.DatabaseURL, "demo", pg.Limits{Conns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	over := time.NewTimer(settledWithin)
	defer over.Stop()
	for {
		// Told first: what is told then can open nothing that is not seen below.
		untold := h.Provider.Undelivered()
		var open int
		err := pool.QueryRow(ctx, `SELECT count(*) FROM refund_operations
			WHERE status IN ('queued', 'submitted', 'unknown', 'pending')`).Scan(&open)
		if err != nil || open == 0 && untold == 0 && h.Provider.Undelivered() == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-h.failed:
			return err
		case <-over.C:
			if h.Provider.Undelivered() > 0 {
				return errors.New("the provider's notices do not arrive")
			}
			return nil
		case <-again.C:
		}
	}
}

// refunds counts the event's refund operations by where they ended.
func (r *Report) refunds(ctx context.Context, db *pgx.Conn, event string) error {
	rows, err := db.Query(ctx, `
		SELECT f.status, count(*) FROM refund_operations f JOIN orders o ON o.id = f.order_id
		WHERE o.event_id = $1 GROUP BY f.status`, event)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r.RefundsBy = map[string]int64{}
	var status string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
		r.RefundsBy[status] = n
		r.RefundsOwed += n
		return nil
	})
	r.Refunds = r.RefundsBy["confirmed"]
	return err
}
