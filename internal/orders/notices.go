package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

// What became of notices that carry no money for an order.
const (
	PaymentFailed    Outcome = "payment_failed"
	PaymentCancelled Outcome = "payment_cancelled"
	Foreign          Outcome = "foreign"       // not of this installation
	NoEffect         Outcome = "no_effect"     // a kind that changes nothing here
	NothingTaken     Outcome = "nothing_taken" // a success of no money
	Unreadable       Outcome = "unreadable"    // ours, signed, and not as the provider documents it
	Faulted          Outcome = "faulted"       // it could not be applied, by a fault of ours: tried again
)

// Says is what a provider notice tells of a payment. Allow-list: the zero
// value tells nothing.
type Says uint8

// The tellings that change something.
const (
	SaysNothing Says = iota
	SaysCaptured
	SaysFailed    // this try failed; the same payment may still succeed
	SaysCancelled // it cannot succeed any more
	SaysUnreadable
	SaysRefunded // of a refund, or of all refunds of a payment: see Refund
)

// ProviderNotice is one message of the provider, its signature verified.
type ProviderNotice struct {
	ID     string // the provider's; applied once
	Kind   string
	Object string
	Body   []byte // as it came
	Says   Says
	// What it is about. Of a foreign or an unreadable object only the provider
	// and the installation are looked at.
	Capture
	Refund refunds.Told // with SaysRefunded
}

// ErrUnreadable refuses a body without so much as an id: nothing can be kept.
var ErrUnreadable = errors.New("orders: provider notice cannot be read")

// Inbox takes the provider's notices.
type Inbox struct {
	Pool    *pgxpool.Pool
	Install string // which installation we are; other installations' payments are foreign
	// Read tells what a body says. An error refuses it.
	Read func(body []byte) (ProviderNotice, error)
	// Seen, unless nil, hears of each notice and what became of it, after that
	// is durable.
	Seen func(ProviderNotice, Outcome)
}

func (in Inbox) seen(n ProviderNotice, o Outcome) {
	if in.Seen != nil {
		in.Seen(n, o)
	}
}

// Receive stores a notice, applies it and writes what follows from it, all in
// one transaction: when it returns without error the effect is durable and the
// provider may forget the notice. With one, nothing of its effect happened; the
// provider sends again, and where the notice could at least be kept, we try again
// ourselves (RetryWaiting), should the provider give up. A copy, also one that
// comes at the same instant, gets the first one's outcome and changes nothing;
// one of a notice that could not be applied applies it.
func (in Inbox) Receive(ctx context.Context, body []byte) (outcome Outcome, err error) {
	n, err := in.Read(body)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	var fault error
	err = pg.InTx(ctx, in.Pool, func(tx pgx.Tx) error {
		fresh, err := store(ctx, tx, n)
		if err != nil {
			return err
		}
		if !fresh {
			outcome, err = firstOutcome(ctx, tx, n)
			if err != nil || outcome != Faulted {
				return err
			}
		}
		if outcome, fault = in.attempt(ctx, tx, n); fault != nil {
			outcome = Faulted
		}
		return settle(ctx, tx, n, outcome)
	})
	if err = errors.Join(fault, err); err != nil {
		return "", fmt.Errorf("provider notice %s (%s): %w", n.ID, n.Kind, err)
	}
	in.seen(n, outcome)
	return outcome, nil
}

// attempt applies a notice in a savepoint: what fails is undone, and its row
// stays.
func (in Inbox) attempt(ctx context.Context, tx pgx.Tx, n ProviderNotice) (outcome Outcome, err error) {
	err = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) (err error) {
		outcome, err = in.apply(ctx, savepoint, n)
		return err
	})
	return outcome, err
}

// store is where copies take turns: the second waits for the first one's
// transaction, and then finds its row or, if that came to nothing, its place.
func store(ctx context.Context, tx pgx.Tx, n ProviderNotice) (fresh bool, err error) {
	tag, err := tx.Exec(ctx, `
		INSERT INTO provider_notices (provider, notice_id, kind, object_id, body, status, next_try_at)
		VALUES ($1, $2, $3, $4, $5, 'waiting', now())
		ON CONFLICT (provider, notice_id) DO NOTHING`,
		n.Provider, n.ID, n.Kind, n.Object, n.Body)
	return tag.RowsAffected() == 1, err
}

