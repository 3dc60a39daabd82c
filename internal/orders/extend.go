package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Extension is the organiser's word that buyers could not pay through no fault
// of their own (the provider was down), and how much more time they get.
type Extension struct {
	Event string
	// Whose wish it is, and its name: the same again goes on where it broke off.
	Organiser, Attempt string
	By                 string // as the record names them
	ExtendBy           time.Duration
	Reason             string // at most 500 characters
}

// Bounds of an extension.
const (
	ShortestExtension = time.Second
	LongestExtension  = time.Hour
	longestReason     = 500
	// extendAtOnce bounds the orders that are locked together.
	extendAtOnce = 200
)

// Extending is what became of an organiser's wish to extend.
type Extending string

// The extendings.
const (
	OrdersExtended  Extending = "extended"
	ExtendNoEvent   Extending = "no_event"
	ExtendSenseless Extending = "senseless"  // too short, too long, or with too much said
	ExtendKeyReused Extending = "key_reused" // the attempt was another extension
)

// Extended is an extension as it stands.
type Extended struct {
	Extending Extending
	ID        int64
	At        time.Time // the orders that were pending then have more time
	Orders    int
}

// Extend gives every order of the event that is pending, and whose time is not
// over yet, more time to pay: each order once in its life, whatever is asked. It
// goes through them a few at a time, those first whose time is over first; what
// was extended stays so when it breaks off, and the same attempt goes on with
// those that were pending when it was first made.
func Extend(ctx context.Context, pool *pgxpool.Pool, e Extension) (Extended, error) {
	if e.ExtendBy < ShortestExtension || e.ExtendBy > LongestExtension || len([]rune(e.Reason)) > longestReason || strings.ContainsRune(e.Reason, 0) {
		return Extended{Extending: ExtendSenseless}, nil
	}
	x, err := e.declare(ctx, pool)
	for more := x.Extending == OrdersExtended; more && err == nil; {
		more, err = e.extendSome(ctx, pool, &x)
	}
	if err != nil {
		return x, fmt.Errorf("extend orders of %s: %w", e.Event, err)
	}
	return x, nil
}

// declare writes the extension down, or finds the attempt's.
func (e Extension) declare(ctx context.Context, pool *pgxpool.Pool) (x Extended, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO order_extensions (event_id, organiser, attempt, by, extend_by, reason)
			SELECT id, $2, $3, $4, $5, $6 FROM events WHERE id = $1
			ON CONFLICT (organiser, attempt) DO NOTHING`, e.Event, e.Organiser, e.Attempt, e.By, e.ExtendBy, e.Reason)
		if err != nil {
			return err
		}
		var same bool
		err = tx.QueryRow(ctx, `
			SELECT id, at, orders, event_id = $3 AND extend_by = $4 AND reason = $5 FROM order_extensions
			WHERE organiser = $1 AND attempt = $2`, e.Organiser, e.Attempt, e.Event, e.ExtendBy, e.Reason).
			Scan(&x.ID, &x.At, &x.Orders, &same)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			x = Extended{Extending: ExtendNoEvent}
			return nil
		case err == nil && !same:
			x = Extended{Extending: ExtendKeyReused}
			return nil
		}
		x.Extending = OrdersExtended
		return err
	})
	return x, err
}

// extendSome extends a few orders and counts them, in one transaction; more says
// whether there may be others. Orders are locked by id, as everywhere.
func (e Extension) extendSome(ctx context.Context, pool *pgxpool.Pool, x *Extended) (more bool, err error) {
	var found int
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			WITH due AS MATERIALIZED (
			  SELECT id FROM orders
			  WHERE event_id = $2 AND status = 'pending' AND ended_at IS NULL AND pay_by > now()
			    AND extension IS NULL AND created_at <= $3
			  ORDER BY pay_by LIMIT $4
			), locked AS MATERIALIZED (
			  SELECT o.id FROM orders o JOIN due ON due.id = o.id ORDER BY o.id FOR NO KEY UPDATE OF o
			), extended AS (
			  UPDATE orders o SET pay_by = o.pay_by + $5::interval, extension = $1, version = o.version + 1
			  FROM locked
			  WHERE o.id = locked.id AND o.status = 'pending' AND o.pay_by > now() AND o.extension IS NULL
			  RETURNING o.id
			)
			UPDATE order_extensions SET orders = orders + (SELECT count(*) FROM extended),
			  done_at = CASE WHEN (SELECT count(*) FROM due) < $4 THEN coalesce(done_at, now()) ELSE done_at END
			WHERE id = $1
			RETURNING orders, (SELECT count(*) FROM due)`,
			x.ID, e.Event, x.At, extendAtOnce, e.ExtendBy).Scan(&x.Orders, &found)
	})
	return found == extendAtOnce, err
}
