package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Revise changes an event's settings. decide gets them as they are, with the
// database's clock, and says what they are to be; its error refuses, changes
// nothing, and comes back as it is. Nobody changes the event meanwhile. What
// identifies an event, and its control, are not settings.
func Revise(ctx context.Context, pool *pgxpool.Pool, event string, who Asker, decide func(now time.Time, old Event) (Event, error)) (e Event, out Change, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if _, err := who.asks(ctx, tx); err != nil {
			return err
		}
		old, now, err := locked(ctx, tx, event)
		if err != nil {
			return err
		}
		if e, err = decide(now, old); err != nil {
			return err
		}
		e.Version, out, err = revised(ctx, tx, e)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Event{}, NoSuchEvent, nil
	}
	return e, out, err
}

func locked(ctx context.Context, tx pgx.Tx, event string) (e Event, now time.Time, err error) {
	var opens, closes *time.Time
	var beacon *string
	err = tx.QueryRow(ctx, `
		SELECT id, title, venue, currency, opens_at, closes_at, release_rate, line_cap,
		  order_limit, account_limit, pass_quota, pass_life, call_window, pay_within, pay_extension,
		  share_prior, tickets_prior, stock_slack, max_inside, payment_quota, late, tier_limits, presales, lapse_limit, cool_down, refund_limit_minor, organiser, control, coalesce(plan_hash, ''), version,
		  lobby_opens_at, lobby_closes_at, beacon, clock_timestamp()
		FROM events e LEFT JOIN draws d ON (d.event_id, d.epoch) = (e.id, e.epoch)
		WHERE e.id = $1 FOR NO KEY UPDATE OF e`, event).Scan(
		&e.ID, &e.Title, &e.Venue, &e.Currency, &e.OpensAt, &e.ClosesAt, &e.Rate, &e.LineCap,
		&e.OrderLimit, &e.AccountLimit, &e.PassQuota, &e.PassLife, &e.CallWindow, &e.PayWithin, &e.PayExtension,
		&e.SharePrior, &e.TicketsPrior, &e.StockSlack, &e.MaxInside, &e.PaymentQuota, &e.Late, &e.TierLimits, &e.Presales, &e.LapseLimit, &e.CoolDown, &e.RefundLimit, &e.Organiser, &e.Control, &e.PlanHash, &e.Version,
		&opens, &closes, &beacon, &now)
	if opens != nil && closes != nil && beacon != nil {
		e.Draw = &Draw{LobbyOpensAt: *opens, LobbyClosesAt: *closes, Beacon: *beacon}
	}
	return e, now, err
}

// revised writes what differs. Nothing does: nothing is written.
func revised(ctx context.Context, tx pgx.Tx, e Event) (version int64, out Change, err error) {
	err = tx.QueryRow(ctx, `
		UPDATE events SET opens_at = $2, closes_at = $3, release_rate = $4, line_cap = $5,
		  order_limit = $6, account_limit = $7, pass_quota = $8, pass_life = $9, call_window = $10,
		  pay_within = $11, pay_extension = $12, share_prior = $13, tickets_prior = $14, stock_slack = $15,
		  max_inside = $16, payment_quota = $17, late = $18, refund_limit_minor = $19,
		  tier_limits = $20, presales = $21, lapse_limit = $22, cool_down = $23, version = version + 1
		WHERE id = $1 AND (opens_at, closes_at, release_rate, line_cap, order_limit, account_limit, pass_quota,
		    pass_life, call_window, pay_within, pay_extension, share_prior, tickets_prior, stock_slack,
		    max_inside, payment_quota, late, refund_limit_minor, tier_limits, presales, lapse_limit, cool_down)
		  IS DISTINCT FROM ($2::timestamptz, $3::timestamptz, $4::float8, $5::bigint, $6::int, $7::int, $8::int,
		    $9::interval, $10::interval, $11::interval, $12::interval, $13::float8, $14::float8, $15::float8,
		    $16::bigint, $17::float8, $18::text, $19::bigint, $20::jsonb, $21::jsonb, $22::int, $23::interval)
		RETURNING version`,
		e.ID, e.OpensAt, e.ClosesAt, e.Rate, e.LineCap, e.OrderLimit, e.AccountLimit, e.PassQuota,
		e.PassLife, e.CallWindow, e.PayWithin, e.PayExtension, e.SharePrior, e.TicketsPrior, e.StockSlack,
		e.MaxInside, e.PaymentQuota, e.Late, e.RefundLimit,
		orNull(e.TierLimits), orNull(e.Presales), e.LapseLimit, e.CoolDown).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return e.Version, Unchanged, nil
	case err != nil:
		return 0, "", fmt.Errorf("event %s: %w", e.ID, err)
	}
	return version, Changed, nil
}

// EventChange is the audit's row of one change of an event.
type EventChange struct {
	ID      int64
	At      time.Time
	By      string // a key's name; in brackets, what came by no key
	Version int64
	Control Control
	// Changed is each column with what it was and what it became; nil when the
	// event was created.
	Changed map[string][2]json.RawMessage
}

// EventChanges are the changes of an event before the given one (0: the last
// ones), newest first.
func EventChanges(ctx context.Context, pool *pgxpool.Pool, event string, before int64, most int) ([]EventChange, error) {
	rows, err := pool.Query(ctx, `
		SELECT id, at, by, version, control, changed FROM event_changes
		WHERE event_id = $1 AND ($2::bigint = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, event, before, most)
	if err != nil {
		return nil, fmt.Errorf("changes of %s: %w", event, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[EventChange])
	if err != nil {
		return nil, fmt.Errorf("changes of %s: %w", event, err)
	}
	return list, nil
}
