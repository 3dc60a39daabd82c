package inventory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/notice"
	"waitroom/internal/pg"
)

// Event is one performance on sale, as its organiser set it. Optional fields
// are nil where the database says NULL.
type Event struct {
	ID       string
	Title    string
	Venue    string
	Currency string // ISO 4217
	OpensAt  time.Time
	ClosesAt *time.Time
	Rate     *float64 // people a second; nil lets nobody in

	LineCap      int64
	OrderLimit   int
	AccountLimit int
	PassQuota    int
	PassLife     time.Duration
	CallWindow   time.Duration
	PayWithin    time.Duration
	PayExtension time.Duration
	SharePrior   *float64
	TicketsPrior *float64
	StockSlack   float64

	// What only the database knows; CreateEvent does not read them.
	Control  string
	PlanHash string // empty: nothing to sell yet
	Version  int64
}

// Change is what became of an organiser's wish.
type Change string

const (
	Changed     Change = "changed"
	Unchanged   Change = "unchanged"    // it was so already; nothing was written
	NoSuchEvent Change = "no_event"     //
	EventExists Change = "event_exists" // create only; the event stays as it is
	EventClosed Change = "event_closed" // closed is final
	Senseless   Change = "senseless"    // a rate that no hall has
)

// FastestRate is the highest rate that is taken for meant; the events table
// refuses more.
const FastestRate = 10_000

// CreateEvent opens an event and, when it has a hall, imports that too: both or
// neither. The event lets nobody in before it has a rate and seats.
func CreateEvent(ctx context.Context, pool *pgxpool.Pool, e Event, hall *Hall) (Change, error) {
	outcome := Changed
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO events (id, title, venue, currency, opens_at, closes_at, release_rate, line_cap,
			  order_limit, account_limit, pass_quota, pass_life, call_window, pay_within, pay_extension,
			  share_prior, tickets_prior, stock_slack)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
			ON CONFLICT (id) DO NOTHING`,
			e.ID, e.Title, e.Venue, e.Currency, e.OpensAt, e.ClosesAt, e.Rate, e.LineCap,
			e.OrderLimit, e.AccountLimit, e.PassQuota, e.PassLife, e.CallWindow, e.PayWithin, e.PayExtension,
			e.SharePrior, e.TicketsPrior, e.StockSlack)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			outcome = EventExists
			return nil
		}
		if hall == nil {
			return nil
		}
		return copyHall(ctx, tx, e.ID, *hall)
	})
	if err != nil {
		return "", fmt.Errorf("create event %s: %w", e.ID, err)
	}
	return outcome, nil
}

// Events reads the event with this id, or every event if it is empty, in the
// order in which they open. An unknown id gives none.
func Events(ctx context.Context, pool *pgxpool.Pool, id string) ([]Event, error) {
	rows, err := pool.Query(ctx, `
		SELECT id, title, venue, currency, opens_at, closes_at, release_rate, line_cap,
		  order_limit, account_limit, pass_quota, pass_life, call_window, pay_within, pay_extension,
		  share_prior, tickets_prior, stock_slack, control, coalesce(plan_hash, ''), version
		FROM events WHERE $1 = '' OR id = $1
		ORDER BY opens_at, id`, id)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return events, nil
}

// SetRate sets how many people a second may be let in.
func SetRate(ctx context.Context, pool *pgxpool.Pool, event string, rate float64) (Change, error) {
	if !(rate > 0 && rate <= FastestRate) { // NaN too
		return Senseless, nil
	}
	return change(ctx, pool, event, func(tx pgx.Tx) error {
		var version int64
		return tx.QueryRow(ctx, `
			UPDATE events SET release_rate = $2, version = version + 1
			WHERE id = $1 AND control <> 'closed' AND release_rate IS DISTINCT FROM $2
			RETURNING version`, event, rate).Scan(&version)
	})
}

// Pause stops letting people in until Resume. Who is inside may still buy.
func Pause(ctx context.Context, pool *pgxpool.Pool, event string) (Change, error) {
	return change(ctx, pool, event, func(tx pgx.Tx) error {
		var version int64
		err := tx.QueryRow(ctx, `
			UPDATE events SET control = 'paused', version = version + 1
			WHERE id = $1 AND control = 'run'
			RETURNING version`, event).Scan(&version)
		if err != nil {
			return err
		}
		return notice.Write(ctx, tx, notice.Notice{
			Kind: "event.paused", Event: event, Subject: event, Version: version,
			Body: map[string]any{"event": event, "version": version},
		})
	})
}

// Resume undoes Pause.
func Resume(ctx context.Context, pool *pgxpool.Pool, event string) (Change, error) {
	return change(ctx, pool, event, func(tx pgx.Tx) error {
		var version int64
		return tx.QueryRow(ctx, `
			UPDATE events SET control = 'run', version = version + 1
			WHERE id = $1 AND control = 'paused'
			RETURNING version`, event).Scan(&version)
	})
}

// CloseSale ends the sale for good: nobody is let in and nothing is claimed
// any more. Pending orders may still be paid.
func CloseSale(ctx context.Context, pool *pgxpool.Pool, event string) (Change, error) {
	outcome, err := change(ctx, pool, event, func(tx pgx.Tx) error {
		var version int64
		return tx.QueryRow(ctx, `
			UPDATE events SET control = 'closed', version = version + 1
			WHERE id = $1 AND control <> 'closed'
			RETURNING version`, event).Scan(&version)
	})
	if outcome == EventClosed {
		outcome = Unchanged
	}
	return outcome, err
}

// change runs one guarded update of an event. Zero rows: now read why. That
// read is safe: events are never deleted and closed is final, and otherwise the
// guard has seen, at its own instant, that things were as wished.
func change(ctx context.Context, pool *pgxpool.Pool, event string, update func(pgx.Tx) error) (Change, error) {
	outcome := Changed
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		err := update(tx)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		var control string
		err = tx.QueryRow(ctx, `SELECT control FROM events WHERE id = $1`, event).Scan(&control)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			outcome = NoSuchEvent
			return nil
		case control == "closed":
			outcome = EventClosed
		default:
			outcome = Unchanged
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("event %s: %w", event, err)
	}
	return outcome, nil
}
