package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/notice"
)

// Moving is what became of a wish to exchange an order's seat for another.
type Moving string

const (
	SeatMoved   Moving = "moved"
	MoveNoOrder Moving = "no_order"    // the event has no such order
	MoveNotPaid Moving = "not_paid"    // only what is paid is moved; anybody else chooses again
	MoveNoLine  Moving = "no_line"     // the order does not hold that seat
	MoveNoSeat  Moving = "no_seat"     // the hall has no such other seat
	MoveTaken   Moving = "taken"       // the other seat is somebody's, or withdrawn
	MoveCheaper Moving = "cheaper"     // the other seat costs less: the buyer would have paid too much
	MoveBack    Moving = "given_back"  // the other seat was this order's, and a refund gave it back: its line stands for that refund
	MoveRefund  Moving = "refund_open" // a refund of the line was asked for, whatever became of it
)

// Move is an exchange: the order's version by it, and what the order has now.
type Move struct {
	Moving  Moving `json:"moving"`
	Version int64  `json:"version,omitempty"`
}

// MoveSeat exchanges a seat of a paid order for another that is free, or that the
// house holds back, and costs as much or more. The price stays what was paid; the
// order is told to have changed. The seat that it leaves is on sale again, or off
// if it is withdrawn.
func MoveSeat(ctx context.Context, pool *pgxpool.Pool, who Asker, event string, order uuid.UUID, from, to string) (Move, error) {
	m, err := once(ctx, pool, who, func(tx pgx.Tx) (m Move, yes bool, err error) {
		if err := lockMove(ctx, tx, event, order, from, to); err != nil {
			return m, false, err
		}
		m, err = move(ctx, tx, who.By, event, order, from, to)
		return m, m.Moving == SeatMoved, err
	})
	if err != nil {
		return Move{}, fmt.Errorf("move a seat of order %s: %w", order, err)
	}
	return m, nil
}

// lockMove locks the order's account, the order, and both seats.
func lockMove(ctx context.Context, tx pgx.Tx, event string, order uuid.UUID, from, to string) error {
	var b pgx.Batch
	lockAccounts(&b, nil, []uuid.UUID{order})
	b.Queue(`SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE`, order)
	b.Queue(`SELECT FROM seats WHERE event_id = $1 AND guid IN ($2, $3) ORDER BY id FOR NO KEY UPDATE`, event, from, to)
	return tx.SendBatch(ctx, &b).Close()
}

// movable is the pair of seats if they can be exchanged.
const movable = `
		  SELECT o.id AS order_id, o.event_id, f.id AS from_id, f.guid AS from_guid, f.withdrawn_at IS NOT NULL AS off, t.id AS to_id, t.guid AS to_guid
		  FROM orders o
		  JOIN order_lines l ON l.order_id = o.id AND l.given_back_by IS NULL
		  JOIN seats f ON f.id = l.seat_id AND f.order_id = o.id
		  JOIN seats t ON t.event_id = o.event_id AND t.order_id IS NULL AND t.withdrawn_at IS NULL
		  JOIN price_tiers had ON (had.event_id, had.id) = (o.event_id, f.price_tier)
		  JOIN price_tiers gets ON (gets.event_id, gets.id) = (o.event_id, t.price_tier)
		  WHERE o.event_id = $1 AND o.id = $2 AND o.status = 'paid' AND f.guid = $3 AND t.guid = $4
		    AND gets.amount_minor >= had.amount_minor
		    AND NOT EXISTS (SELECT FROM order_lines b WHERE b.order_id = o.id AND b.seat_id = t.id)
		    AND NOT EXISTS (SELECT FROM refund_operations r WHERE r.order_id = o.id AND r.seat_id = f.id)
		    AND NOT EXISTS (SELECT FROM refund_approvals r WHERE r.order_id = o.id AND r.seat_id = f.id)`

