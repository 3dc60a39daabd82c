package ticket

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Recorded is a scan as it was written down. It never changes.
type Recorded struct {
	No        int64 // scans of an event in the order that they were told in
	Sight           // of this scan
	LetIn     bool
	Outcome   Outcome
	Flaw      Flaw
	Ticket    string // its ID; empty: it is none of ours
	Seat      *Seat  // nil: it names none of ours
	First     *Sight // by which the ticket was admitted before
	RevokedAt *time.Time
}

// Sight is when and where a code was seen.
type Sight struct {
	ID, Device, Gate string
	ScannedAt        time.Time // by the device's clock
	RecordedAt       time.Time // by ours
}

// Seat is where the bearer goes.
type Seat struct {
	GUID, Section, Row, Number, Tier string
}

// Conflict reports whether somebody is in whom the house would not have let in.
func (r Recorded) Conflict() bool { return r.LetIn && r.Outcome != Admitted }

const recorded = `
	SELECT c.no, c.id, c.device, c.gate, c.scanned_at, c.at, c.let_in, c.outcome, coalesce(c.flaw, ''),
	  s.pos, s.guid, s.section, s.row, s.number, s.price_tier, c.order_id, c.claimed_at,
	  f.id, f.device, f.gate, f.scanned_at, f.at, v.at, c.request
	FROM scans c LEFT JOIN seats s ON s.id = c.seat_id
	LEFT JOIN scans f ON f.no = c.first LEFT JOIN code_revocations v ON v.id = c.revocation`

func scanned(row pgx.CollectableRow) (r Recorded, request []byte, err error) {
	var pos *int
	var guid, section, label, number, tier *string
	var order *uuid.UUID
	var takenAt, firstAt, firstTold *time.Time
	var firstID, firstDevice, firstGate *string
	err = row.Scan(&r.No, &r.ID, &r.Device, &r.Gate, &r.ScannedAt, &r.RecordedAt, &r.LetIn, &r.Outcome, &r.Flaw,
		&pos, &guid, &section, &label, &number, &tier, &order, &takenAt,
		&firstID, &firstDevice, &firstGate, &firstAt, &firstTold, &r.RevokedAt, &request)
	if err != nil {
		return r, nil, err
	}
	if pos != nil {
		r.Seat = &Seat{*guid, *section, *label, *number, *tier}
	}
	if order != nil {
		r.Ticket = Ticket{Seat: *pos, Generation: Generation(*order, *takenAt)}.ID()
	}
	if firstID != nil {
		r.First = &Sight{*firstID, *firstDevice, *firstGate, *firstAt, *firstTold}
	}
	return r, request, nil
}

// Conflicts are the scans of an event whose bearers are in and should not be, the
// latest first, those before that number (0: all), and at most so many.
func Conflicts(ctx context.Context, pool *pgxpool.Pool, event string, before int64, most int) ([]Recorded, error) {
	rows, err := pool.Query(ctx, recorded+`
		WHERE c.event_id = $1 AND c.let_in AND c.outcome <> 'admitted' AND ($2::bigint = 0 OR c.no < $2)
		ORDER BY c.no DESC LIMIT $3`, event, before, most)
	if err != nil {
		return nil, fmt.Errorf("conflicts of %s: %w", event, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Recorded, error) {
		r, _, err := scanned(row)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("conflicts of %s: %w", event, err)
	}
	return list, nil
}
