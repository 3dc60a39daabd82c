package ticket

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Outcome is what a door is told of a code.
type Outcome string

// The outcomes.
const (
	Admitted  Outcome = "admitted"
	AlreadyIn Outcome = "already_in" // it was admitted before: Record.First says when and where
	Revoked   Outcome = "revoked"    // its seat is not its order's any more
	NotPaid   Outcome = "not_paid"
	NotValid  Outcome = "not_valid" // Record.Flaw says why

	IDReused Outcome = "id_reused" // nothing was recorded: the device used this name for another scan
)

// Scan is a code that was shown at a door.
type Scan struct {
	// ID is unlike any other of the same device: the same scan again, however it
	// comes, is recorded once and answered the same.
	ID, Device string
	Code, Gate string
	ScannedAt  *time.Time // by the device's clock; nil: now, by ours
	LetIn      bool       // the device decided by itself, and its bearer is in
	By         string     // the key by which it was told
}

// request is what makes two scans of one name the same.
func (s Scan) request() [32]byte {
	text, _ := json.Marshal([]any{s.Code, s.Gate, s.ScannedAt, s.LetIn}) //nolint:errcheck // nothing of it can fail
	return sha256.Sum256(text)
}

// sale is one taking of a seat for an order, which a code is of.
type sale struct {
	seat    int64
	order   uuid.UUID
	takenAt time.Time
}

// found is what a code's seat says of it, while its row is held.
type found struct {
	sale
	status     string // the order's, which has the seat now; else empty
	revocation *int64
	first      *int64 // the scan that it was admitted by
}

// judge says what the door is told. What is void opens nothing, whoever came in by
// it before.
func (f found) judge() (Outcome, Flaw) {
	switch {
	case f.revocation != nil:
		return Revoked, ""
	case f.status == "":
		return NotValid, Unknown
	case f.status != "paid":
		return NotPaid, ""
	case f.first != nil:
		return AlreadyIn, ""
	}
	return Admitted, ""
}

// Record writes a scan down and says what came of it: one of all scans of a ticket
// is admitted, and whatever comes later is told of that one. It holds the seat's
// row meanwhile, as whoever takes the seat off its order does: what is admitted was
// not revoked before.
func Record(ctx context.Context, pool *pgxpool.Pool, keys *Keys, event string, s Scan) (r Recorded, out Outcome, err error) {
	t, flaw := keys.Read(event, s.Code)
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) (err error) {
		f, outcome := found{}, NotValid
		if flaw == "" {
			if f, err = lookUp(ctx, tx, t); err != nil {
				return err
			}
			outcome, flaw = f.judge()
		}
		r, out, err = write(ctx, tx, event, s, f, outcome, flaw)
		return err
	})
	if err != nil {
		return Recorded{}, "", fmt.Errorf("scan %s of %s: %w", s.ID, s.Device, err)
	}
	return r, out, nil
}

// lookUp takes the ticket's seat and reads what it is to its order, and was to
// earlier ones. The row is locked before anything is read, so that what is read is
// what stands.
func lookUp(ctx context.Context, tx pgx.Tx, t Ticket) (f found, err error) {
	var b pgx.Batch
	b.Queue(`SELECT FROM seats WHERE event_id = $1 AND pos = $2 FOR NO KEY UPDATE`, t.Event, t.Seat)
	b.Queue(`
		SELECT t.seat_id, t.order_id, t.claimed_at, t.status, t.revocation, c.no
		FROM (
		  SELECT s.id AS seat_id, o.id AS order_id, s.claimed_at, o.status, NULL::bigint AS revocation
		  FROM seats s JOIN orders o ON o.id = s.order_id WHERE s.event_id = $1 AND s.pos = $2
		  UNION ALL
		  SELECT r.seat_id, r.order_id, r.claimed_at, '', r.id
		  FROM seats s JOIN code_revocations r ON r.seat_id = s.id WHERE s.event_id = $1 AND s.pos = $2
		) t LEFT JOIN scans c ON (c.seat_id, c.order_id, c.claimed_at) = (t.seat_id, t.order_id, t.claimed_at) AND c.outcome = 'admitted'`,
		t.Event, t.Seat,
	).Query(func(rows pgx.Rows) error {
		var one found
		_, err := pgx.ForEachRow(rows, []any{&one.seat, &one.order, &one.takenAt, &one.status, &one.revocation, &one.first}, func() error {
			if Generation(one.order, one.takenAt) == t.Generation {
				f = one
			}
			return nil
		})
		return err
	})
	return f, tx.SendBatch(ctx, &b).Close()
}

// write records the scan, unless its device has told of it before, and reads what
// stands of its name.
func write(ctx context.Context, tx pgx.Tx, event string, s Scan, f found, outcome Outcome, flaw Flaw) (r Recorded, out Outcome, err error) {
	request := s.request()
	var of *sale
	if outcome != NotValid {
		of = &f.sale
	}
	seat, order, takenAt := of.columns()
	var b pgx.Batch
	b.Queue(`
		INSERT INTO scans (event_id, device, id, request, gate, by, scanned_at, let_in, outcome, flaw,
		  seat_id, order_id, claimed_at, first, revocation)
		VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, clock_timestamp()), $8, $9, nullif($10, ''), $11, $12, $13, $14, $15)
		ON CONFLICT (event_id, device, id) DO NOTHING`,
		event, s.Device, s.ID, request[:], s.Gate, s.By, s.ScannedAt, s.LetIn, outcome, flaw,
		seat, order, takenAt, f.first, f.revocation)
	b.Queue(recorded+` WHERE c.event_id = $1 AND c.device = $2 AND c.id = $3`, event, s.Device, s.ID).Query(func(rows pgx.Rows) error {
		var told []byte
		r, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (r Recorded, err error) {
			r, told, err = scanned(row)
			return r, err
		})
		if out = r.Outcome; string(told) != string(request[:]) {
			out = IDReused
		}
		return err
	})
	err = tx.SendBatch(ctx, &b).Close()
	return r, out, err
}

// columns are a sale's in the record: all null where there is none.
func (s *sale) columns() (seat *int64, order *uuid.UUID, takenAt *time.Time) {
	if s == nil {
		return nil, nil, nil
	}
	return &s.seat, &s.order, &s.takenAt
}