func move(ctx context.Context, tx pgx.Tx, by, event string, order uuid.UUID, from, to string) (m Move, err error) {
	var whole int
	var off bool
	// As in End, half a move is a division by zero, and undoes everything.
	err = tx.QueryRow(ctx, `
		WITH pair AS MATERIALIZED (`+movable+`), line AS (
		  UPDATE order_lines l SET seat_id = p.to_id FROM pair p WHERE l.order_id = p.order_id AND l.seat_id = p.from_id
		), freed AS (
		  UPDATE seats s SET order_id = NULL, claimed_at = NULL, held_back = p.off
		  FROM pair p WHERE s.id = p.from_id AND s.order_id = p.order_id
		  RETURNING s.id
		), taken AS (
		  UPDATE seats s SET order_id = p.order_id, claimed_at = clock_timestamp(), held_back = false
		  FROM pair p WHERE s.id = p.to_id AND s.order_id IS NULL
		  RETURNING s.id
		), changed AS (
		  UPDATE orders o SET version = o.version + 1 FROM pair p WHERE o.id = p.order_id RETURNING o.version
		), returned AS (
		  INSERT INTO seat_returns (seat_id, cause, event_id, order_id)
		  SELECT p.from_id, 'moved:' || p.order_id || ':' || c.version, p.event_id, p.order_id FROM pair p, changed c
		), kept AS (
		  INSERT INTO seat_moves (order_id, version, from_seat, to_seat, by)
		  SELECT p.order_id, c.version, p.from_id, p.to_id, $5 FROM pair p, changed c
		)
		SELECT c.version, p.off, 1 / ((SELECT count(*) FROM freed) + (SELECT count(*) FROM taken) = 2)::int FROM pair p, changed c`,
		event, order, from, to, by).Scan(&m.Version, &off, &whole)
	if errors.Is(err, pgx.ErrNoRows) {
		m.Moving, err = whyUnmoved(ctx, tx, event, order, from, to)
		return m, err
	}
	if err != nil {
		return m, err
	}
	m.Moving = SeatMoved
	return m, notice.Write(ctx, tx, moveNotices(event, order, m.Version, from, to, off)...)
}

// whyUnmoved gives the first reason. Everything that it reads is locked, but for
// refunds, whose askers hold the order.
func whyUnmoved(ctx context.Context, tx pgx.Tx, event string, order uuid.UUID, from, to string) (why Moving, err error) {
	err = tx.QueryRow(ctx, `
		SELECT CASE
		  WHEN o.status <> 'paid' THEN $5
		  WHEN f.id IS NULL THEN $6
		  WHEN t.id IS NULL THEN $7
		  WHEN t.order_id IS NOT NULL OR t.withdrawn_at IS NOT NULL THEN $8
		  WHEN EXISTS (SELECT FROM order_lines b WHERE b.order_id = o.id AND b.seat_id = t.id) THEN $11
		  WHEN gets.amount_minor < had.amount_minor THEN $9
		  ELSE $10 END
		FROM orders o
		LEFT JOIN (order_lines l JOIN seats f ON f.id = l.seat_id AND f.guid = $3) ON l.order_id = o.id AND l.given_back_by IS NULL AND f.order_id = o.id
		LEFT JOIN seats t ON t.event_id = o.event_id AND t.guid = $4
		LEFT JOIN price_tiers had ON (had.event_id, had.id) = (o.event_id, f.price_tier)
		LEFT JOIN price_tiers gets ON (gets.event_id, gets.id) = (o.event_id, t.price_tier)
		WHERE o.event_id = $1 AND o.id = $2`,
		event, order, from, to, MoveNotPaid, MoveNoLine, MoveNoSeat, MoveTaken, MoveCheaper, MoveRefund, MoveBack).Scan(&why)
	if errors.Is(err, pgx.ErrNoRows) {
		return MoveNoOrder, nil
	}
	return why, err
}

func moveNotices(event string, order uuid.UUID, version int64, from, to string, off bool) []notice.Notice {
	all := []notice.Notice{{Kind: "order.moved", Event: event, Subject: order.String(), Version: version, Body: struct {
		Order uuid.UUID `json:"order"`
		Event string    `json:"event"`
		From  string    `json:"from"`
		To    string    `json:"to"`
	}{order, event, from, to}}}
	if off {
		return all
	}
	return append(all, notice.Notice{
		Kind: "tickets.returned", Event: event, Subject: order.String(), Version: version,
		Body: returnedBody{order, event, "moved", []string{from}},
	})
}
