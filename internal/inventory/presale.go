package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Presale is what is sold to its codes alone: tiers, and sections of numbered
// seats. What two presales name is sold to the codes of either.
type Presale struct {
	Name     string     `json:"name"`
	Tiers    []string   `json:"tiers"`
	Sections []string   `json:"sections"`
	Until    *time.Time `json:"until"` // from then on it is everybody's; nil: never
}

// PresaleCodes are codes of one presale, by their hashes, each good for so many
// orders and so many seats in them.
type PresaleCodes struct {
	Presale     string
	Hashes      [][]byte
	Uses, Seats int
}

// ImportPresaleCodes adds codes to an event. One that it has already is the
// presale's that is said now, and good for as much, but for no less than what was
// used of it.
func ImportPresaleCodes(ctx context.Context, pool *pgxpool.Pool, event string, codes PresaleCodes) (Change, error) {
	return importInto(ctx, pool, event, codes)
}

// write writes codes in the order in which claims lock them.
func (p PresaleCodes) write(ctx context.Context, tx pgx.Tx, event string) (Change, error) {
	tag, err := tx.Exec(ctx, `
		INSERT INTO presale_codes AS c (event_id, hash, presale, uses, seats)
		SELECT $1, hash, $3, $4, $5 FROM (SELECT DISTINCT hash FROM unnest($2::bytea[]) AS h (hash) ORDER BY hash) AS codes
		ON CONFLICT (event_id, hash) DO UPDATE SET presale = excluded.presale,
		  uses = greatest(excluded.uses, c.used), seats = greatest(excluded.seats, c.seats_used)
		WHERE (c.presale, c.uses, c.seats)
		  IS DISTINCT FROM (excluded.presale, greatest(excluded.uses, c.used), greatest(excluded.seats, c.seats_used))`,
		event, p.Hashes, p.Presale, p.Uses, p.Seats)
	if err != nil || tag.RowsAffected() == 0 {
		return Unchanged, err
	}
	return Changed, nil
}

// PresaleBudget is what a presale's codes are good for, together.
type PresaleBudget struct {
	Presale                             string
	Codes, Uses, Used, Seats, SeatsUsed int64
}

// PresaleBudgets are an event's, by presale.
func PresaleBudgets(ctx context.Context, pool *pgxpool.Pool, event string) ([]PresaleBudget, error) {
	rows, err := pool.Query(ctx, `
		SELECT presale, count(*), sum(uses), sum(used), sum(seats), sum(seats_used)
		FROM presale_codes WHERE event_id = $1 GROUP BY presale ORDER BY presale`, event)
	if err != nil {
		return nil, fmt.Errorf("presale codes of %s: %w", event, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[PresaleBudget])
	if err != nil {
		return nil, fmt.Errorf("presale codes of %s: %w", event, err)
	}
	return list, nil
}

// lockCodes makes whoever spends or gives back the same codes wait: those of the
// attempts, and those that these orders have spent.
func lockCodes(b *pgx.Batch, attempts []*asked, orders ...uuid.UUID) {
	var events []string
	var hashes [][]byte
	for _, a := range attempts {
		if a.Code != nil {
			events, hashes = append(events, a.Event), append(hashes, a.Code)
		}
	}
	if len(hashes) == 0 && len(orders) == 0 {
		return
	}
	b.Queue(`
		SELECT FROM presale_codes WHERE (event_id, hash) IN (
		  SELECT event_id, hash FROM unnest($1::text[], $2::bytea[]) AS a (event_id, hash)
		  UNION SELECT event_id, code FROM orders WHERE id = ANY($3) AND code IS NOT NULL)
		ORDER BY event_id, hash FOR NO KEY UPDATE`, events, hashes, orders)
}

// codeBudget counts what attempts want of their codes, one after the other.
// An attempt is granted only if its code is good for it and for all before it:
// so one that is granted nothing may be in the way of another, which then is
// tried again.
type codeBudget map[string]budget

type budget struct{ uses, seats int32 }

func (c *codeBudget) with(a *asked) (uses, seats int32) {
	if a.Code == nil {
		return 0, 0
	}
	if *c == nil {
		*c = codeBudget{}
	}
	code := a.Event + "\x00" + string(a.Code)
	so := (*c)[code]
	so.uses, so.seats = so.uses+1, so.seats+int32(a.size())
	(*c)[code] = so
	return so.uses, so.seats
}
