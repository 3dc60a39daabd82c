package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Order is an order with what it is for. The seats stay listed when it ends.
type Order struct {
	ID                     uuid.UUID
	Event, Account, Holder string
	Epoch, Place, Take     int64
	Attempt                string
	Status                 string // pending, paid, expired, cancelled
	Seats                  []OrderSeat
	AmountMinor            int64
	Currency               string
	PayBy, CreatedAt       time.Time
	Version                int64
}

// OrderSeat is one seat of an order, at the price that it was claimed for.
type OrderSeat struct {
	ID                         int64
	GUID, Section, Row, Number string
	Tier                       string
	AmountMinor                int64
	GivenBack                  bool       // it was refunded, and its seat is not the order's any more
	Pos                        int        // the seat's index in the event
	TakenAt                    *time.Time // since when the seat is the order's; nil: it is not
}

// FindOrder reads an order; false, there is none.
func FindOrder(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID) (Order, bool, error) {
	return findOrder(ctx, pool, `o.id = $1`, id)
}

// FindAttempt reads the order that an attempt became; false: none, so far.
func FindAttempt(ctx context.Context, pool *pgxpool.Pool, event, account, key string) (Order, bool, error) {
	return findOrder(ctx, pool, `o.event_id = $1 AND o.account = $2 AND o.attempt = $3`, event, account, key)
}

func findOrder(ctx context.Context, pool *pgxpool.Pool, where string, args ...any) (o Order, found bool, err error) {
	rows, err := pool.Query(ctx, `
		SELECT o.id, o.event_id, o.account, o.holder, o.epoch, o.place, o.take, o.attempt, o.status,
		  o.amount_minor, o.currency, o.pay_by, o.created_at, o.version,
		  s.id, s.guid, s.section, s.row, s.number, s.price_tier, l.amount_minor, l.given_back_by IS NOT NULL,
		  s.pos, CASE WHEN s.order_id = o.id THEN s.claimed_at END
		FROM orders o JOIN order_lines l ON l.order_id = o.id JOIN seats s ON s.id = l.seat_id
		WHERE `+where+` ORDER BY s.pos`, args...)
	if err != nil {
		return Order{}, false, fmt.Errorf("find order: %w", err)
	}
	var s OrderSeat
	_, err = pgx.ForEachRow(rows, []any{
		&o.ID, &o.Event, &o.Account, &o.Holder, &o.Epoch, &o.Place, &o.Take, &o.Attempt, &o.Status,
		&o.AmountMinor, &o.Currency, &o.PayBy, &o.CreatedAt, &o.Version,
		&s.ID, &s.GUID, &s.Section, &s.Row, &s.Number, &s.Tier, &s.AmountMinor, &s.GivenBack, &s.Pos, &s.TakenAt,
	}, func() error {
		o.Seats = append(o.Seats, s)
		return nil
	})
	if err != nil {
		return Order{}, false, fmt.Errorf("find order: %w", err)
	}
	return o, len(o.Seats) > 0, nil
}
