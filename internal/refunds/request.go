package refunds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/notice"
)

// Standing is how an operation stands, for whoever asks.
type Standing struct {
	ID          string
	Order       uuid.UUID
	Payment     uuid.UUID
	Seat        *int64 // nil: the whole payment
	Parent      string
	Reason      Reason
	Status      Status
	Outcome     Outcome // of the last call
	AmountMinor int64
	Currency    string
	Refund      string // the provider's name of it
	AcceptedAt  time.Time
	EndedAt     *time.Time
	Sends       int
	Looks       int
	// Contradicted: it ended as not refunded, and the provider has told of it
	// since as one that did not fail. A person has it.
	Contradicted bool
}

const standing = `
	SELECT f.id, f.order_id, f.payment_id, f.seat_id, coalesce(f.parent, ''), f.reason, f.status, f.outcome, f.amount_minor, f.currency,
	  coalesce(f.provider_refund_id, ''), f.accepted_at, f.ended_at, f.sends, f.looks,
	  f.status IN ('rejected', 'failed_later') AND EXISTS (SELECT FROM provider_refunds r
	    WHERE r.payment_id = f.payment_id AND r.status <> 'failed' AND CASE f.status WHEN 'rejected' THEN r.operation = f.id ELSE r.id = f.provider_refund_id END)
	FROM refund_operations f `

// Asking is what became of a request.
type Asking string

// What a request can come to.
const (
	Accepted   Asking = "accepted"
	Known      Asking = "known"        // asked before: the same operation, however it stands now
	NoSuchLine Asking = "no_such_line" // the order has no such line, or there is no such order
	NotPaid    Asking = "not_paid"     // there is no money of this order that could go back
	NothingDue Asking = "nothing_due"  // a line that cost nothing
)

// Requesting asks for the refund of one line of a paid order. It never says an
// amount: that is the line's.
type Requesting struct {
	Install string
	Order   uuid.UUID
	Seat    int64
	By      string // who asks, for the evidence
	// BesideMinor is what went back of its payment by hand, where a person who knew of
	// it has said that this goes all the same.
	BesideMinor int64
	// ProviderAmount tells an amount in the unit that the provider counts in.
	ProviderAmount func(minor int64, currency string) (int64, error)
}

// Request accepts the refund of a line, once: whoever asks again, double-clicks
// or lost the answer gets the same operation, or the one that has followed it.
func Request(ctx context.Context, tx pgx.Tx, r Requesting) (Standing, Asking, error) {
	if err := as(ctx, tx, r.By); err != nil {
		return Standing{}, "", err
	}
	o := Operation{Install: r.Install, Order: r.Order, Seat: &r.Seat, Reason: Requested, BesideMinor: r.BesideMinor}
	var payment *uuid.UUID
	err := tx.QueryRow(ctx, `
		SELECT o.event_id, o.payment_id, l.amount_minor, o.currency
		FROM orders o JOIN order_lines l ON l.order_id = o.id
		WHERE o.id = $1 AND l.seat_id = $2 FOR NO KEY UPDATE OF o`, r.Order, r.Seat).Scan(&o.Event, &payment, &o.AmountMinor, &o.Currency)
	if errors.Is(err, pgx.ErrNoRows) {
		return Standing{}, NoSuchLine, nil
	}
	if err != nil {
		return Standing{}, "", fmt.Errorf("request refund of %s: %w", r.Order, err)
	}
	if known, err := Newest(ctx, tx, o.ID()); err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return known, Known, err
	}
	if payment == nil {
		return Standing{}, NotPaid, nil
	}
	if o.AmountMinor == 0 {
		return Standing{}, NothingDue, nil
	}
	o.Payment = *payment
	return r.accept(ctx, tx, o)
}

func (r Requesting) accept(ctx context.Context, tx pgx.Tx, o Operation) (Standing, Asking, error) {
	err := tx.QueryRow(ctx, `SELECT provider_payment_id FROM payments WHERE id = $1 FOR NO KEY UPDATE`, o.Payment).Scan(&o.ProviderPayment)
	if err != nil {
		return Standing{}, "", fmt.Errorf("payment %s: %w", o.Payment, err)
	}
	if o.ProviderAmount, err = r.ProviderAmount(o.AmountMinor, o.Currency); err != nil {
		return Standing{}, "", err
	}
	if _, err = Owe(ctx, tx, o); err != nil {
		return Standing{}, "", err
	}
	err = notice.Write(ctx, tx, notice.Notice{
		Kind: "refund.queued", Event: o.Event, Subject: o.ID(), Version: 1,
		Body: toldBody{o.ID(), o.Order, o.Payment, o.Reason, o.AmountMinor, o.Currency, Queued, ""},
	})
	if err != nil {
		return Standing{}, "", err
	}
	s, err := Newest(ctx, tx, o.ID())
	return s, Accepted, err
}

// reader is a pool or a transaction.
type reader interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Newest is the operation of that name, or the last that followed it;
// pgx.ErrNoRows if there is none.
func Newest(ctx context.Context, db reader, id string) (Standing, error) {
	rows, err := db.Query(ctx, standing+`
		WHERE split_part(f.id, '#', 1) = split_part($1, '#', 1)
		  AND f.order_id = (SELECT order_id FROM refund_operations WHERE id = $1)
		ORDER BY f.created_at DESC, length(f.id) DESC, f.id DESC LIMIT 1`, id)
	if err != nil {
		return Standing{}, fmt.Errorf("refund %s: %w", id, err)
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Standing])
	if err != nil {
		return Standing{}, fmt.Errorf("refund %s: %w", id, err)
	}
	return s, nil
}

// OfOrder are the operations of an order, the oldest first.
func OfOrder(ctx context.Context, db reader, order uuid.UUID) ([]Standing, error) {
	rows, err := db.Query(ctx, standing+`WHERE f.order_id = $1 ORDER BY f.created_at, f.id`, order)
	if err != nil {
		return nil, fmt.Errorf("refunds of order %s: %w", order, err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Standing])
}
