package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Seat is what does not change of a seat once its event has a plan.
type Seat struct {
	ID          int64
	Pos         int
	GUID        string
	Kind        string // numbered, accessible or general
	Section     string
	Row, Number string
	X, Y        float64
	Tier        string
	AmountMinor int64
}

// SeatPlan is an event's seats in the order of pos, with the seat map that
// browsers draw.
type SeatPlan struct {
	Hash     string // of Seatmap, and its name
	Seatmap  []byte
	Currency string
	Seats    []Seat
}

// ErrNoPlan is an event that has no seats to sell yet.
var ErrNoPlan = errors.New("the event has no seating plan")

// ReadPlan reads an event's seats, all of them: once for each plan, not for
// each request.
func ReadPlan(ctx context.Context, pool *pgxpool.Pool, event string) (SeatPlan, error) {
	var p SeatPlan
	var hash *string
	err := pool.QueryRow(ctx, `SELECT plan_hash, seatmap, currency FROM events WHERE id = $1`, event).Scan(&hash, &p.Seatmap, &p.Currency)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && hash == nil {
		return SeatPlan{}, ErrNoPlan
	}
	if err != nil {
		return SeatPlan{}, fmt.Errorf("read plan of %s: %w", event, err)
	}
	p.Hash = *hash
	rows, err := pool.Query(ctx, `
		SELECT s.id, s.pos, s.guid, s.kind, s.section, s.row, s.number, s.x::float8, s.y::float8, s.price_tier, t.amount_minor
		FROM seats s JOIN price_tiers t ON t.event_id = s.event_id AND t.id = s.price_tier
		WHERE s.event_id = $1 ORDER BY s.pos`, event)
	if err != nil {
		return SeatPlan{}, fmt.Errorf("read plan of %s: %w", event, err)
	}
	p.Seats, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s Seat, err error) {
		return s, row.Scan(&s.ID, &s.Pos, &s.GUID, &s.Kind, &s.Section, &s.Row, &s.Number, &s.X, &s.Y, &s.Tier, &s.AmountMinor)
	})
	if err != nil {
		return SeatPlan{}, fmt.Errorf("read plan of %s: %w", event, err)
	}
	return p, nil
}
