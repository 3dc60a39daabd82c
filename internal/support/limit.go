package support

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// SetLimit sets what may be asked to go back of one order of the event without
// a person's word, in minor units; nil: what the process was told. The record
// of the event's changes says who set it. found is false without such an event.
func SetLimit(ctx context.Context, pool *pgxpool.Pool, event string, minor *int64, by string) (found bool, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := as(ctx, tx, by); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE events SET refund_limit_minor = $2, version = version + 1 WHERE id = $1`, event, minor)
		found = tag.RowsAffected() == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("refund limit of %s: %w", event, err)
	}
	return found, nil
}

// as makes the database's own evidence name who acts.
func as(ctx context.Context, tx pgx.Tx, by string) error {
	_, err := tx.Exec(ctx, `SELECT set_config('waitroom.by', $1, true)`, by)
	return err
}
