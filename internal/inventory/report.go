package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Report is what a claimer last said of itself.
type Report struct {
	Claimer          string
	Age              time.Duration // by the database's clock
	ClaimsPerSecond  float64
	P95              time.Duration // from an attempt's arrival to its answer
	QueueAge         time.Duration // how long the first in the queue has waited
	Queued           int
	ErrorsPerSecond  float64 // attempts that were answered busy, failed or unknown
	AnswersPerSecond float64 // all attempts answered, these among them
}

// Report writes what the claimer did since the last report. It is called once
// a second, also when there is nothing to do: a claimer that is silent is
// taken for dead, and without a live one nobody is let in.
func (c *Claimer) Report(ctx context.Context, name string) error {
	r := c.meter.report(time.Now())
	_, err := c.pool.Exec(ctx, `
		INSERT INTO claim_reports (claimer, at, claims_per_s, p95_ms, queue_age_ms, queued, errors_per_s, answers_per_s)
		VALUES ($1, clock_timestamp(), $2, $3, $4, $5, $6, $7)
		ON CONFLICT (claimer) DO UPDATE SET at = excluded.at, claims_per_s = excluded.claims_per_s,
		  p95_ms = excluded.p95_ms, queue_age_ms = excluded.queue_age_ms, queued = excluded.queued,
		  errors_per_s = excluded.errors_per_s, answers_per_s = excluded.answers_per_s`,
		name, r.ClaimsPerSecond, millis(r.P95), millis(r.QueueAge), r.Queued, r.ErrorsPerSecond,
		r.AnswersPerSecond)
	if err != nil {
		return fmt.Errorf("report of claimer %s: %w", name, err)
	}
	return nil
}

// Retire takes the claimer's report back: it is known at once that it claims
// no more, and not when its last report is old.
func (c *Claimer) Retire(ctx context.Context, name string) error {
	if _, err := c.pool.Exec(ctx, `DELETE FROM claim_reports WHERE claimer = $1`, name); err != nil {
		return fmt.Errorf("retire claimer %s: %w", name, err)
	}
	return nil
}

// Reports are the reports of the last minute, the newest first. None, or a
// first one that is old: nobody claims.
func Reports(ctx context.Context, pool *pgxpool.Pool) ([]Report, error) {
	rows, err := pool.Query(ctx, `
		SELECT claimer, clock_timestamp() - at, claims_per_s, p95_ms * interval '1 ms',
		  queue_age_ms * interval '1 ms', queued, errors_per_s, answers_per_s
		FROM claim_reports WHERE at > clock_timestamp() - interval '1 min'
		ORDER BY at DESC`)
	if err != nil {
		return nil, fmt.Errorf("claim reports: %w", err)
	}
	reports, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Report])
	if err != nil {
		return nil, fmt.Errorf("claim reports: %w", err)
	}
	return reports, nil
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }
