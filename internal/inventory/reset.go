package inventory

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Anew is how an event is begun anew, as before a sale that was rehearsed: what is
// zero stays as it is.
type Anew struct {
	OpensAt                     time.Time
	LobbyOpensAt, LobbyClosesAt time.Time
	Beacon                      string
	// Orders: also when orders of this line are pending or paid. They stay as they
	// are, and so do their seats.
	Orders bool
}

// Begun is what became of it.
type Begun struct {
	Change        Change
	Epoch         int64
	Commit        string // of the new draw; "": first come, first served
	Pending, Paid int    // orders of the line before
}

// What may stand in the way of beginning anew.
const (
	OrdersStand Change = "orders_stand"
	LobbyPast   Change = "lobby_past"   // the lobby would be closed already
	OldBeacon   Change = "old_beacon"   // its value may be known before the lobby closes
	OpensPast   Change = "opens_past"   // the opening that was given is over: who comes first would be let in at once
	TooSoon     Change = "too_soon"     // the opening leaves no time for the draw
	NoDraw      Change = "no_draw"      // there is none to give a lobby's time or a beacon
	EndsFirst   Change = "closes_first" // the sale, or the lobby, would close before it opens
)

// PastOpening is how long ago an opening may be set to: for clocks that differ, and
// for "now".
const PastOpening = time.Minute

// DrawLead is the least time from a lobby's closing to the opening: the draw comes
// between.
const DrawLead = 15 * time.Second

// Reset begins an event anew: nobody of before has a place any more. Its line gets
// the next epoch and, where its lobby is drawn, a seed that nobody has seen: both
// or neither. Closed is final.
func Reset(ctx context.Context, pool *pgxpool.Pool, event string, who Asker, a Anew) (out Begun, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := who.signs(ctx, tx); err != nil {
			return err
		}
		e, now, err := locked(ctx, tx, event)
		if err != nil {
			return err
		}
		if e.Draw, err = lastDraw(ctx, tx, event); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `
			SELECT count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'paid')
			FROM orders WHERE event_id = $1 AND epoch = (SELECT epoch FROM events WHERE id = $1)`, event).Scan(&out.Pending, &out.Paid); err != nil {
			return err
		}
		if out.Change = a.refused(now, e, out.Pending+out.Paid); out.Change != "" {
			return errRefused
		}
		out.Change = Changed
		e = a.on(e)
		return out.write(ctx, tx, e)
	})
	switch {
	case errors.Is(err, errRefused):
		return out, nil
	case errors.Is(err, pgx.ErrNoRows):
		return Begun{Change: NoSuchEvent}, nil
	case err != nil:
		return Begun{}, fmt.Errorf("begin %s anew: %w", event, err)
	}
	return out, nil
}

// lastDraw is how the event's lobby was last drawn, of whatever line: who began one
// without a draw did not mean to.
func lastDraw(ctx context.Context, tx pgx.Tx, event string) (*Draw, error) {
	var d Draw
	err := tx.QueryRow(ctx, `
		SELECT lobby_opens_at, lobby_closes_at, beacon FROM draws WHERE event_id = $1
		ORDER BY epoch DESC LIMIT 1`, event).Scan(&d.LobbyOpensAt, &d.LobbyClosesAt, &d.Beacon)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &d, err
}

func (b *Begun) write(ctx context.Context, tx pgx.Tx, e Event) error {
	if err := tx.QueryRow(ctx, `
		UPDATE events SET epoch = epoch + 1, opens_at = $2, version = version + 1
		WHERE id = $1 RETURNING epoch`, e.ID, e.OpensAt).Scan(&b.Epoch); err != nil {
		return err
	}
	if e.Draw == nil {
		return nil
	}
	if err := e.Draw.write(ctx, tx, e.ID); err != nil {
		return err
	}
	var commit []byte
	err := tx.QueryRow(ctx, `SELECT commitment FROM draws WHERE event_id = $1 AND epoch = $2`, e.ID, b.Epoch).Scan(&commit)
	b.Commit = hex.EncodeToString(commit)
	return err
}

// on is the event as it is begun.
func (a Anew) on(e Event) Event {
	if !a.OpensAt.IsZero() {
		e.OpensAt = a.OpensAt
	}
	if e.Draw != nil {
		d := *e.Draw
		if !a.LobbyOpensAt.IsZero() {
			d.LobbyOpensAt = a.LobbyOpensAt
		}
		if !a.LobbyClosesAt.IsZero() {
			d.LobbyClosesAt = a.LobbyClosesAt
		}
		d.Beacon = cmp.Or(a.Beacon, d.Beacon)
		e.Draw = &d
	}
	return e
}

// refused is why not; "": it may be.
func (a Anew) refused(now time.Time, old Event, orders int) Change {
	e := a.on(old)
	switch {
	case Control(e.Control) == ClosedForGood || e.ClosesAt != nil && !e.ClosesAt.After(now):
		return EventClosed
	case orders > 0 && !a.Orders:
		return OrdersStand
	case !a.OpensAt.IsZero() && a.OpensAt.Before(now.Add(-PastOpening)):
		return OpensPast
	case e.ClosesAt != nil && !e.ClosesAt.After(e.OpensAt):
		return EndsFirst
	case e.Draw == nil && (!a.LobbyOpensAt.IsZero() || !a.LobbyClosesAt.IsZero() || a.Beacon != ""):
		return NoDraw
	case e.Draw == nil:
		return ""
	case !e.Draw.LobbyClosesAt.After(now):
		return LobbyPast
	case !e.Draw.LobbyClosesAt.After(e.Draw.LobbyOpensAt):
		return EndsFirst
	case e.OpensAt.Before(e.Draw.LobbyClosesAt.Add(DrawLead)):
		return TooSoon
	case e.Draw.Beacon != "" && a.Beacon == "" && e.Draw.LobbyClosesAt.After(old.Draw.LobbyClosesAt):
		return OldBeacon
	}
	return ""
}
