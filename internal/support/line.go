package support

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/refunds"
)

// line is one line of an order whose row is locked.
type line struct {
	order       uuid.UUID
	guid        string
	seat        *int64 // nil: the order has no such line
	payment     *uuid.UUID
	amountMinor int64
	currency    string
	customer    bool  // it is the customer's who is named
	limitMinor  int64 // the event's
}

// lockLine locks the order; pgx.ErrNoRows if that organiser has none. Whoever
// asks for a line, approves one or ends the order takes turns.
func (d Desk) lockLine(ctx context.Context, tx pgx.Tx, w Wanted) (line, error) {
	l := line{order: w.Order, guid: w.Line}
	var account, holder string
	err := tx.QueryRow(ctx, `
		SELECT o.account, o.holder, o.payment_id, o.currency, coalesce(e.refund_limit_minor, $4), l.seat_id, coalesce(l.amount_minor, 0)
		FROM orders o JOIN events e ON e.id = o.event_id
		LEFT JOIN (order_lines l JOIN seats s ON s.id = l.seat_id AND s.guid = $3) ON l.order_id = o.id
		WHERE o.id = $1 AND e.organiser = $2 FOR NO KEY UPDATE OF o`, w.Order, w.Organiser, w.Line, d.LimitMinor).
		Scan(&account, &holder, &l.payment, &l.currency, &l.limitMinor, &l.seat, &l.amountMinor)
	if err != nil {
		return l, err
	}
	l.customer = w.Customer == account || w.Customer == holder
	return l, nil
}

// operation is the newest of the line; nil: there is none.
func (l line) operation(ctx context.Context, tx pgx.Tx) (*refunds.Standing, error) {
	s, err := refunds.Newest(ctx, tx, refunds.LineID(l.order, *l.seat))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &s, err
}

// asked is what was asked to go back of the order by now, however it stands,
// but for what did not go back.
func (l line) asked(ctx context.Context, tx pgx.Tx) (minor int64, err error) {
	err = tx.QueryRow(ctx, `
		SELECT coalesce(sum(amount_minor), 0)::bigint FROM refund_operations
		WHERE order_id = $1 AND reason = 'requested' AND status NOT IN ('rejected', 'failed_later')`, l.order).Scan(&minor)
	if err != nil {
		return 0, fmt.Errorf("refunds asked of order %s: %w", l.order, err)
	}
	return minor, nil
}
