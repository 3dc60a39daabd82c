package refunds

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Left is what of a payment can still go back, and what went back by others
// (money_left has how): of that, what is on its way at the provider and may fail yet.
type Left struct{ Minor, ByHandMinor, OnItsWayMinor int64 }

// LeftOf locks the payment. Until what was told before the money came is heard,
// which is due at once, nobody knows.
func LeftOf(ctx context.Context, tx pgx.Tx, payment uuid.UUID) (l Left, err error) {
	var unheard bool
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM provider_notices n
		    WHERE n.about = p.provider_payment_id AND n.about <> '' AND n.provider = p.provider AND n.status = 'waiting')
		FROM payments p WHERE p.id = $1 FOR NO KEY UPDATE`, payment).Scan(&unheard)
	if unheard {
		err = errors.New("what was told of its refunds is not heard yet")
	}
	if err == nil { // a statement of its own: it sees what was written before the lock was had
		err = tx.QueryRow(ctx, `
			SELECT left_minor, by_hand_minor, (SELECT coalesce(sum(amount_minor), 0)::bigint FROM provider_refunds
			  WHERE payment_id = $1 AND operation IS NULL AND status = 'pending')
			FROM money_left($1)`, payment).Scan(&l.Minor, &l.ByHandMinor, &l.OnItsWayMinor)
	}
	if err != nil {
		return l, fmt.Errorf("money of payment %s: %w", payment, err)
	}
	return l, nil
}

// again is Done where e's money may be sent once more: the provider has no refund of
// it, what is reserved for it already (0: nothing) or is left of its payment is
// enough, and nobody refunded a part by hand that may be this one; unless they know
// that, and say that it is not.
func (e entry) again(ctx context.Context, tx pgx.Tx, id string, reservedMinor int64, beside bool) (Verdict, error) {
	if back, err := backOtherwise(ctx, tx, id); back || err != nil {
		return BackAlready, err
	}
	left, err := LeftOf(ctx, tx, e.payment)
	if err != nil {
		return "", err
	}
	short := left.Minor+reservedMinor < e.amount
	switch {
	case left.ByHandMinor > 0 && (short || !beside):
		return ByHandToo, nil
	case short:
		return BackAlready, nil
	}
	return Done, nil
}
