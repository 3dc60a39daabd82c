package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Open are the operations that have no end, the oldest first; or those of one
// status, the latest first.
func Open(ctx context.Context, db reader, of Status, most int) ([]Standing, error) {
	rows, err := db.Query(ctx, standing+`
		WHERE CASE WHEN $1 = '' THEN f.ended_at IS NULL ELSE f.status = $1 END
		ORDER BY CASE WHEN $1 = '' THEN extract(epoch FROM f.accepted_at) ELSE -extract(epoch FROM f.accepted_at) END, f.id LIMIT $2`, of, most)
	if err != nil {
		return nil, fmt.Errorf("refunds: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Standing])
}

// StandingOf is how the refunds of an order stand, the newest of each: what it is
// told who is owed them.
func StandingOf(ctx context.Context, db reader, order uuid.UUID) ([]Standing, error) {
	rows, err := db.Query(ctx, standing+`
		JOIN payments p ON p.id = f.payment_id
		WHERE p.order_id = $1 AND NOT EXISTS (SELECT FROM refund_operations n WHERE n.parent = f.id)
		ORDER BY f.accepted_at, f.id`, order)
	if err != nil {
		return nil, fmt.Errorf("refunds of order %s: %w", order, err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Standing])
}

// Past is one line of an operation's history: a move, a call, or what a person
// did.
type Past struct {
	At   time.Time
	By   string
	What string
}

// History is all that happened to an operation, in order.
func History(ctx context.Context, db reader, id string) ([]Past, error) {
	rows, err := db.Query(ctx, `
		SELECT at, by, concat_ws(' ', coalesce(from_status || ' →', ''), to_status, nullif('(' || outcome || ')', '()')) FROM refund_changes WHERE operation = $1
		UNION ALL
		SELECT coalesce(started_at, submitted_at), 'outlet', format('call %s: %s, %s: %s%s', id, kind, verb, coalesce(outcome, 'under way'),
		  coalesce(' ' || http_status, '') || coalesce(' ' || request_id, '')) FROM refund_calls WHERE operation = $1
		UNION ALL
		SELECT n.at, n.by, concat_ws(': ', n.did || ' ' || h.kind, nullif(n.note, '')) FROM human_notes n JOIN human_list h ON h.id = n.item WHERE h.operation = $1
		ORDER BY 1`, id)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", id, err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Past])
}