// firstOutcome has a snapshot of its own, taken after the first copy's commit.
// It is Faulted only while the notice is still to be applied; the row is then
// held, so that one copy at a time does.
func firstOutcome(ctx context.Context, tx pgx.Tx, n ProviderNotice) (outcome Outcome, err error) {
	err = tx.QueryRow(ctx, `SELECT outcome FROM provider_notices
		WHERE provider = $1 AND notice_id = $2`, n.Provider, n.ID).Scan(&outcome)
	if err != nil || outcome != Faulted {
		return outcome, err
	}
	err = tx.QueryRow(ctx, `SELECT CASE WHEN outcome = 'faulted' AND status <> 'waiting' THEN 'unknown_order' ELSE outcome END
		FROM provider_notices WHERE provider = $1 AND notice_id = $2 FOR NO KEY UPDATE`, n.Provider, n.ID).Scan(&outcome)
	return outcome, err
}

func (in Inbox) apply(ctx context.Context, tx pgx.Tx, n ProviderNotice) (Outcome, error) {
	switch {
	case n.Says == SaysNothing:
		return NoEffect, nil
	case n.Says == SaysRefunded: // whose it is, its payment's row says: others' refunds carry no name of ours
		heard, err := refunds.Heard(ctx, tx, n.Refund)
		if heard == refunds.HeardForeign && n.Install == in.Install {
			heard = refunds.HeardUnknown
		}
		return Outcome(heard), err
	case n.Install != in.Install && n.Says != SaysUnreadable:
		return Foreign, nil
	case n.Install != in.Install:
		return n.unreadable(ctx, tx)
	case n.Says == SaysCaptured && n.AmountMinor > 0:
		return Pay(ctx, tx, n.Capture)
	case n.Says == SaysCaptured:
		return NothingTaken, nil
	case n.Says == SaysFailed:
		return PaymentFailed, n.mark(ctx, tx, "failed", "opening", "open")
	case n.Says == SaysCancelled:
		return PaymentCancelled, n.mark(ctx, tx, "cancelled", "opening", "open", "failed")
	}
	return Unreadable, nil
}

