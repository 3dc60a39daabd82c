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
	o, err := takeOff(ctx, tx, `
		  UPDATE order_lines l SET given_back_by = h.id
		  FROM seats_back_by_hand h, orders o
		  WHERE o.id = $1 AND o.status = 'paid' AND l.order_id = o.id AND h.order_id = o.id AND h.seat_id = l.seat_id AND l.given_back_by IS NULL`, h.Order)
	if err != nil {
		return fmt.Errorf("give back the seats of order %s: %w", h.Order, err)
	}
	return notice.Write(ctx, tx, notice.Notice{
		Kind: "tickets.returned", Event: o.event, Subject: h.Order.String(), Version: o.version,
		Body: returnedBody{h.Order, o.event, "refunded", o.seats},
	})
}
