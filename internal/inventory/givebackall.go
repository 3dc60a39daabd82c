package inventory

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/notice"
)

// ByHand is a person's word that the whole payment of a paid order was refunded by
// others, and the item of the human list that they read it in.
type ByHand struct {
	Order, Payment uuid.UUID
	Item           int64
	By, Why        string
}

// LockToGiveAllBack locks what GiveAllBack changes, as LockToGiveBack does: the
// account, the order and its seats, all before the payment.
func LockToGiveAllBack(ctx context.Context, tx pgx.Tx, order uuid.UUID) error {
	var b pgx.Batch
	lockAccounts(&b, nil, []uuid.UUID{order})
	b.Queue(`SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE`, order)
	b.Queue(`SELECT FROM seats WHERE order_id = $1 ORDER BY id FOR NO KEY UPDATE`, order)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return fmt.Errorf("lock the lines of order %s: %w", order, err)
	}
	return nil
}

// GiveAllBack takes all seats that a paid order still has off it, by a person's word:
// what GiveBack does for one line whose refund was confirmed. It is the third function
// that frees seats.
//
// The caller holds the locks (LockToGiveAllBack) and the payment's, and has seen that
// the seats may go back (seats_may_go_back): the database refuses what may not.
func GiveAllBack(ctx context.Context, tx pgx.Tx, h ByHand) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO seats_back_by_hand (id, order_id, seat_id, payment_id, item, by, why)
		SELECT 'by_hand:' || l.order_id || ':' || l.seat_id, l.order_id, l.seat_id, $2, $3, $4, left($5, 2000)
		FROM order_lines l WHERE l.order_id = $1 AND l.given_back_by IS NULL`, h.Order, h.Payment, h.Item, h.By, h.Why)
	if err != nil {
		return fmt.Errorf("give back the seats of order %s: %w", h.Order, err)
	}
	e, whole := Ended{Order: h.Order}, 0
	// As in End, a line without its seat is a division by zero, and undoes everything.
	err = tx.QueryRow(ctx, `
		WITH lines AS (
		  UPDATE order_lines l SET given_back_by = h.id
		  FROM seats_back_by_hand h, orders o
		  WHERE o.id = $1 AND o.status = 'paid' AND l.order_id = o.id AND h.order_id = o.id AND h.seat_id = l.seat_id AND l.given_back_by IS NULL
		  RETURNING l.order_id, l.seat_id, l.given_back_by
		), back AS (
		  UPDATE seats s SET order_id = NULL, claimed_at = NULL, held_back = s.withdrawn_at IS NOT NULL
		  FROM lines l WHERE s.id = l.seat_id AND s.order_id = l.order_id
		  RETURNING s.id, s.guid
		), changed AS (
		  UPDATE orders o SET given_back = o.given_back + (SELECT count(*) FROM lines), version = o.version + 1
		  WHERE o.id = $1 AND EXISTS (SELECT FROM lines)
		  RETURNING o.event_id, o.account, o.version
		), returned AS (
		  INSERT INTO seat_returns (seat_id, cause, event_id, order_id)
		  SELECT l.seat_id, 'refunded:' || l.given_back_by, c.event_id, l.order_id FROM lines l, changed c
		), counted AS (
		  UPDATE buyers b SET held = b.held - (SELECT count(*) FROM lines)
		  FROM changed c WHERE b.event_id = c.event_id AND b.account = c.account
		)
		SELECT c.event_id, c.version, ARRAY(SELECT guid FROM back ORDER BY id), 1 / ((SELECT count(*) FROM back) = (SELECT count(*) FROM lines))::int
		FROM changed c`, h.Order).Scan(&e.Event, &e.Version, &e.Seats, &whole)
	if err != nil {
		return fmt.Errorf("give back the seats of order %s: %w", h.Order, err)
	}
	return notice.Write(ctx, tx, notice.Notice{
		Kind: "tickets.returned", Event: e.Event, Subject: e.Order.String(), Version: e.Version,
		Body: returnedBody{e.Order, e.Event, "refunded", e.Seats},
	})
}
