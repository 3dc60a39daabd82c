package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

type pass struct {
	epoch, take, place int64
	holder             string
	taken, until       time.Time
}

func readPasses(ctx context.Context, tx pgx.Tx, event string) ([]pass, error) {
	rows, err := tx.Query(ctx, `
		SELECT epoch, take, place, holder, taken_at, expires_at FROM passes
		WHERE event_id = $1 ORDER BY taken_at, epoch, take`, event)
	if err != nil {
		return nil, fmt.Errorf("audit: passes: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p pass, err error) {
		err = row.Scan(&p.epoch, &p.take, &p.place, &p.holder, &p.taken, &p.until)
		return p, err
	})
}

// rate is what the organiser had set from a moment on.
type rate struct {
	at        time.Time
	perSecond float64
	opens     time.Time
}

func readRates(ctx context.Context, tx pgx.Tx, event string) ([]rate, error) {
	rows, err := tx.Query(ctx, `
		SELECT at, coalesce(release_rate, 0), opens_at FROM event_changes
		WHERE event_id = $1 ORDER BY id`, event)
	if err != nil {
		return nil, fmt.Errorf("audit: rates: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r rate, err error) {
		err = row.Scan(&r.at, &r.perSecond, &r.opens)
		return r, err
	})
}

// settle is how long a replica may go on with the settings before.
const settle = 3 * time.Second

// pace judges P8 in every window of any length at once: of any two takes i < j,
// j-i+1 people came in within t(j)-t(i), which may be at most
// rate × (t(j)-t(i) + 0.1 s) + 1. With a rate that changes, rate × t is the
// integral of the highest rate that could be in force.
func pace(passes []pass, rates []rate) []Check {
	c := Check{Promise: "P8", Name: "the release rate in every window", Counted: int64(len(passes))}
	early := Check{Promise: "P8", Name: "nobody before the opening", Counted: int64(len(passes))}
	if len(passes) == 0 || len(rates) == 0 {
		return []Check{c, early}
	}
	first := passes[0].taken
	least := 0.0 // of i - R(t(i)), so far
	var worst float64
	for i, p := range passes {
		if p.taken.Before(rates[len(rates)-1].opens) && p.taken.Before(rates[0].opens) {
			early.Violations++
			early.Examples = append(early.Examples, fmt.Sprintf("take %d at %s", p.take, p.taken.Format(time.RFC3339Nano)))
		}
		here := float64(i) - allowed(rates, first, p.taken)
		if i == 0 || here < least {
			least = here
		}
		over := here - least - 0.1*highest(rates, p.taken)
		if over > 1e-6 {
			c.Violations++
			worst = max(worst, over)
		}
	}
	if c.Violations > 0 {
		c.Examples = []string{fmt.Sprintf("the worst window let in %.2f people more than the rate allows", worst)}
	}
	if len(early.Examples) > 5 {
		early.Examples = early.Examples[:5]
	}
	return []Check{c, early}
}

// highest is the highest rate that may have been in force at t.
func highest(rates []rate, t time.Time) float64 {
	var h float64
	for i, r := range rates {
		ended := i+1 < len(rates) && rates[i+1].at.Add(settle).Before(t)
		if !r.at.After(t) && !ended {
			h = max(h, r.perSecond)
		}
	}
	return h
}

// allowed is the integral of highest from start to end, in people.
func allowed(rates []rate, start, end time.Time) float64 {
	cuts := []time.Time{start}
	for _, r := range rates {
		for _, at := range []time.Time{r.at, r.at.Add(settle)} {
			if at.After(start) && at.Before(end) {
				cuts = append(cuts, at)
			}
		}
	}
	cuts = append(cuts, end)
	sortTimes(cuts)
	var people float64
	for i := 1; i < len(cuts); i++ {
		middle := cuts[i-1].Add(cuts[i].Sub(cuts[i-1]) / 2)
		people += highest(rates, middle) * cuts[i].Sub(cuts[i-1]).Seconds()
	}
	return people
}
