package inventory

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// ErrReused is an attempt's name that was another wish's.
var ErrReused = errors.New("the attempt was another request")

// once does what an asker wishes, in one transaction, once under its name: asked
// again, it does nothing and is answered the same. An answer that is a no is not
// remembered, and changed nothing.
func once[T any](ctx context.Context, pool *pgxpool.Pool, who Asker, do func(pgx.Tx) (answer T, yes bool, err error)) (answer T, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		if err := who.signs(ctx, tx); err != nil {
			return err
		}
		before, err := who.attempt().Begin(ctx, tx)
		switch {
		case err != nil:
			return err
		case before.Reused:
			return ErrReused
		case before.Known:
			return json.Unmarshal(before.Answer, &answer)
		}
		var yes bool
		if answer, yes, err = do(tx); err != nil {
			return err
		}
		if !yes {
			return errRefused
		}
		return who.attempt().End(ctx, tx, answer)
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return answer, err
}
