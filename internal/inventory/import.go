package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Hall is what an event sells, ready to be kept: plain values, because what
// they were read from is no business of the seats table.
type Hall struct {
	Tiers   []Tier
	Seats   []HallSeat // a seat's index is its pos
	Seatmap []byte     // the document that browsers draw, served under Hash
	Hash    string     // hex SHA-256 of Seatmap
	Focus   *Focus     // what it looks at; nil: as the event had it, at first ahead of its front row
	Orphans Orphans    // none: as the event had it, at first lenient
	By      string     // who imports it, as the record of changes names them

	withdrawn map[string]*time.Time // seats of the hall before that were, and since when
}

// Focus is a point of the hall, in the plan's units.
type Focus struct{ X, Y float64 }

// Orphans says whether the best seats may leave a single free seat behind, where
// no other block of the size avoids it.
type Orphans string

const (
	Lenient Orphans = "lenient" // they may
	Strict  Orphans = "strict"  // who asks is refused instead
)

// Tier is a price and what it is called.
type Tier struct {
	ID          string
	AmountMinor int64 // in the event's currency
	Color       string
}

// HallSeat is a seat before anybody can buy it.
type HallSeat struct {
	GUID     string
	Kind     string // numbered, accessible, general
	Section  string
	Row      string
	Number   string
	X, Y     float64
	Tier     string
	HeldBack bool
}

// Import is what became of a hall that was to be imported.
type Import string

const (
	Imported      Import = "imported"
	ImportNoEvent Import = "no_event"
	ImportClosed  Import = "event_closed" // nothing is sold any more
	HasOrders     Import = "has_orders"   // its seats are somebody's
	HasPlan       Import = "has_plan"     // and it was not said to replace it
	HoldsLost     Import = "holds_lost"   // the new hall lacks seats that are held back
	RulesLost     Import = "rules_lost"   // the new hall lacks a tier or section that its limits or presales name
)

// ImportHall gives an event its hall, all of it or nothing. With replace, a
// hall that nobody has claimed from is given up for the new one; seats held
// back or withdrawn stay so by their guid, and if the new hall lacks one that is
// refused, because a hold that vanished is a seat sold that was promised.
func ImportHall(ctx context.Context, pool *pgxpool.Pool, event string, hall Hall, replace bool) (outcome Import, detail string, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) (err error) {
		var held map[string]*time.Time
		if err := (Asker{By: hall.By}).signs(ctx, tx); err != nil {
			return err
		}
		if outcome, err = admitsHall(ctx, tx, event, replace); err != nil || outcome != Imported {
			return err
		}
		if held, err = clearHall(ctx, tx, event); err != nil {
			return err
		}
		if lost := hall.hold(held); len(lost) > 0 {
			outcome, detail = HoldsLost, strings.Join(lost, ", ")
			return errRefused
		}
		if err := copyHall(ctx, tx, event, hall); err != nil {
			return err
		}
		if detail, err = rulesLost(ctx, tx, event); err == nil && detail != "" {
			outcome, err = RulesLost, errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		return outcome, detail, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("import the hall of %s: %w", event, err)
	}
	return outcome, detail, nil
}

// errRefused rolls a transaction back that has an outcome all the same.
var errRefused = errors.New("refused")

