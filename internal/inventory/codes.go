package inventory

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Asked is whether an event asks something of who joins.
type Asked string

const (
	NotAsked Asked = "none"
	Required Asked = "required"
)

// AccessCodes are codes that each may be used so often, by their hashes.
type AccessCodes struct {
	Hashes [][]byte
	Uses   int
}

// ImportCodes adds codes to an event; one that it has already gets so many uses
// as are said now. What was used stays used. Whether the event asks for codes
// is its own setting.
func ImportCodes(ctx context.Context, pool *pgxpool.Pool, event string, codes AccessCodes) (Change, error) {
	return importInto(ctx, pool, event, codes)
}

// importInto adds codes of either kind to an event, if there is such an event.
func importInto(ctx context.Context, pool *pgxpool.Pool, event string, codes interface {
	write(ctx context.Context, tx pgx.Tx, event string) (Change, error)
},
) (out Change, err error) {
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		var there bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM events WHERE id = $1)`, event).Scan(&there); err != nil {
			return err
		}
		if out = NoSuchEvent; !there {
			return nil
		}
		out, err = codes.write(ctx, tx, event)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("codes of %s: %w", event, err)
	}
	return out, nil
}

func (c AccessCodes) write(ctx context.Context, tx pgx.Tx, event string) (Change, error) {
	tag, err := tx.Exec(ctx, `
		INSERT INTO access_codes (event_id, hash, uses)
		SELECT $1, hash, $3 FROM (SELECT DISTINCT hash FROM unnest($2::bytea[]) AS h (hash) ORDER BY hash) AS codes
		ON CONFLICT (event_id, hash) DO UPDATE SET uses = excluded.uses WHERE access_codes.uses <> excluded.uses`,
		event, c.Hashes, c.Uses)
	if err != nil || tag.RowsAffected() == 0 {
		return Unchanged, err
	}
	return Changed, nil
}

// CodeUses is how often a code may be used; 0: the event has no such code.
func CodeUses(ctx context.Context, pool *pgxpool.Pool, event string, hash [32]byte) (uses int64, err error) {
	err = pool.QueryRow(ctx, `SELECT uses FROM access_codes WHERE event_id = $1 AND hash = $2`, event, hash[:]).Scan(&uses)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return uses, err
}

// CodesOf counts an event's codes and the uses that they have together.
func CodesOf(ctx context.Context, pool *pgxpool.Pool, event string) (codes, uses int64, err error) {
	err = pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(uses), 0) FROM access_codes WHERE event_id = $1`, event).Scan(&codes, &uses)
	return codes, uses, err
}
