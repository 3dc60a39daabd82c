package inventory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/notice"
	"waitroom/internal/organiser"
	"waitroom/internal/pg"
)

// Control is what the organiser wants of a sale.
type Control string

const (
	Running       Control = "run"
	Paused        Control = "paused" // nobody is let in; who is inside may still buy
	ClosedForGood Control = "closed"
)

// Asker is whose wish a change is. The zero one is whoever holds the
// connection: the operator, at the command line.
type Asker struct {
	By string // as the audit's rows name them
	// Attempt names the wish, Request is its hash: the same again is answered
	// the same and does nothing. Empty: it is not remembered.
	Organiser, Attempt string
	Request            [32]byte
}

// Steered is what became of a wish, and where the event stood after it.
type Steered struct {
	Change  Change  `json:"change"`
	Control Control `json:"control"`
	Version int64   `json:"version"`
}

// Steer makes a sale run, pause or close. Closed is final.
func Steer(ctx context.Context, pool *pgxpool.Pool, event string, to Control, who Asker) (Steered, error) {
	out, err := change(ctx, pool, event, who, func(tx pgx.Tx) error { return steer(ctx, tx, event, to) })
	if to == ClosedForGood && out.Change == EventClosed {
		out.Change = Unchanged
	}
	return out, err
}

func steer(ctx context.Context, tx pgx.Tx, event string, to Control) error {
	var version int64
	err := tx.QueryRow(ctx, `
		UPDATE events SET control = $2, version = version + 1
		WHERE id = $1 AND control <> 'closed' AND control <> $2
		RETURNING version`, event, to).Scan(&version)
	if err != nil || to != Paused {
		return err
	}
	return notice.Write(ctx, tx, notice.Notice{
		Kind: "event.paused", Event: event, Subject: event, Version: version,
		Body: map[string]any{"event": event, "version": version},
	})
}

// change runs one guarded update of an event. Zero rows: now read why. That
// read is safe: events are never deleted and closed is final, and otherwise the
// guard has seen, at its own instant, that things were as wished.
func change(ctx context.Context, pool *pgxpool.Pool, event string, who Asker, update func(pgx.Tx) error) (out Steered, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		before, err := who.asks(ctx, tx)
		if err != nil {
			return err
		}
		if before != nil {
			out = *before
			return errRefused
		}
		if out, err = changed(ctx, tx, event, update); err != nil {
			return err
		}
		if out.Change == NoSuchEvent || out.Change == EventClosed {
			return errRefused // a no is not remembered
		}
		return who.attempt().End(ctx, tx, out)
	})
	if err != nil && !errors.Is(err, errRefused) {
		return Steered{}, fmt.Errorf("event %s: %w", event, err)
	}
	return out, nil
}

func changed(ctx context.Context, tx pgx.Tx, event string, update func(pgx.Tx) error) (Steered, error) {
	out := Steered{Change: Changed}
	err := update(tx)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return out, err
	}
	if err != nil {
		out.Change = Unchanged
	}
	err = tx.QueryRow(ctx, `SELECT control, version FROM events WHERE id = $1`, event).Scan(&out.Control, &out.Version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Steered{Change: NoSuchEvent}, nil
	case out.Change == Unchanged && out.Control == ClosedForGood:
		out.Change = EventClosed
	}
	return out, err
}

// signs says whose change comes next in this transaction.
func (w Asker) signs(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `SELECT set_config('waitroom.by', $1, true)`, w.By)
	return err
}

// asks names the asker in this transaction, and begins the attempt. One that was
// there gets its answer.
func (w Asker) asks(ctx context.Context, tx pgx.Tx) (before *Steered, err error) {
	if err := w.signs(ctx, tx); err != nil {
		return nil, err
	}
	b, err := w.attempt().Begin(ctx, tx)
	switch {
	case err != nil || !b.Known:
		return nil, err
	case b.Reused:
		return &Steered{Change: AttemptReused}, nil
	}
	err = json.Unmarshal(b.Answer, &before)
	return before, err
}

func (w Asker) attempt() organiser.Attempt {
	return organiser.Attempt{Organiser: w.Organiser, Key: w.Attempt, Request: w.Request}
}
