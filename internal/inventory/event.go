package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Event is one performance on sale, as its organiser set it. Optional fields
// are nil where the database says NULL.
type Event struct {
	ID        string
	Title     string
	Venue     string
	Organiser string // whose event it is; created with none, it is the house's
	Currency  string // ISO 4217
	OpensAt   time.Time
	ClosesAt  *time.Time
	Rate      *float64 // people a second; nil lets nobody in

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
	MaxInside    *int64        // people inside at once; nil: no cap
	PaymentQuota *float64      // payments a second that the provider opens for us; nil: not known
	Late         Late          // what money does that comes after its order has expired; created with none, it goes back
	TierLimits   TierLimits    // by tier; nil: no tier has one
	Presales     []Presale     // nil: everything is sold to everybody
	LapseLimit   int           // orders that an account may let lapse before each costs it the cool-down; created with none, 3 and 10 minutes
	CoolDown     time.Duration //
	RefundLimit  *int64        // minor units of an order that may be asked back without a person's word; nil: what the process was told
	Accounts     Asked         // of who joins
	Codes        Asked
	Admission    Admission    // how claims are admitted; created with none, by a line
	Gate         Gate         // whether one stands in front of the claims; created with none, off
	AccessCodes  *AccessCodes `db:"-"` // nil: none yet; CreateEvent alone knows them
	Draw         *Draw        `db:"-"` // nil: first come, first served; CreateEvent and Revise know it
	By           string       `db:"-"` // who creates it, as the record of changes names them; CreateEvent alone reads it

	// What only the database knows; CreateEvent does not read them.
	Control  string
	PlanHash string // empty: nothing to sell yet
	Version  int64
}

// Admission is what a claim needs.
type Admission string

const (
	ByLine  Admission = "line" // a pass of the event's line
	OpenAll Admission = "open" // no pass: the event has no line, and whoever has a ticket of it may claim
)

// Gate is whether a gate in front of the claims says no early.
type Gate string

const (
	GateOff Gate = "off"
	GateOn  Gate = "on" // only where there is no line
)

// Change is what became of an organiser's wish.
type Change string

const (
	Changed       Change = "changed"
	Unchanged     Change = "unchanged"    // it was so already; nothing was written
	NoSuchEvent   Change = "no_event"     //
	EventExists   Change = "event_exists" // create only; the event stays as it is
	EventClosed   Change = "event_closed" // closed is final
	Senseless     Change = "senseless"    // a rate that no hall has
	AttemptReused Change = "key_reused"   // the attempt was another request
)

// FastestRate is the highest rate that is taken for meant; the events table
// refuses more.
const FastestRate = 10_000

// CreateEvent opens an event and, when it has a hall, imports that too: both or
// neither. The event lets nobody in before it has a rate and seats.
func CreateEvent(ctx context.Context, pool *pgxpool.Pool, e Event, hall *Hall) (Change, error) {
	outcome := Changed
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := (Asker{By: e.By}).signs(ctx, tx); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			INSERT INTO events (id, title, venue, organiser, currency, opens_at, closes_at, release_rate, line_cap,
			  order_limit, account_limit, pass_quota, pass_life, call_window, pay_within, pay_extension,
			  share_prior, tickets_prior, stock_slack, max_inside, payment_quota, accounts, codes, late, refund_limit_minor,
			  tier_limits, presales, lapse_limit, cool_down, admission, gate)
			VALUES ($1, $2, $3, coalesce(nullif($4, ''), 'house'), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
			  coalesce(nullif($22, ''), 'none'), coalesce(nullif($23, ''), 'none'), coalesce(nullif($24, ''), 'refund'), $25,
			  $26, $27, coalesce(nullif($28::int, 0), 3), CASE WHEN $28 = 0 THEN interval '10 minutes' ELSE $29 END,
			  coalesce(nullif($30, ''), 'line'), coalesce(nullif($31, ''), 'off'))
			ON CONFLICT (id) DO NOTHING`,
			e.ID, e.Title, e.Venue, e.Organiser, e.Currency, e.OpensAt, e.ClosesAt, e.Rate, e.LineCap,
			e.OrderLimit, e.AccountLimit, e.PassQuota, e.PassLife, e.CallWindow, e.PayWithin, e.PayExtension,
			e.SharePrior, e.TicketsPrior, e.StockSlack, e.MaxInside, e.PaymentQuota, string(e.Accounts), string(e.Codes), string(e.Late), e.RefundLimit,
			orNull(e.TierLimits), orNull(e.Presales), e.LapseLimit, e.CoolDown, string(e.Admission), string(e.Gate))
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			outcome = EventExists
			return nil
		}
		if e.Draw != nil {
			if err := e.Draw.write(ctx, tx, e.ID); err != nil {
				return err
			}
		}
		if e.AccessCodes != nil {
			if _, err := e.AccessCodes.write(ctx, tx, e.ID); err != nil {
				return err
			}
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
		SELECT id, title, venue, organiser, currency, opens_at, closes_at, release_rate, line_cap,
		  order_limit, account_limit, pass_quota, pass_life, call_window, pay_within, pay_extension,
		  share_prior, tickets_prior, stock_slack, max_inside, payment_quota, late, tier_limits, presales, lapse_limit, cool_down, refund_limit_minor,
		  accounts, codes, admission, gate, control, coalesce(plan_hash, ''), version
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
	out, err := change(ctx, pool, event, Asker{}, func(tx pgx.Tx) error {
		var version int64
		return tx.QueryRow(ctx, `
			UPDATE events SET release_rate = $2, version = version + 1
			WHERE id = $1 AND control <> 'closed' AND release_rate IS DISTINCT FROM $2
			RETURNING version`, event, rate).Scan(&version)
	})
	return out.Change, err
}

// Pause stops letting people in until Resume. Who is inside may still buy.
func Pause(ctx context.Context, pool *pgxpool.Pool, event string) (Change, error) {
	out, err := Steer(ctx, pool, event, Paused, Asker{})
	return out.Change, err
}

// Resume undoes Pause.
func Resume(ctx context.Context, pool *pgxpool.Pool, event string) (Change, error) {
	out, err := Steer(ctx, pool, event, Running, Asker{})
	return out.Change, err
}

// CloseSale ends the sale for good: nobody is let in and nothing is claimed
// any more. Pending orders may still be paid.
func CloseSale(ctx context.Context, pool *pgxpool.Pool, event string) (Change, error) {
	out, err := Steer(ctx, pool, event, ClosedForGood, Asker{})
	return out.Change, err
}
