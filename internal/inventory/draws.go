package inventory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/draw"
	"waitroom/internal/pg"
)

// Draw is how an event's lobby is drawn, as its organiser set it.
type Draw struct {
	LobbyOpensAt, LobbyClosesAt time.Time
	// Beacon names the public value that decides too, of a time after the lobby
	// has closed; empty: the operator alone could have chosen the order.
	Beacon string
}

// write fixes the draw with a seed that nobody has seen.
func (d Draw) write(ctx context.Context, tx pgx.Tx, event string) error {
	seed := draw.NewSeed()
	_, err := tx.Exec(ctx, `
		INSERT INTO draws (event_id, epoch, seed, lobby_opens_at, lobby_closes_at, beacon)
		SELECT id, epoch, $2, $3, $4, $5 FROM events WHERE id = $1`,
		event, seed[:], d.LobbyOpensAt, d.LobbyClosesAt, d.Beacon)
	return err
}

// What may stand in the way of a beacon's value.
const (
	NoBeacon  Change = "no_beacon"  // the event has no draw, or one without a beacon
	LobbyOpen Change = "lobby_open" // whoever knew the value now could use it
	Fixed     Change = "fixed"      // it has another value already
)

// SetBeacon writes down the value that the draw's beacon had, as it was
// published: once, and not before the lobby has closed.
func SetBeacon(ctx context.Context, pool *pgxpool.Pool, event, value string) (outcome Change, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE draws d SET value = $2 FROM events e
			WHERE e.id = $1 AND (d.event_id, d.epoch) = (e.id, e.epoch)
			  AND d.beacon <> '' AND d.value IS NULL AND d.lobby_closes_at <= clock_timestamp()`, event, value)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			outcome = Changed
			return nil
		}
		outcome, err = whyNoValue(ctx, tx, event, value)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("beacon of %s: %w", event, err)
	}
	return outcome, nil
}

func whyNoValue(ctx context.Context, tx pgx.Tx, event, value string) (Change, error) {
	var beacon, has *string
	err := tx.QueryRow(ctx, `
		SELECT d.beacon, d.value FROM events e LEFT JOIN draws d ON (d.event_id, d.epoch) = (e.id, e.epoch)
		WHERE e.id = $1`, event).Scan(&beacon, &has)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return NoSuchEvent, nil
	case err != nil:
		return "", err
	case beacon == nil || *beacon == "":
		return NoBeacon, nil
	case has == nil:
		return LobbyOpen, nil
	case *has == value:
		return Unchanged, nil
	}
	return Fixed, nil
}
