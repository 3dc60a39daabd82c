package inventory

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/notice"
)

// Cause is why a pending order ends, and the status that it gets.
type Cause string

const (
	Expired   Cause = "expired"   // its pay_by is over
	Cancelled Cause = "cancelled" // by its buyer
)

// Ended is an order that End ended.
type Ended struct {
	Order   uuid.UUID
	Event   string
	Version int64
	Seats   []string // guids, in id order
}

// End ends pending orders: the only function that does. (A paid one never ends;
// GiveBack takes single seats off it.) The order's end, its
// seats' return, the account's count and the notices are one; a paid or ended
// order, or one to expire whose time is not over, is left as it is. It returns
// the orders that it ended: for any other, somebody was faster, and there is
// nothing to do.
func End(ctx context.Context, tx pgx.Tx, orders []uuid.UUID, cause Cause) (ended []Ended, err error) {
	if len(orders) == 0 {
		return nil, nil
	}
	var b pgx.Batch
	lockAccounts(&b, nil, orders)
	lockCodes(&b, nil, orders...)
	b.Queue(`SELECT FROM orders WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`, orders)
	// As in grant, an order whose seats did not all come back is a division by
	// zero, and undoes everything.
	b.Queue(`
		WITH ended AS (
		  UPDATE orders SET status = $2, ended_at = now(), version = version + 1
		  WHERE id = ANY($1) AND status = 'pending' AND ($2 <> 'expired' OR pay_by <= now())
		  RETURNING id, event_id, account, code, seat_count, version
		), locked AS MATERIALIZED (
		  SELECT s.id, s.order_id FROM seats s JOIN ended e ON s.order_id = e.id ORDER BY s.id FOR NO KEY UPDATE OF s
		), back AS (
		  UPDATE seats s SET order_id = NULL, claimed_at = NULL, held_back = s.withdrawn_at IS NOT NULL
		  FROM locked k WHERE s.id = k.id AND s.order_id = k.order_id
		  RETURNING s.id, s.guid, s.event_id, k.order_id
		), returned AS (
		  INSERT INTO seat_returns (seat_id, cause, event_id, order_id)
		  SELECT id, $2 || ':' || order_id, event_id, order_id FROM back
		), counted AS (
		  UPDATE buyers b SET held = b.held - e.seats
		  FROM (SELECT event_id, account, sum(seat_count) AS seats FROM ended GROUP BY event_id, account) e
		  WHERE b.event_id = e.event_id AND b.account = e.account
		), unspent AS (
		  UPDATE presale_codes c SET used = c.used - e.orders, seats_used = c.seats_used - e.seats
		  FROM (SELECT event_id, code, count(*) AS orders, sum(seat_count) AS seats FROM ended WHERE code IS NOT NULL GROUP BY event_id, code) e
		  WHERE c.event_id = e.event_id AND c.hash = e.code
		)
		SELECT e.id, e.event_id, e.version, array_agg(r.guid ORDER BY r.id), 1 / (count(r.id) = e.seat_count)::int
		FROM ended e LEFT JOIN back r ON r.order_id = e.id
		GROUP BY e.id, e.event_id, e.version, e.seat_count ORDER BY e.id`, orders, cause,
	).Query(func(rows pgx.Rows) (err error) {
		ended, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Ended, err error) {
			var whole int
			return e, row.Scan(&e.Order, &e.Event, &e.Version, &e.Seats, &whole)
		})
		return err
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return nil, fmt.Errorf("end orders: %w", err)
	}
	return ended, notice.Write(ctx, tx, endNotices(ended, cause)...)
}

// returnedBody tells of seats that are free again: why, and of which order they were.
type returnedBody struct {
	Order uuid.UUID `json:"order"`
	Event string    `json:"event"`
	Cause string    `json:"cause"`
	Seats []string  `json:"seats"`
}

// endNotices tells two facts of each end: what became of the order, and which
// seats are free again.
func endNotices(ended []Ended, cause Cause) (notices []notice.Notice) {
	for _, e := range ended {
		body := returnedBody{e.Order, e.Event, string(cause), e.Seats}
		for _, kind := range []string{"order." + string(cause), "tickets.returned"} {
			notices = append(notices, notice.Notice{
				Kind: kind, Event: e.Event, Subject: e.Order.String(), Version: e.Version, Body: body,
			})
		}
	}
	return notices
}

// Lapsed are pending orders whose time to pay is over, the longest first, and
// at most so many.
func Lapsed(ctx context.Context, pool *pgxpool.Pool, most int) ([]uuid.UUID, error) {
	rows, err := pool.Query(ctx, `
		SELECT id FROM orders WHERE status = 'pending' AND ended_at IS NULL AND pay_by <= now()
		ORDER BY pay_by LIMIT $1`, most)
	if err != nil {
		return nil, fmt.Errorf("lapsed orders: %w", err)
	}
	orders, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("lapsed orders: %w", err)
	}
	return orders, nil
}
