package refunds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// GiveUp hands to a person what was tried and has no end in the time that is
// promised, or nothing left to try. What was never sent is put on the list when
// it is late, and still sent when its turn comes: nothing is in doubt about it,
// and nobody's work is to send it. It returns how many operations moved.
func (l Ledger) GiveUp(ctx context.Context) (moved int, err error) {
	rows, err := l.Pool.Query(ctx, `
		SELECT id FROM refund_operations
		WHERE call IS NULL AND ended_at IS NULL AND sends > 0 AND (
		  status IN ('queued', 'unknown') AND give_up_at <= clock_timestamp()
		  OR status = 'unknown' AND look_after = '' AND looks >= $1 + pushes
		    AND NOT (resend AND sends < $2 + pushes AND first_sent_at > clock_timestamp() - $3::interval))
		ORDER BY give_up_at LIMIT 200`, MostLooks, MostSends, KeyLife)
	if err != nil {
		return 0, fmt.Errorf("give up: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("give up: %w", err)
	}
	var faults error
	for _, id := range ids { // one that is locked for long keeps none of the others
		if err := l.giveUp(ctx, id); err != nil {
			faults = errors.Join(faults, fmt.Errorf("give up %s: %w", id, err))
			continue
		}
		moved++
	}
	return moved, errors.Join(faults, l.listLate(ctx), l.listPending(ctx), l.listSums(ctx))
}

// giveUp looks again under the lock: a call, a notice or a person may have been
// faster.
func (l Ledger) giveUp(ctx context.Context, id string) error {
	return pg.InTx(ctx, l.Pool, func(tx pgx.Tx) error {
		e, err := lockEntry(ctx, tx, id)
		if errors.Is(err, pgx.ErrNoRows) || err != nil {
			return err
		}
		if e.call != nil || e.Status != Queued && e.Status != Unknown {
			return nil
		}
		s := Step{Doubt: e.Doubt, Outcome: e.Outcome, Detail: fmt.Sprintf(
			"no end within %s of its acceptance, or nothing left to try: %d sends, %d looks", Promise, e.Sends, e.Looks)}
		s.manual()
		return e.record(ctx, tx, s, false)
	})
}

// listLate puts what broke the promise before a person where it is not theirs to
// decide yet: what was never sent, and what has a call of which nobody hears, a
// whole call's limit after its time. It stays with them until it has its end: where
// somebody took it off the list before, it is there again. Who ends an operation
// meanwhile has its row, or waits for it here and then finds the item: none is left
// of what has its end.
func (l Ledger) listLate(ctx context.Context) error {
	_, err := l.Pool.Exec(ctx, `
		WITH late AS MATERIALIZED (
		  SELECT id, order_id, payment_id, call FROM refund_operations
		  WHERE ended_at IS NULL AND (status = 'queued' AND sends = 0 AND give_up_at <= clock_timestamp()
		    OR status IN ('submitted', 'unknown') AND call IS NOT NULL
		      AND give_up_at <= clock_timestamp() - (SELECT call_limit FROM outlet_quota))
		  FOR SHARE SKIP LOCKED)
		INSERT INTO human_list AS h (kind, subject, operation, order_id, payment_id, detail)
		SELECT $1, id, id, order_id, payment_id, CASE WHEN call IS NULL THEN 'it was never sent, and still waits for its turn'
		  ELSE 'its time is over, and its call has no answer' END
		FROM late
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, opened_at = now(), detail = excluded.detail
		WHERE h.resolved_at IS NOT NULL`, isLate)
	return wrap("list late refunds", err)
}

// OnItsWayFor is how long the provider may have a refund before a person hears of it.
const OnItsWayFor = 10 * 24 * time.Hour

// listPending tells a person, once, of what the provider has had for so long that
// its account may be empty, or its word lost. Nothing is in doubt: it stays pending,
// and is asked after as before.
func (l Ledger) listPending(ctx context.Context) error {
	after := cmp.Or(l.OnItsWayFor, OnItsWayFor)
	says := "it has been on its way at the provider for " + after.String() + " and longer"
	rows, err := l.Pool.Query(ctx, `
		SELECT f.id FROM refund_operations f
		WHERE f.status = 'pending' AND f.ended_at IS NULL AND f.accepted_at <= clock_timestamp() - $1::interval
		  AND NOT EXISTS (SELECT FROM human_list h JOIN human_notes n ON n.item = h.id
		    WHERE h.kind = $2 AND h.subject = f.id AND n.note = $3)
		ORDER BY f.accepted_at LIMIT 200`, after, isLate, says)
	if err != nil {
		return fmt.Errorf("list refunds on their way: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list refunds on their way: %w", err)
	}
	var faults error
	for _, id := range ids {
		faults = errors.Join(faults, pg.InTx(ctx, l.Pool, func(tx pgx.Tx) error {
			e, err := lockEntry(ctx, tx, id)
			if err != nil || e.Status != Pending {
				return err
			}
			return listOnce(ctx, tx, item{isLate, id, id, says})
		}))
	}
	return faults
}

// sumAlone is how long a sum that the provider told of waits for the notices of the
// refunds that it is made of.
const sumAlone = 5 * time.Minute

// listSums tells a person of money that the provider says to have refunded and that
// no refund explains, neither told of by its name nor sent by us: somebody made it by
// hand, and its own notice is lost or was never asked for. Said once of each sum.
func (l Ledger) listSums(ctx context.Context) error {
	_, err := l.Pool.Exec(ctx, `
		INSERT INTO human_list AS h (kind, subject, order_id, payment_id, detail)
		SELECT $1, p.provider_payment_id, p.order_id, p.id, format(
		  '%s says that %s %s were refunded of it%s, and of part of that we have been told no refund', p.provider, s.sum_minor, p.currency,
		  CASE WHEN s.failed_minor > 0 THEN format(', after %s had failed', s.failed_minor) ELSE '' END)
		FROM payments p CROSS JOIN LATERAL sum_alone(p.id) s
		WHERE p.told_refunded_minor > p.refunded_minor + p.refund_pending_minor AND p.told_at <= clock_timestamp() - $2::interval
		  AND s.sum_minor IS NOT NULL
		ON CONFLICT (kind, subject) DO UPDATE SET resolved_at = NULL, detail = excluded.detail,
		  opened_at = CASE WHEN h.resolved_at IS NULL THEN h.opened_at ELSE now() END
		WHERE h.detail <> excluded.detail`, madeByHand, sumAlone)
	return wrap("list sums refunded", err)
}
