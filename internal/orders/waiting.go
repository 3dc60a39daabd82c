package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
)

// RetryWaiting tries every notice again whose time has come, oldest due first,
// each in a transaction of its own, and says how many it tried. Any number of
// processes may do so at once. A notice that cannot be applied is put off, so
// that it does not stand in the others' way; the fault is returned.
func (in Inbox) RetryWaiting(ctx context.Context) (tried int, err error) {
	for {
		var found bool
		var fault error
		if err := pg.InTx(ctx, in.Pool, func(tx pgx.Tx) (err error) {
			found, fault, err = in.retryOne(ctx, tx)
			return err
		}); err != nil {
			return tried, errors.Join(fault, fmt.Errorf("retry notices: %w", err))
		}
		if fault != nil {
			err = errors.Join(err, fault)
		}
		if !found {
			return tried, err
		}
		tried++
	}
}

// retryOne takes one due notice. What fails inside the savepoint is undone and
// reported; that it was tried stays.
func (in Inbox) retryOne(ctx context.Context, tx pgx.Tx) (found bool, fault, err error) {
	var provider, id string
	var body []byte
	err = tx.QueryRow(ctx, `
		SELECT provider, notice_id, body FROM provider_notices
		WHERE status = 'waiting' AND next_try_at <= now()
		ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&provider, &id, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	n, err := in.Read(body)
	if err != nil {
		n.Says = SaysUnreadable // it could be read when it came: another binary wrote it
	}
	n.Provider, n.ID = provider, id
	outcome := UnknownOrder
	fault = pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) (err error) {
		outcome, err = in.apply(ctx, savepoint, n)
		return err
	})
	if fault != nil {
		outcome = UnknownOrder
		fault = fmt.Errorf("provider notice %s: %w", id, fault)
	}
	return true, fault, settle(ctx, tx, n, outcome)
}