// unreadable is foreign, unless it names a payment of ours: refunds that others
// made carry no name of ours.
func (n ProviderNotice) unreadable(ctx context.Context, tx pgx.Tx) (Outcome, error) {
	if err := refunds.TakeTurns(ctx, tx, n.Provider, n.ProviderPayment); err != nil {
		return "", err
	}
	var ours bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payments WHERE provider = $1 AND provider_payment_id = $2)`,
		n.Provider, n.ProviderPayment).Scan(&ours)
	if err != nil {
		return "", fmt.Errorf("payment %s: %w", n.ProviderPayment, err)
	}
	if ours {
		return Unreadable, nil
	}
	return Foreign, nil
}

// mark records what a payment without money came to. Captured is not among the
// states that it may come from: a failure never undoes a success. A payment
// that has no row has nothing that could be marked.
func (c Capture) mark(ctx context.Context, tx pgx.Tx, status string, from ...string) error {
	var ours *uuid.UUID
	if c.Payment != uuid.Nil {
		ours = &c.Payment
	}
	var id uuid.UUID
	err := tx.QueryRow(ctx, `
		UPDATE payments SET status = $4, provider_payment_id = $2,
		  look_at = CASE WHEN $4 <> 'cancelled' THEN look_at END
		WHERE id = coalesce(
		    (SELECT id FROM payments WHERE provider = $1 AND provider_payment_id = $2),
		    (SELECT id FROM payments WHERE id = $3 AND provider = $1 AND provider_payment_id IS NULL))
		  AND status = ANY($5)
		RETURNING id`, c.Provider, c.ProviderPayment, ours, status, from).Scan(&id)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil || status != "cancelled":
		return err
	}
	return foundOut(ctx, tx, PaymentUnknown, id.String())
}

const (
	// giveUpAfter is how long a notice may wait for its order to appear. An
	// order is committed before its payment is asked for, so only a restored
	// or repaired database makes one wait at all. What is told of a refund waits
	// for its payment's money for as long as that may still be counted, and nobody
	// has said that it is not looked for any more.
	giveUpAfter = 10 * time.Minute
	// slowestRetry bounds the doubling from one second.
	slowestRetry = time.Minute
)

// rest says where a notice with an outcome comes to rest.
func (o Outcome) rest() string {
	switch o {
	case Paid, Reclaimed, AlreadyPaid, PaidTwice, PaidTooLate, PaymentFailed, PaymentCancelled,
		Outcome(refunds.HeardConfirmed), Outcome(refunds.HeardFailed), Outcome(refunds.HeardOnItsWay),
		Outcome(refunds.HeardAgain), Outcome(refunds.HeardSum):
		return "applied"
	case NoEffect, Foreign, NothingTaken, Outcome(refunds.HeardForeign):
		return "ignored"
	case UnknownOrder, Faulted, Outcome(refunds.HeardUnknown):
		return "waiting"
	}
	return "human"
}

// about is the payment whose money has what is told of its refunds tried again.
func (n ProviderNotice) about(o Outcome) string {
	switch {
	case o == Outcome(refunds.HeardUnknown), o == Outcome(refunds.HeardForeign):
		return n.Refund.ProviderPayment
	case o == Foreign && n.Says == SaysUnreadable:
		return n.ProviderPayment
	}
	return ""
}

// settle writes the outcome on the notice's row. A notice that waited too long
// for its order becomes a person's, with the money that it tells of.
func settle(ctx context.Context, tx pgx.Tx, n ProviderNotice, outcome Outcome) error {
	var status string
	err := tx.QueryRow(ctx, `
		WITH verdict AS (
		  SELECT provider, notice_id, CASE WHEN $3 = 'waiting' AND received_at <= now() - $5::interval
		    AND NOT EXISTS (SELECT FROM payments p WHERE provider = $1 AND $7 <> '' AND status IN ('opening', 'open', 'failed')
		      AND (provider_payment_id = $7 OR id = $8 AND provider_payment_id IS NULL)
		      AND (look_at IS NOT NULL OR NOT EXISTS (SELECT FROM human_list h
		        WHERE h.kind = 'payment_unknown' AND h.subject = p.id::text AND h.resolved_at IS NOT NULL)))
		    THEN 'human' ELSE $3 END AS status
		  FROM provider_notices WHERE provider = $1 AND notice_id = $2 AND status = 'waiting')
		UPDATE provider_notices n SET status = v.status, outcome = $4, tries = n.tries + 1, about = $7,
		  next_try_at = CASE WHEN v.status = 'waiting'
		    THEN now() + least(interval '1 second' * power(2, least(n.tries, 20)), $6::interval) END,
		  done_at = CASE WHEN v.status <> 'waiting' THEN now() END
		FROM verdict v WHERE n.provider = v.provider AND n.notice_id = v.notice_id
		RETURNING n.status`, n.Provider, n.ID, outcome.rest(), outcome, giveUpAfter, slowestRetry,
		n.about(outcome), n.Payment).Scan(&status)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	if status == "human" && outcome == Unreadable {
		return list(ctx, tx, Unreadable, cmp.Or(n.Object, n.ID), nil, nil, fmt.Sprintf(
			"a signed %s of %s about %s that cannot be read: %s", n.Kind, n.Provider, cmp.Or(n.ProviderPayment, n.Object), n.ID))
	}
	if status == "human" && outcome == Outcome(refunds.HeardUnknown) {
		return list(ctx, tx, UnknownOrder, n.Refund.ProviderPayment, nil, nil, fmt.Sprintf(
			"%s tells of refunds of %s, whose money never came", n.Provider, n.Refund.ProviderPayment))
	}
	if outcome != UnknownOrder && outcome != Faulted || status != "human" {
		return nil
	}
	if n.Says == SaysRefunded {
		return list(ctx, tx, Unreadable, cmp.Or(n.Object, n.ID), nil, nil, fmt.Sprintf(
			"a %s of %s about refunds of %s that could not be applied: %s", n.Kind, n.Provider, n.Refund.ProviderPayment, n.ID))
	}
	return list(ctx, tx, UnknownOrder, n.ProviderPayment, nil, nil, fmt.Sprintf(
		"%s captured %d %s for order %s, which could not be found or not be paid", n.Provider, n.AmountMinor, n.Currency, n.Order))
}
