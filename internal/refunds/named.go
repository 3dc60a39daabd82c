package refunds

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A provider's refund is one operation's. A person may have named the wrong one,
// before the provider had told of it: what it tells then does not stand against
// their word unseen.

// owner is the operation that came to a refund; "": none.
func owner(ctx context.Context, tx pgx.Tx, refund string) (id string, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM refund_operations WHERE provider_refund_id = $1`, refund).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("whose refund %s is: %w", refund, err)
	}
	return id, nil
}

// ofOwner holds a refund that carries no operation's name against the one that
// came to it. What gave all of a payment back has another amount than a line.
func (t Told) ofOwner(ctx context.Context, tx pgx.Tx, payment uuid.UUID, id string) (Hearing, error) {
	var ours bool
	if err := tx.QueryRow(ctx, `SELECT payment_id = $2 FROM refund_operations WHERE id = $1`, id, payment).Scan(&ours); err != nil {
		return "", fmt.Errorf("refund %s: %w", id, err)
	}
	if !ours { // its payment is not locked, and nothing of it moves
		return HeardDiffers, list(ctx, tx, item{differs, t.ProviderRefund, id, fmt.Sprintf(
			"it ended as refund %s, and %s tells of that as one of %d %s of %s, another payment",
			t.ProviderRefund, t.Provider, t.AmountMinor, t.Currency, t.ProviderPayment)})
	}
	e, err := lockEntry(ctx, tx, id)
	switch {
	case err != nil:
		return "", err
	case e.Outcome != ByHand && (t.AmountMinor != e.amount || t.Currency != e.currency):
		return HeardDiffers, e.differ(ctx, tx, t)
	case t.stands() == "failed":
		return t.apply(ctx, tx, e)
	}
	return HeardAgain, nil
}

// named is a step that gives the operation a refund's name, handed to a person
// where that is another operation's already. Both are listed: one of them is
// wrong, and only a person can say which.
func (e entry) named(ctx context.Context, tx pgx.Tx, s Step) (Step, error) {
	if s.Refund == "" || s.Refund == e.refund {
		return s, nil
	}
	id, err := owner(ctx, tx, s.Refund)
	if id == "" || id == e.id || err != nil {
		return s, err
	}
	err = list(ctx, tx, item{differs, s.Refund, id, fmt.Sprintf(
		"it ended as refund %s, and %s says that this is %s", s.Refund, e.provider, e.id)})
	s.Detail = fmt.Sprintf("the provider says that it is refund %s, as which %s ended", s.Refund, id)
	s.Refund = ""
	s.manual()
	return s, err
}
