package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// putOff ends a turn in which nothing was asked; the zero time is for good. What
// became due meanwhile stays due.
func (s *Sweeper) putOff(ctx context.Context, d due, until time.Time) error {
	var at *time.Time
	if !until.IsZero() {
		at = &until
	}
	_, err := s.Pool.Exec(ctx, `
		UPDATE payments SET looking_until = NULL, look_at = CASE WHEN look_at = $3 THEN $4 ELSE look_at END
		WHERE id = $1 AND looks = $2 AND status IN ('opening', 'open', 'failed')`, d.Payment, d.looks, d.lookAt, at)
	if err != nil {
		return fmt.Errorf("put off payment %s: %w", d.Payment, err)
	}
	return nil
}

// release ends a turn that settled nothing.
func (s *Sweeper) release(ctx context.Context, d due, after time.Duration, unknowns int) error {
	_, err := s.Pool.Exec(ctx, `
		UPDATE payments SET looking_until = NULL, unknowns = $5,
		  look_at = CASE WHEN look_at = $3 THEN now() + $4::interval ELSE look_at END
		WHERE id = $1 AND looks = $2 AND status IN ('opening', 'open', 'failed')`,
		d.Payment, d.looks, d.lookAt, after, unknowns)
	if err != nil {
		return fmt.Errorf("put off payment %s: %w", d.Payment, err)
	}
	return nil
}

// handBack ends a turn after which the payment's row says when to look next.
func (s *Sweeper) handBack(ctx context.Context, d due) error {
	_, err := s.Pool.Exec(ctx, `
		UPDATE payments SET looking_until = NULL
		WHERE id = $1 AND looks = $2 AND status IN ('opening', 'open', 'failed')`, d.Payment, d.looks)
	if err != nil {
		return fmt.Errorf("hand payment %s back: %w", d.Payment, err)
	}
	return nil
}

// giveToPerson puts the payment on the human list and asks no more. Should the
// provider tell of it after all, that counts like any notice.
func (s *Sweeper) giveToPerson(ctx context.Context, d due) error {
	detail := fmt.Sprintf("%s did not say in %d looks after the order's end what became of %q, for %d %s",
		s.Name, d.unknowns, d.name, d.AmountMinor, d.Currency)
	if d.name == "" {
		detail = fmt.Sprintf("it is not known whether %s has a payment %s, for %d %s: its answer was lost, and cannot be had again",
			s.Name, d.Payment, d.AmountMinor, d.Currency)
	}
	return pg.InTx(ctx, s.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE payments SET looking_until = NULL, look_at = NULL
			WHERE id = $1 AND looks = $2 AND status IN ('opening', 'open', 'failed')`, d.Payment, d.looks)
		if err != nil || tag.RowsAffected() == 0 { // settled meanwhile
			return err
		}
		return list(ctx, tx, PaymentUnknown, d.Payment.String(), &d.Order, &d.Payment, detail)
	})
}

// PastEnd is how many payments are open past their order's end, since when the
// oldest is, and how many payments a person has to find out about.
func PastEnd(ctx context.Context, pool *pgxpool.Pool) (open int, oldest time.Duration, unknown int, err error) {
	var seconds float64
	err = pool.QueryRow(ctx, `
		SELECT count(*), greatest(0, coalesce(extract(epoch FROM now() - min(coalesce(o.ended_at, o.paid_at))), 0))::float8,
		  (SELECT count(*) FROM human_list WHERE kind = 'payment_unknown' AND resolved_at IS NULL)
		FROM payments p JOIN orders o ON o.id = p.order_id
		WHERE p.look_at IS NOT NULL AND o.status <> 'pending'`).Scan(&open, &seconds, &unknown)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("payments past their order's end: %w", err)
	}
	return open, time.Duration(seconds * float64(time.Second)), unknown, nil
}
