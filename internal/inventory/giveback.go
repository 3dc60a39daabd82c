package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/notice"
)

// Return is what became of a line whose refund was confirmed.
type Return string

const (
	Returned       Return = "returned"        // its seat was the order's, and is not any more
	ReturnedBefore Return = "returned_before" // by another refund of the same line
	NotHeld        Return = "not_held"        // the order does not hold it: nothing was changed
)

// LockToGiveBack locks what GiveBack changes, the account first, then the order
// and the seat: whoever may confirm a refund holds them before its payment. A
// refund of a whole payment gives nothing back, and nothing is locked for it.
func LockToGiveBack(ctx context.Context, tx pgx.Tx, operation string) error {
	var b pgx.Batch
	b.Queue(`SELECT FROM buyers b JOIN orders o ON o.event_id = b.event_id AND o.account = b.account
		JOIN refund_operations f ON f.order_id = o.id
		WHERE f.id = $1 AND f.seat_id IS NOT NULL FOR NO KEY UPDATE OF b`, operation)
	b.Queue(`SELECT FROM orders o JOIN refund_operations f ON f.order_id = o.id
		WHERE f.id = $1 AND f.seat_id IS NOT NULL FOR NO KEY UPDATE OF o`, operation)
	b.Queue(`SELECT FROM seats s JOIN refund_operations f ON f.seat_id = s.id
		WHERE f.id = $1 FOR NO KEY UPDATE OF s`, operation)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("lock the line of %s: %w", operation, err)
	}
	return nil
}

// GiveBack takes a refunded line's seat off its paid order, once: the line says
// by which refund, the account may buy again, and the seat is free, or held back
// where it is withdrawn. The line stays, as all lines do. It is the second
// function that frees seats; End is the first, and of whole orders, and GiveAllBack
// the third, by a person's word.
//
// The caller holds the locks (LockToGiveBack) and has confirmed the operation.
func GiveBack(ctx context.Context, tx pgx.Tx, operation string) (Return, error) {
	o, err := takeOff(ctx, tx, `
		  UPDATE order_lines l SET given_back_by = f.id
		  FROM refund_operations f, orders o, seats s
		  WHERE f.id = $1 AND l.order_id = f.order_id AND l.seat_id = f.seat_id AND l.given_back_by IS NULL
		    AND o.id = l.order_id AND o.status = 'paid' AND s.id = l.seat_id AND s.order_id = o.id`, operation)
	if errors.Is(err, pgx.ErrNoRows) {
		return whyNot(ctx, tx, operation)
	}
	if err != nil {
		return "", fmt.Errorf("give back the seat of %s: %w", operation, err)
	}
	return Returned, notice.Write(ctx, tx, notice.Notice{
		Kind: "tickets.returned", Event: o.event, Subject: o.id.String(), Version: o.version,
		Body: struct {
			Order     uuid.UUID `json:"order"`
			Event     string    `json:"event"`
			Cause     string    `json:"cause"`
			Operation string    `json:"operation"`
			Seats     []string  `json:"seats"`
		}{o.id, o.event, "refunded", operation, o.seats},
	})
}

// lightened is a paid order that has fewer seats than before: the guids, in id order.
type lightened struct {
	id      uuid.UUID
	event   string
	version int64
	seats   []string
}

// takeOff takes seats off one paid order: those of the lines that lines, an update of
// order_lines, marks. Without any it is pgx.ErrNoRows; a line without its seat is, as
// in End, a division by zero, and undoes everything.
func takeOff(ctx context.Context, tx pgx.Tx, lines string, about any) (o lightened, err error) {
	var whole int
	err = tx.QueryRow(ctx, `
		WITH lines AS (`+lines+`
		  RETURNING l.order_id, l.seat_id, l.given_back_by
		), back AS (
		  UPDATE seats s SET order_id = NULL, claimed_at = NULL, held_back = s.withdrawn_at IS NOT NULL
		  FROM lines l WHERE s.id = l.seat_id AND s.order_id = l.order_id
		  RETURNING s.id, s.guid
		), changed AS (
		  UPDATE orders o SET given_back = o.given_back + n.seats, version = o.version + 1
		  FROM (SELECT order_id, count(*)::int AS seats FROM lines GROUP BY order_id) n WHERE o.id = n.order_id
		  RETURNING o.id, o.event_id, o.account, o.version, n.seats
		), returned AS (
		  INSERT INTO seat_returns (seat_id, cause, event_id, order_id)
		  SELECT l.seat_id, 'refunded:' || l.given_back_by, c.event_id, c.id FROM lines l JOIN changed c ON c.id = l.order_id
		), counted AS (
		  UPDATE buyers b SET held = b.held - c.seats
		  FROM changed c WHERE b.event_id = c.event_id AND b.account = c.account
		)
		SELECT c.id, c.event_id, c.version, ARRAY(SELECT guid FROM back ORDER BY id), 1 / ((SELECT count(*) FROM back) = c.seats)::int
		FROM changed c`, about).Scan(&o.id, &o.event, &o.version, &o.seats, &whole)
	return o, err
}

// whyNot reads the line that the guarded update refused. It is locked, so what
// is read is what the update saw.
func whyNot(ctx context.Context, tx pgx.Tx, operation string) (why Return, err error) {
	err = tx.QueryRow(ctx, `
		SELECT CASE WHEN l.given_back_by IS NULL THEN $2 ELSE $3 END
		FROM refund_operations f JOIN order_lines l ON l.order_id = f.order_id AND l.seat_id = f.seat_id
		WHERE f.id = $1`, operation, NotHeld, ReturnedBefore).Scan(&why)
	if errors.Is(err, pgx.ErrNoRows) {
		return NotHeld, nil
	}
	if err != nil {
		return "", fmt.Errorf("line of %s: %w", operation, err)
	}
	return why, nil
}
