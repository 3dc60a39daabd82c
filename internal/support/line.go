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

// money is what of a payment can still go back, and what went back by others.
type money struct{ left, byHand int64 }

// money locks the payment. What the provider told of beyond our own operations
// was refunded by somebody else, for a line that nobody knows. The greatest sum may
// have what was sent in it already, and what failed after it, once a line: what
// is sent anew is sent after the first has failed. Until what was told before the
// money came is heard, which is due at once, nobody knows.
func (l line) money(ctx context.Context, tx pgx.Tx) (m money, err error) {
	var told int64
	var unheard bool
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM provider_notices n
		    WHERE n.about = p.provider_payment_id AND n.about <> '' AND n.provider = p.provider AND n.status = 'waiting'),
		  captured_minor - refunded_minor - refund_pending_minor,
		  told_refunded_minor - (SELECT coalesce(sum(most), 0)::bigint FROM (
		    SELECT max(f.amount_minor) AS most FROM refund_operations f
		    WHERE f.payment_id = p.id AND (f.status IN ('confirmed', 'failed_later') OR f.ended_at IS NULL AND f.sends > 0)
		    GROUP BY split_part(f.id, '#', 1)) sent)
		FROM payments p WHERE p.id = $1 FOR NO KEY UPDATE`, l.payment).Scan(&unheard, &m.left, &told)
	if unheard {
		err = errors.New("what was told of its refunds is not heard yet")
	}
	if err != nil {
		return m, fmt.Errorf("money of order %s: %w", l.order, err)
	}
	var failed int64
	err = tx.QueryRow(ctx, `
		SELECT coalesce(sum(r.amount_minor) FILTER (WHERE r.status <> 'failed'), 0)::bigint,
		  coalesce(sum(r.amount_minor) FILTER (WHERE r.status = 'failed'), 0)::bigint
		FROM provider_refunds r JOIN payments p ON p.id = r.payment_id
		WHERE r.payment_id = $1 AND r.operation IS NULL
		  AND r.currency = p.currency AND r.amount_minor <= p.captured_minor -- else it is a person's, and counts as nothing
		  AND NOT EXISTS (SELECT FROM refund_operations f WHERE f.provider_refund_id = r.id AND f.payment_id = r.payment_id)`,
		l.payment).Scan(&m.byHand, &failed)
	if err != nil {
		return m, fmt.Errorf("money of order %s: %w", l.order, err)
	}
	m.byHand = max(m.byHand, told-failed)
	m.left -= m.byHand
	return m, nil
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
