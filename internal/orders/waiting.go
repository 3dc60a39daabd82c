package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// RetryWaiting tries every notice again whose time has come, oldest due first,
// each in a transaction of its own, and says how many it tried. Any number of
// processes may do so at once. A notice that cannot be applied is put off, so
// that it does not stand in the others' way; the fault is returned.
func (in Inbox) RetryWaiting(ctx context.Context) (tried int, faults error) {
	for {
		var one retried
		if err := pg.InTx(ctx, in.Pool, func(tx pgx.Tx) (err error) {
			one, err = in.retryOne(ctx, tx)
			return err
		}); err != nil {
			return tried, errors.Join(faults, fmt.Errorf("retry notices: %w", err))
		}
		if !one.found {
			return tried, faults
		}
		tried++
		if one.fault != nil {
			faults = errors.Join(faults, one.fault)
			continue
		}
		in.seen(one.notice, one.outcome)
	}
}

type retried struct {
	found   bool
	notice  ProviderNotice
	outcome Outcome
	fault   error // why it could not be applied
}

// retryOne takes one due notice. What fails inside the savepoint is undone and
// reported; that it was tried stays.
func (in Inbox) retryOne(ctx context.Context, tx pgx.Tx) (one retried, err error) {
	var provider, id string
	var body []byte
	err = tx.QueryRow(ctx, `
		SELECT provider, notice_id, body FROM provider_notices
		WHERE status = 'waiting' AND next_try_at <= now()
		ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&provider, &id, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return retried{}, nil
	}
	if err != nil {
		return retried{}, err
	}
	one.found = true
	if one.notice, err = in.Read(body); err != nil {
		one.notice.Says = SaysUnreadable // it could be read when it came: another binary wrote it
	}
	one.notice.Provider, one.notice.ID = provider, id
	if one.outcome, err = in.attempt(ctx, tx, one.notice); err != nil {
		one.outcome, one.fault = Faulted, fmt.Errorf("provider notice %s: %w", id, err)
	}
	return one, settle(ctx, tx, one.notice, one.outcome)
}

// Unsettled is how many provider notices wait to be applied, and how many
// things wait for a person.
func Unsettled(ctx context.Context, pool *pgxpool.Pool) (waiting, human int, err error) {
	err = pool.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM provider_notices WHERE status = 'waiting'),
		  (SELECT count(*) FROM human_list WHERE resolved_at IS NULL)`).Scan(&waiting, &human)
	if err != nil {
		return 0, 0, fmt.Errorf("unsettled notices: %w", err)
	}
	return waiting, human, nil
}
