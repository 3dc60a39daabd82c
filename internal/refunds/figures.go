package refunds

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Figures are what to watch.
type Figures struct {
	ByStatus map[Status]int           // of operations without an end
	Oldest   map[string]time.Duration // the longest without an end since it was promised (its acceptance, or a person's last push), by group: first, rest, pending, manual
	Human    int                      // open on the human list, about refunds
	Stopped  bool                     // the provider refuses our key
	Late     int                      // confirmed, and due to be looked at once more
}

// Read counts the operations that have no end.
func (l Ledger) Read(ctx context.Context) (Figures, error) {
	f := Figures{ByStatus: map[Status]int{}, Oldest: map[string]time.Duration{}}
	rows, err := l.Pool.Query(ctx, `
		SELECT status, CASE WHEN status IN ('manual', 'pending') THEN status WHEN sends = 0 THEN 'first' ELSE 'rest' END AS of,
		  count(*)::int, extract(epoch FROM clock_timestamp() - min(give_up_at - $1::interval))::float8
		FROM refund_operations WHERE ended_at IS NULL GROUP BY 1, 2`, Promise)
	if err != nil {
		return f, fmt.Errorf("refund figures: %w", err)
	}
	var status Status
	var of string
	var n int
	var seconds float64
	_, err = pgx.ForEachRow(rows, []any{&status, &of, &n, &seconds}, func() error {
		f.ByStatus[status] += n
		f.Oldest[of] = max(f.Oldest[of], time.Duration(seconds*float64(time.Second)))
		return nil
	})
	if err != nil {
		return f, fmt.Errorf("refund figures: %w", err)
	}
	err = l.Pool.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE kind <> $1), count(*) FILTER (WHERE kind = $1) > 0
		FROM human_list WHERE resolved_at IS NULL AND (kind LIKE 'refund%' OR kind = $1)`, keyRefused).Scan(&f.Human, &f.Stopped)
	if err != nil {
		return f, fmt.Errorf("refund figures: %w", err)
	}
	err = l.Pool.QueryRow(ctx, `SELECT count(*) FROM refund_operations
		WHERE status = 'confirmed' AND late_look_over_at IS NULL AND late_looks < $2
		  AND ended_at <= clock_timestamp() - $1::interval`, cmp.Or(l.LookLateAfter, LookLateAfter), MostLateLooks).Scan(&f.Late)
	return f, wrap("refund figures", err)
}
