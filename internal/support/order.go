package support

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/refunds"
)

// Order is an order as whoever helps its customer sees it.
type Order struct {
	ID          uuid.UUID
	Event       string
	Title       string
	Status      string
	AmountMinor int64
	Currency    string
	PaidAt      *time.Time
	GivenBack   int // lines whose seats went back, for their refunds were confirmed
	Lines       []Line
	Refunds     []Answer // of lines, and of whole payments that were not due; the oldest first
}

// Line is one seat of an order.
type Line struct {
	ID          int64
	GUID        string
	Section     string
	Row         string
	Number      string
	AmountMinor int64
	GivenBack   bool    // its refund was confirmed, and its seat is not the order's any more
	Refund      *Answer // nil: nobody asked for it
}

// FindOrder reads an organiser's order, of one customer, or of any if none is
// named. Whatever is not theirs is not found.
func FindOrder(ctx context.Context, pool *pgxpool.Pool, organiser string, id uuid.UUID, customer string) (o Order, found bool, err error) {
	o.ID = id
	err = pool.QueryRow(ctx, `
		SELECT o.event_id, e.title, o.status, o.amount_minor, o.currency, o.paid_at, o.given_back FROM orders o JOIN events e ON e.id = o.event_id
		WHERE o.id = $1 AND e.organiser = $2 AND ($3 = '' OR $3 IN (o.account, o.holder))`, id, organiser, customer).
		Scan(&o.Event, &o.Title, &o.Status, &o.AmountMinor, &o.Currency, &o.PaidAt, &o.GivenBack)
	if errors.Is(err, pgx.ErrNoRows) {
		return Order{}, false, nil
	}
	if err != nil {
		return Order{}, false, fmt.Errorf("order %s: %w", id, err)
	}
	if o.Lines, err = linesOf(ctx, pool, id); err != nil {
		return Order{}, false, err
	}
	return o, true, o.stand(ctx, pool)
}

func linesOf(ctx context.Context, pool *pgxpool.Pool, order uuid.UUID) ([]Line, error) {
	rows, err := pool.Query(ctx, `
		SELECT s.id, s.guid, s.section, s.row, s.number, l.amount_minor, l.given_back_by IS NOT NULL
		FROM order_lines l JOIN seats s ON s.id = l.seat_id WHERE l.order_id = $1 ORDER BY s.pos`, order)
	if err != nil {
		return nil, fmt.Errorf("lines of order %s: %w", order, err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Line, err error) {
		return l, row.Scan(&l.ID, &l.GUID, &l.Section, &l.Row, &l.Number, &l.AmountMinor, &l.GivenBack)
	})
}

// stand tells how each refund stands: the newest of each line, and what waits
// for a person.
func (o *Order) stand(ctx context.Context, pool *pgxpool.Pool) error {
	all, err := refunds.OfOrder(ctx, pool, o.ID)
	if err != nil {
		return err
	}
	lines := map[int64]*Line{}
	for i := range o.Lines {
		lines[o.Lines[i].ID] = &o.Lines[i]
	}
	for _, s := range all {
		if s.Seat == nil || lines[*s.Seat] == nil {
			o.Refunds = append(o.Refunds, standingAnswer("", s))
			continue
		}
		l := lines[*s.Seat]
		a := standingAnswer(l.GUID, s)
		l.Refund, o.Refunds = &a, append(o.Refunds, a)
	}
	return o.waiting(ctx, pool, lines)
}

func (o *Order) waiting(ctx context.Context, pool *pgxpool.Pool, lines map[int64]*Line) error {
	rows, err := pool.Query(ctx, `
		SELECT DISTINCT ON (seat_id) id, seat_id, amount_minor, currency, cause, coalesce(decision, '')
		FROM refund_approvals WHERE order_id = $1 ORDER BY seat_id, id DESC`, o.ID)
	if err != nil {
		return fmt.Errorf("approvals of order %s: %w", o.ID, err)
	}
	a := Answer{}
	var seat int64
	var decision string
	_, err = pgx.ForEachRow(rows, []any{&a.Approval, &seat, &a.AmountMinor, &a.Currency, &a.Reason, &decision}, func() error {
		l := lines[seat]
		if l == nil || l.Refund != nil {
			return nil
		}
		is := Answer{Word: NeedsApproval, Reason: a.Reason, Line: l.GUID, AmountMinor: a.AmountMinor, Currency: a.Currency, Approval: a.Approval}
		switch decision {
		case "":
		case "refused":
			is.Word, is.Reason = Refused, ApprovalRefused
		default:
			return nil
		}
		l.Refund, o.Refunds = &is, append(o.Refunds, is)
		return nil
	})
	if err != nil {
		return fmt.Errorf("approvals of order %s: %w", o.ID, err)
	}
	return nil
}
