package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

var errNoPass = errors.New("the ledger has no such pass")

// takeBack writes down that passes were given back. For one that was before, that
// stands; one that is not there was never handed out.
func (l *Ledger) takeBack(ctx context.Context, batch []Pass) []error {
	ctx, cancel := context.WithTimeout(ctx, ledgerLimit)
	defer cancel()
	var event []string
	var epoch, take []int64
	for _, p := range batch {
		event, epoch, take = append(event, p.Event), append(epoch, p.Epoch), append(take, p.Take)
	}
	rows, err := l.pool.Query(ctx, `
		WITH said AS (
			SELECT event_id, epoch, take, n
			FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS w (event_id, epoch, take, n)
		), known AS (
			SELECT event_id, epoch, take, n FROM said JOIN passes USING (event_id, epoch, take)
		), back AS (
			INSERT INTO passes_given_back (event_id, epoch, take)
			SELECT DISTINCT event_id, epoch, take FROM known ORDER BY event_id, epoch, take
			ON CONFLICT DO NOTHING
		)
		SELECT n - 1 FROM said WHERE n NOT IN (SELECT n FROM known)`,
		event, epoch, take)
	if err != nil {
		return all(len(batch), fmt.Errorf("give back passes: %w", err))
	}
	unknown, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return all(len(batch), fmt.Errorf("give back passes: %w", err))
	}
	errs := make([]error, len(batch))
	for _, i := range unknown {
		errs[i] = errNoPass
	}
	return errs
}
