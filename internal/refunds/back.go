package refunds

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// backOtherwise says whether the provider has a refund of what id refunds, under
// the name of an operation before or after it: none that failed. While it has,
// a send of id would be the same money again. It is asked with the payment
// locked, under which whatever the provider tells is written down.
func backOtherwise(ctx context.Context, tx pgx.Tx, id string) (back bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (
		  SELECT FROM refund_operations f JOIN provider_refunds r ON r.payment_id = f.payment_id AND (r.operation = f.id OR r.id = f.provider_refund_id)
		  WHERE split_part(f.id, '#', 1) = split_part($1, '#', 1) AND f.id <> $1 AND r.status <> 'failed'
		    AND f.payment_id = (SELECT payment_id FROM refund_operations WHERE id = split_part($1, '#', 1)))`, id).Scan(&back)
	if err != nil {
		return false, fmt.Errorf("refunds other than %s: %w", id, err)
	}
	return back, nil
}

// holdBack hands to a person what would send again the money that the provider
// says went back as e. Its next send loses the race for the row, or was made
// before anybody knew; then what follows its answer is held back by notTwice.
func (e entry) holdBack(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		SELECT id FROM refund_operations
		WHERE payment_id = $1 AND split_part(id, '#', 1) = split_part($2, '#', 1) AND id <> $2
		  AND ended_at IS NULL AND call IS NULL AND (status = 'queued' OR resend)`, e.payment, e.id)
	if err != nil {
		return fmt.Errorf("what follows %s: %w", e.id, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("what follows %s: %w", e.id, err)
	}
	return stopSends(ctx, tx, ids)
}

// stopSends hands to a person those whose next call would be a send that must not be.
func stopSends(ctx context.Context, tx pgx.Tx, ids []string) error {
	for _, id := range ids {
		next, err := lockEntry(ctx, tx, id)
		if err != nil {
			return err
		}
		s := Step{Status: next.Status, Doubt: next.Doubt, Resend: next.Resend, Outcome: next.Outcome}
		if s, err = next.notTwice(ctx, tx, s); err != nil {
			return err
		}
		if next.call != nil || s.Status != Manual { // the outlet was faster
			continue
		}
		if err := next.record(ctx, tx, s, false); err != nil {
			return err
		}
	}
	return nil
}

// holdBesideHand hands to a person what would be sent of a payment of which somebody
// has refunded by hand since it was accepted.
func holdBesideHand(ctx context.Context, tx pgx.Tx, payment uuid.UUID) error {
	rows, err := tx.Query(ctx, `
		SELECT id FROM refund_operations
		WHERE payment_id = $1 AND ended_at IS NULL AND call IS NULL AND (status = 'queued' OR resend) AND by_hand_beside(id) > 0 ORDER BY id`, payment)
	if err != nil {
		return fmt.Errorf("what is sent of %s: %w", payment, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("what is sent of %s: %w", payment, err)
	}
	return stopSends(ctx, tx, ids)
}

// byHandBeside is what went back of id's payment by hand, for a line that nobody
// knows and that may be this one: neither its own sends explain it, nor has a person
// said that it goes all the same. 0 of the whole payment: a second refund of that is
// refused by the provider, and the first is found by a look.
func byHandBeside(ctx context.Context, tx pgx.Tx, id string) (minor int64, err error) {
	err = tx.QueryRow(ctx, `SELECT by_hand_beside($1)`, id).Scan(&minor)
	return minor, wrap("refunded by hand beside "+id, err)
}

// notTwice is a step whose next call would be a send, handed to a person if its
// money is back otherwise, or may be, by hand.
func (e entry) notTwice(ctx context.Context, tx pgx.Tx, s Step) (Step, error) {
	if s.Status != Queued && !s.Resend {
		return s, nil
	}
	back, err := backOtherwise(ctx, tx, e.id)
	if back {
		s.manual()
		s.Detail = "the provider has refunded this under another operation's name; it is not sent while that stands"
	}
	if back || err != nil {
		return s, err
	}
	beside, err := byHandBeside(ctx, tx, e.id)
	if beside > 0 {
		s.manual()
		s.Detail = fmt.Sprintf("%d %s of its payment went back by hand, and that may be this; it is not sent while nobody has said that it is not", beside, e.currency)
	}
	return s, err
}
