package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Stop pauses a sale for all who asked, each under its own attempt's name, at one
// instant: whoever resumes after it has resumed after them all. A name that was
// another wish's is no reason to go on selling. One that was written down before
// is answered as it was then, and stands for no other.
func Stop(ctx context.Context, pool *pgxpool.Pool, event string, askers ...Asker) (out []Steered, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		out, err = stop(ctx, tx, event, slices.Clone(askers))
		return err
	})
	if err != nil && !errors.Is(err, errRefused) {
		return nil, fmt.Errorf("event %s: %w", event, err)
	}
	return out, nil
}

func stop(ctx context.Context, tx pgx.Tx, event string, askers []Asker) ([]Steered, error) {
	out := make([]Steered, len(askers))
	fresh, err := unanswered(ctx, tx, event, askers, out)
	if err != nil || len(fresh) == 0 {
		return out, err
	}
	if err := askers[fresh[0]].signs(ctx, tx); err != nil {
		return out, err
	}
	now, err := changed(ctx, tx, event, func(tx pgx.Tx) error { return steer(ctx, tx, event, Paused) })
	if err != nil {
		return out, err
	}
	for _, i := range fresh {
		out[i] = now
		if err := askers[i].attempt().End(ctx, tx, now); err != nil {
			return out, err
		}
	}
	if now.Change == NoSuchEvent || now.Change == EventClosed {
		return out, errRefused // a no is not remembered
	}
	return out, nil
}

// unanswered are the askers whose stop is still to be made. The others get the
// answer that was theirs, and the sale as it is.
func unanswered(ctx context.Context, tx pgx.Tx, event string, askers []Asker, out []Steered) (fresh []int, err error) {
	for i := range askers {
		before, err := askers[i].asks(ctx, tx)
		switch {
		case err != nil:
			return nil, err
		case before != nil && before.Change != AttemptReused:
			out[i] = *before
			err := tx.QueryRow(ctx, `SELECT control, version FROM events WHERE id = $1`, event).Scan(&out[i].Control, &out[i].Version)
			if err != nil {
				return nil, err
			}
			continue
		case before != nil:
			askers[i].Attempt = ""
		}
		fresh = append(fresh, i)
	}
	return fresh, nil
}
