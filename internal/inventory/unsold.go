package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// AttemptName is what an attempt is known by.
type AttemptName struct{ Account, Key string }

// Unsold is what an event's general admission has at one instant.
type Unsold struct {
	At time.Time // by the database's clock
	// Free is the units of each tier that a claim could get: a claim ends overdue
	// orders itself, so what they hold counts too.
	Free   map[string]int
	Orders []AttemptName // of those asked for, and of all since then
}

// CountUnsold counts the units of an event's tiers, and says in the same snapshot
// which of these attempts have an order, of any state, and which orders were made
// since (zero: those asked for alone).
func CountUnsold(ctx context.Context, pool *pgxpool.Pool, event string, since time.Time, asked []AttemptName) (n Unsold, err error) {
	accounts, keys := apart(asked)
	after := &since
	if since.IsZero() {
		after = nil
	}
	var b pgx.Batch
	b.Queue(`
		SELECT s.price_tier, count(*) FILTER (WHERE s.order_id IS NULL AND NOT s.held_back
		  OR s.withdrawn_at IS NULL AND s.order_id IN (SELECT id FROM orders
		    WHERE event_id = $1 AND status = 'pending' AND ended_at IS NULL AND pay_by <= now()))
		FROM seats s WHERE s.event_id = $1 AND s.kind = 'general'
		GROUP BY s.price_tier`, event).Query(n.tiers)
	b.Queue(`
		SELECT o.account, o.attempt FROM unnest($2::text[], $3::text[]) AS a (account, attempt)
		JOIN orders o ON o.event_id = $1 AND o.account = a.account AND o.attempt = a.attempt
		UNION
		SELECT account, attempt FROM orders WHERE event_id = $1 AND created_at >= $4`,
		event, accounts, keys, after).Query(func(rows pgx.Rows) (err error) {
		n.Orders, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AttemptName])
		return err
	})
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return Unsold{}, fmt.Errorf("count what is unsold of %s: %w", event, err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // nothing was changed
	if err := tx.QueryRow(ctx, `SELECT now()`).Scan(&n.At); err != nil {
		return Unsold{}, fmt.Errorf("count what is unsold of %s: %w", event, err)
	}
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return Unsold{}, fmt.Errorf("count what is unsold of %s: %w", event, err)
	}
	return n, nil
}

// FindAttempts says which of these attempts have an order, of any state.
func FindAttempts(ctx context.Context, pool *pgxpool.Pool, event string, asked []AttemptName) ([]AttemptName, error) {
	accounts, keys := apart(asked)
	rows, _ := pool.Query(ctx, `
		SELECT o.account, o.attempt FROM unnest($2::text[], $3::text[]) AS a (account, attempt)
		JOIN orders o ON o.event_id = $1 AND o.account = a.account AND o.attempt = a.attempt`, event, accounts, keys)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[AttemptName])
	if err != nil {
		return nil, fmt.Errorf("find attempts of %s: %w", event, err)
	}
	return found, nil
}

func apart(asked []AttemptName) (accounts, keys []string) {
	for _, a := range asked {
		accounts, keys = append(accounts, a.Account), append(keys, a.Key)
	}
	return accounts, keys
}

func (n *Unsold) tiers(rows pgx.Rows) error {
	n.Free = map[string]int{}
	var tier string
	var free int
	_, err := pgx.ForEachRow(rows, []any{&tier, &free}, func() error {
		n.Free[tier] = free
		return nil
	})
	return err
}
