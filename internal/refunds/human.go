package refunds

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Why an operation is before a person. Rows are resolved, never deleted; what
// comes again opens the same row anew, and its history has both.
const (
	wasGivenUp  = "refund_manual"   // its budgets or its time are spent
	wasRejected = "refund_rejected" // the provider will not do it
	hasFailed   = "refund_failed"   // the money did not arrive
	isLate      = "refund_late"     // the promise is broken, or the provider has it for long; it goes on by itself
	madeByHand  = "refund_by_hand"  // a refund that none of our operations made
	differs     = "refund_differs"  // the provider tells what our ledger rules out
	keyRefused  = "outlet_stopped"  // no call can succeed: the account's key is refused
)

// ask puts an operation's new state before a person, and takes it off the list
// where the provider has answered for them.
func (e entry) ask(ctx context.Context, tx pgx.Tx, s Step) error {
	switch s.Status {
	case Manual, RejectedFor, FailedLater: // they are asked that, and no more that it is late
		if err := settleItem(ctx, tx, isLate, e.id); err != nil {
			return err
		}
	}
	switch s.Status {
	case Manual:
		return list(ctx, tx, item{wasGivenUp, e.id, e.id, s.why()})
	case RejectedFor:
		return list(ctx, tx, item{wasRejected, e.id, e.id, s.why()})
	case FailedLater:
		return list(ctx, tx, item{hasFailed, e.id, e.id, s.why()})
	case Confirmed:
		// One that somebody seemed to have made by hand turned out to be this.
		return errors.Join(settleItems(ctx, tx, e.id), settleItem(ctx, tx, madeByHand, s.Refund))
	}
	return nil
}

// settleItem resolves what was asked about one refund of the provider's.
func settleItem(ctx context.Context, tx pgx.Tx, kind, providerRefund string) error {
	_, err := tx.Exec(ctx, `UPDATE human_list SET resolved_at = now()
		WHERE kind = $1 AND subject = $2 AND resolved_at IS NULL`, kind, providerRefund)
	return wrap("human list: refund "+providerRefund, err)
}

// sumIsNamed resolves the item of a sum once all of it is told by name, so that the
// same money is not asked about twice: its history says by which names, and whoever
// had it has those. The payment is locked, under which whatever is told is written down.
func sumIsNamed(ctx context.Context, tx pgx.Tx, payment uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		WITH sum AS (
		  SELECT h.id, h.owner, (SELECT string_agg(r.id, ', ' ORDER BY r.told_at, r.id) FROM provider_refunds r WHERE r.payment_id = p.id) AS names
		  FROM payments p JOIN human_list h ON h.kind = $2 AND h.subject = p.provider_payment_id AND h.resolved_at IS NULL
		  WHERE p.id = $1 AND EXISTS (SELECT FROM provider_sums s WHERE s.payment_id = p.id) AND (SELECT sum_minor FROM sum_alone(p.id)) IS NULL
		  FOR NO KEY UPDATE OF h),
		said AS (
		  INSERT INTO human_notes (item, by, did, note)
		  SELECT id, said_by(), 'noted', left('all of it is told by name now: ' || names, 2000) FROM sum),
		handed AS (
		  UPDATE human_list h SET owner = sum.owner FROM sum, provider_refunds r
		  WHERE sum.owner <> '' AND r.payment_id = $1 AND h.kind = $2 AND h.subject = r.id AND h.resolved_at IS NULL AND h.owner = '')
		UPDATE human_list h SET resolved_at = now() FROM sum WHERE h.id = sum.id`, payment, madeByHand)
	return wrap("human list: sum refunded of "+payment.String(), err)
}

func (s Step) why() string {
	if s.Detail == "" {
		return string(s.Outcome)
	}
	return string(s.Outcome) + ": " + s.Detail
}

// item is what a person is asked; operation may be "".
type item struct{ kind, subject, operation, detail string }

// list opens an item, or opens it anew once it was resolved. What the provider has
// said in the same words before is no news: whoever resolved it has read that.
func list(ctx context.Context, tx pgx.Tx, i item) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO human_list AS h (kind, subject, operation, order_id, payment_id, detail)
		SELECT $1, $2, f.id, f.order_id, f.payment_id, left($4, 1000)
		FROM (VALUES ($3)) given (operation) LEFT JOIN refund_operations f ON f.id = given.operation
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, opened_at = now(), detail = excluded.detail
		WHERE h.resolved_at IS NOT NULL AND (h.kind <> $5 OR h.detail <> excluded.detail)`,
		i.kind, i.subject, i.operation, i.detail, differs)
	if err != nil {
		return fmt.Errorf("human list: %s %s: %w", i.kind, i.subject, err)
	}
	return nil
}

// listOnce opens an item, or opens it anew, or adds to the history of one that is
// open, for these words once: a person who has had them is not asked again.
func listOnce(ctx context.Context, tx pgx.Tx, i item) error {
	_, err := tx.Exec(ctx, `
		WITH said AS (
		  INSERT INTO human_notes (item, by, did, note)
		  SELECT h.id, said_by(), 'noted', left($4, 1000) FROM human_list h
		  WHERE h.kind = $1 AND h.subject = $2 AND h.resolved_at IS NULL
		    AND NOT EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.note = left($4, 1000)))
		INSERT INTO human_list AS h (kind, subject, operation, order_id, payment_id, detail)
		SELECT $1, $2, f.id, f.order_id, f.payment_id, left($4, 1000) FROM refund_operations f WHERE f.id = $3
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, opened_at = now(), detail = excluded.detail
		WHERE h.resolved_at IS NOT NULL AND NOT EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.note = excluded.detail)`,
		i.kind, i.subject, i.operation, i.detail)
	if err != nil {
		return fmt.Errorf("human list: %s %s: %w", i.kind, i.subject, err)
	}
	return nil
}

// settleItems resolves what was asked about an operation: what became of it is
// known, and no person has to find out any more. What the ledger rules out stays a
// person's: that the right refund is there says nothing of the wrong one.
func settleItems(ctx context.Context, tx pgx.Tx, operation string) error {
	_, err := tx.Exec(ctx, `UPDATE human_list SET resolved_at = now()
		WHERE operation = $1 AND kind <> $2 AND resolved_at IS NULL`, operation, differs)
	if err != nil {
		return fmt.Errorf("human list: settle %s: %w", operation, err)
	}
	return nil
}

// note adds to the history of whatever is open about an operation.
func note(ctx context.Context, tx pgx.Tx, operation, by, did, text string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO human_notes (item, by, did, note)
		SELECT id, $2, $3, left($4, 2000) FROM human_list WHERE operation = $1 AND resolved_at IS NULL`,
		operation, by, did, text)
	if err != nil {
		return fmt.Errorf("human list: note on %s: %w", operation, err)
	}
	return nil
}

// as makes the database's own evidence name who acts.
func as(ctx context.Context, tx pgx.Tx, by string) error {
	_, err := tx.Exec(ctx, `SELECT set_config('waitroom.by', $1, true)`, by)
	return err
}
