package refunds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waitroom/internal/inventory"
	"waitroom/internal/notice"
)

// entry is one operation's row, locked, with its payment's.
type entry struct {
	Case
	id       string
	order    uuid.UUID
	payment  uuid.UUID
	seat     *int64 // the line's; nil: the whole payment
	event    string
	provider string
	reason   Reason
	amount   int64 // minor units
	currency string
	refund   string // the provider's name of it; "" while it is not known
	call     *int64 // the call under way
	denied   bool   // the provider says that it knows no such refund
	now      time.Time
}

// lockEntry locks the payment, then the operation, as everybody does;
// pgx.ErrNoRows if there is none. Whoever may confirm the operation has locked
// its line before (inventory.LockToGiveBack).
func lockEntry(ctx context.Context, tx pgx.Tx, id string) (entry, error) {
	_, err := tx.Exec(ctx, `SELECT FROM payments p JOIN refund_operations f ON f.payment_id = p.id
		WHERE f.id = $1 FOR NO KEY UPDATE OF p`, id)
	if err != nil {
		return entry{}, fmt.Errorf("lock payment of %s: %w", id, err)
	}
	e := entry{id: id}
	var firstSent *time.Time
	err = tx.QueryRow(ctx, `
		SELECT f.status, f.accepted_at, f.give_up_at, f.next_at, f.first_sent_at, f.sends, f.looks, f.pushes, f.pushed,
		  f.doubt, f.resend, f.look_after, f.outcome, f.late_looks, f.order_id, f.payment_id, f.seat_id, o.event_id, p.provider, f.reason,
		  f.amount_minor, f.currency, coalesce(f.provider_refund_id, ''), f.call, f.denied_at IS NOT NULL, clock_timestamp()
		FROM refund_operations f JOIN orders o ON o.id = f.order_id JOIN payments p ON p.id = f.payment_id
		WHERE f.id = $1 FOR UPDATE OF f`, id).
		Scan(&e.Status, &e.AcceptedAt, &e.GiveUpAt, &e.NextAt, &firstSent, &e.Sends, &e.Looks, &e.Pushes, &e.Pushed,
			&e.Doubt, &e.Resend, &e.LookAfter, &e.Outcome, &e.LateLooks, &e.order, &e.payment, &e.seat, &e.event, &e.provider, &e.reason,
			&e.amount, &e.currency, &e.refund, &e.call, &e.denied, &e.now)
	if firstSent != nil {
		e.FirstSentAt = *firstSent
	}
	if err != nil {
		return entry{}, fmt.Errorf("lock refund %s: %w", id, err)
	}
	return e, nil
}

// record moves a locked operation, its payment's counters, the human list, the
// line's seat and the outbox, in one transaction. over says that the call under way is.
func (e entry) record(ctx context.Context, tx pgx.Tx, s Step, over bool) error {
	tell := e.tells(s.Status)
	var version int64
	err := tx.QueryRow(ctx, `
		UPDATE refund_operations SET status = $3, next_at = clock_timestamp() + $4::interval, doubt = $5, resend = $6,
		  look_after = $7, pushed = $8, outcome = $9, provider_refund_id = coalesce(provider_refund_id, nullif($10, '')),
		  call = CASE WHEN $11 THEN NULL ELSE call END,
		  ended_at = CASE WHEN NOT $12 THEN NULL WHEN status = $3 THEN ended_at ELSE clock_timestamp() END,
		  version = version + $13, late_look_over_at = CASE WHEN $14 THEN clock_timestamp() ELSE late_look_over_at END,
		  denied_at = CASE WHEN $15 THEN clock_timestamp() ELSE denied_at END
		WHERE id = $1 AND status = $2 RETURNING version`,
		e.id, e.Status, s.Status, s.Wait, s.Doubt, s.Resend, s.LookAfter, s.Pushed, s.Outcome, s.Refund,
		over, s.Status.Ended(), len(tell), s.LateOver, s.Denied).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("refund %s is not %s, though it is locked", e.id, e.Status)
	}
	if err != nil {
		return fmt.Errorf("refund %s to %s: %w", e.id, s.Status, err)
	}
	if s.Ask && s.Status == Confirmed {
		if err := list(ctx, tx, e.doubted(s)); err != nil {
			return err
		}
	} else if s.Ask {
		if err := listOnce(ctx, tx, item{isLate, e.id, e.id, "it is on its way, and asked after, the provider says: " + s.why()}); err != nil {
			return err
		}
	}
	if e.Status == s.Status {
		return nil
	}
	if err := e.count(ctx, tx, s.Status); err != nil {
		return err
	}
	if err := e.ask(ctx, tx, s); err != nil {
		return err
	}
	if err := e.giveBack(ctx, tx, s.Status); err != nil {
		return err
	}
	for _, kind := range tell {
		err = notice.Write(ctx, tx, notice.Notice{
			Kind: kind, Event: e.event, Subject: e.id, Version: version,
			Body: toldBody{e.id, e.order, e.payment, e.reason, e.amount, e.currency, s.Status, s.Outcome},
		})
	}
	return err
}

// giveBack has the line that a confirmed refund was for give its seat back. A
// refund of money that bought nothing has no line. What fails later takes
// nothing again: the seat may be somebody else's by then.
func (e entry) giveBack(ctx context.Context, tx pgx.Tx, to Status) error {
	if to != Confirmed || e.seat == nil {
		return nil
	}
	back, err := inventory.GiveBack(ctx, tx, e.id)
	if err != nil || back != inventory.NotHeld {
		return err
	}
	return list(ctx, tx, item{differs, e.id, e.id, fmt.Sprintf(
		"it is refunded, and its order does not hold seat %d: nothing was given back", *e.seat)})
}

type toldBody struct {
	Operation   string    `json:"operation"`
	Order       uuid.UUID `json:"order"`
	Payment     uuid.UUID `json:"payment"`
	Reason      Reason    `json:"reason"`
	AmountMinor int64     `json:"amount_minor"`
	Currency    string    `json:"currency"`
	Status      Status    `json:"status"`
	Outcome     Outcome   `json:"outcome"`
}

// tells is the notice that a move is worth; none for those on the way.
func (e entry) tells(to Status) []string {
	if e.Status == to {
		return nil
	}
	switch to {
	case Confirmed:
		return []string{"refund.confirmed"}
	case RejectedFor, Manual, FailedLater:
		return []string{"refund.needs_attention"}
	}
	return nil
}

// reserves and refunds say what of the payment an operation in a state stands
// for: money that is on its way back, and money that is back.
func (s Status) reserves() bool { return !s.Ended() }
func (s Status) refunded() bool { return s == Confirmed }

// count moves the money between the payment's counters. Its CHECK refuses what
// would be more than was captured.
func (e entry) count(ctx context.Context, tx pgx.Tx, to Status) error {
	amount := func(before, after bool) int64 {
		switch {
		case before && !after:
			return -e.amount
		case after && !before:
			return e.amount
		}
		return 0
	}
	pending, refunded := amount(e.Status.reserves(), to.reserves()), amount(e.Status.refunded(), to.refunded())
	if pending == 0 && refunded == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		UPDATE payments SET refund_pending_minor = refund_pending_minor + $2, refunded_minor = refunded_minor + $3
		WHERE id = $1`, e.payment, pending, refunded)
	if err != nil {
		return fmt.Errorf("refund %s: count %d: %w", e.id, e.amount, err)
	}
	return nil
}