// admitsHall locks the event and says whether it may have a (new) hall. The
// lock stands against the foreign key of an order: a claim at the same instant
// is either seen here, or waits and finds its seats gone.
func admitsHall(ctx context.Context, tx pgx.Tx, event string, replace bool) (Import, error) {
	var control string
	var planned bool
	err := tx.QueryRow(ctx, `
		SELECT control, plan_hash IS NOT NULL FROM events WHERE id = $1 FOR UPDATE`, event).Scan(&control, &planned)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ImportNoEvent, nil
	case err != nil:
		return "", err
	case control == "closed":
		return ImportClosed, nil
	}
	var ordered bool
	if err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM orders WHERE event_id = $1)`, event).Scan(&ordered); err != nil {
		return "", err
	}
	switch {
	case ordered:
		return HasOrders, nil
	case planned && !replace:
		return HasPlan, nil
	}
	return Imported, nil
}

// clearHall takes the old hall away and says which of its seats were held back,
// and since when those that were withdrawn.
func clearHall(ctx context.Context, tx pgx.Tx, event string) (held map[string]*time.Time, err error) {
	if err := pg.Longer(ctx, tx, copyTime); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT guid, withdrawn_at FROM seats WHERE event_id = $1 AND held_back`, event)
	if err != nil {
		return nil, err
	}
	held = map[string]*time.Time{}
	var guid string
	var withdrawn *time.Time
	if _, err = pgx.ForEachRow(rows, []any{&guid, &withdrawn}, func() error {
		held[guid], withdrawn = withdrawn, nil
		return nil
	}); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM seats WHERE event_id = $1`, event); err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, `DELETE FROM price_tiers WHERE event_id = $1`, event)
	return held, err
}

// hold keeps the seats back that were, and says which are not there any more.
func (h *Hall) hold(held map[string]*time.Time) (lost []string) {
	if len(held) == 0 {
		return nil
	}
	h.Seats = slices.Clone(h.Seats) // the caller's stay as they are
	at := make(map[string]int, len(h.Seats))
	for pos, s := range h.Seats {
		at[s.GUID] = pos
	}
	h.withdrawn = held
	for _, guid := range slices.Sorted(maps.Keys(held)) {
		if pos, found := at[guid]; found {
			h.Seats[pos].HeldBack = true
		} else {
			lost = append(lost, guid)
		}
	}
	return lost
}

// copyTime allows the one long statement of the house: a stadium in one COPY.
const copyTime = 2 * time.Minute

// copyHall writes a hall to an event that has none.
func copyHall(ctx context.Context, tx pgx.Tx, event string, hall Hall) error {
	if err := pg.Longer(ctx, tx, copyTime); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"price_tiers"}, []string{"event_id", "id", "amount_minor", "color"},
		pgx.CopyFromSlice(len(hall.Tiers), func(i int) ([]any, error) {
			t := hall.Tiers[i]
			return []any{event, t.ID, t.AmountMinor, t.Color}, nil
		}))
	if err != nil {
		return fmt.Errorf("price tiers: %w", err)
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"seats"}, []string{
		"event_id", "pos", "guid", "kind", "section", "row", "number", "x", "y", "price_tier", "held_back", "withdrawn_at",
	}, pgx.CopyFromSlice(len(hall.Seats), func(pos int) ([]any, error) {
		s := hall.Seats[pos]
		return []any{
			event, int32(pos), s.GUID, s.Kind, s.Section, s.Row, s.Number,
			float32(s.X), float32(s.Y), s.Tier, s.HeldBack, hall.withdrawn[s.GUID],
		}, nil
	}))
	if err != nil {
		return fmt.Errorf("seats: %w", err)
	}
	// The first claims come before any autovacuum has looked at the new hall.
	if _, err := tx.Exec(ctx, `ANALYZE seats, price_tiers`); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	var focusX, focusY *float64
	if hall.Focus != nil {
		focusX, focusY = &hall.Focus.X, &hall.Focus.Y
	}
	_, err = tx.Exec(ctx, `
		UPDATE events SET plan_hash = $2, seatmap = $3, focus_x = coalesce($4, focus_x), focus_y = coalesce($5, focus_y),
		  orphans = coalesce(nullif($6, ''), orphans), version = version + 1
		WHERE id = $1`, event, hall.Hash, hall.Seatmap, focusX, focusY, string(hall.Orphans))
	return err
}

// Tiers are what an event's seats cost.
func Tiers(ctx context.Context, pool *pgxpool.Pool, event string) ([]Tier, error) {
	rows, err := pool.Query(ctx, `
		SELECT id, amount_minor, color FROM price_tiers WHERE event_id = $1 ORDER BY id`, event)
	if err != nil {
		return nil, fmt.Errorf("price tiers of %s: %w", event, err)
	}
	tiers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Tier])
	if err != nil {
		return nil, fmt.Errorf("price tiers of %s: %w", event, err)
	}
	return tiers, nil
}

// rulesLost is what the event's rules name and its hall has not.
func rulesLost(ctx context.Context, tx pgx.Tx, event string) (name string, err error) {
	var limits TierLimits
	var presales []Presale
	err = tx.QueryRow(ctx, `SELECT tier_limits, presales FROM events WHERE id = $1`, event).Scan(&limits, &presales)
	if err != nil || len(limits) == 0 && len(presales) == 0 {
		return "", err
	}
	parts, err := partsOf(ctx, tx, event)
	_, name = parts.Lack(limits, presales)
	return name, err
}
