package refunds

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Job is an operation whose next call is due.
type Job struct {
	Case
	Ask Call // but for the verb
	Now time.Time
}

// Due is what could have the next turn.
type Due struct {
	First, Rest *Job          // the oldest of each group; nil: nothing is due
	Late        *Job          // a confirmed one to look at once more; only while neither group has anything due
	Next        time.Duration // until something of either group is due, at most
	Stopped     bool          // the provider refuses our key, and no person has said to go on
}

// restless bounds how long a dispatcher believes that nothing is due: others
// queue operations meanwhile.
const restless = 250 * time.Millisecond

// Due reads the oldest due operation of each group, by acceptance, what is on its way
// at the provider after all else of the rest, and where there is
// none, the oldest confirmed one that is to be looked at once more, one at a time.
// Whoever has a call under way is not due.
func (l Ledger) Due(ctx context.Context) (d Due, err error) {
	rows, err := l.Pool.Query(ctx, `
		WITH first AS (
		  SELECT id FROM refund_operations
		  WHERE status = 'queued' AND sends = 0 AND NOT pushed AND ended_at IS NULL AND call IS NULL AND next_at <= clock_timestamp()
		  ORDER BY accepted_at, id LIMIT 1),
		rest AS (
		  SELECT id FROM refund_operations
		  WHERE status IN ('queued', 'unknown', 'pending') AND (sends > 0 OR pushed) AND ended_at IS NULL AND call IS NULL
		    AND next_at <= clock_timestamp()
		    -- What has neither a look nor a send left is GiveUp's.
		    AND (status <> 'unknown' OR look_after <> '' OR looks < $1 + pushes
		      OR resend AND sends < $2 + pushes AND first_sent_at > clock_timestamp() - $3::interval)
		  -- Nothing is in doubt of what is on its way: it gives way to what is.
		  ORDER BY status = 'pending', accepted_at, id LIMIT 1),
		late AS (
		  SELECT id FROM refund_operations
		  WHERE status = 'confirmed' AND late_look_over_at IS NULL AND ended_at <= clock_timestamp() - $4::interval
		    AND call IS NULL AND next_at <= clock_timestamp() AND late_looks < $5
		    AND NOT EXISTS (SELECT FROM first) AND NOT EXISTS (SELECT FROM rest)
		    AND NOT EXISTS (SELECT FROM refund_operations WHERE status = 'confirmed' AND call IS NOT NULL)
		  ORDER BY ended_at, id LIMIT 1),
		job AS (SELECT id FROM first UNION ALL SELECT id FROM rest UNION ALL SELECT id FROM late)
		SELECT f.status, f.accepted_at, f.give_up_at, f.next_at, coalesce(f.first_sent_at, 'epoch'), f.sends, f.looks, f.pushes, f.pushed,
		  f.doubt, f.resend, f.look_after, f.outcome, f.late_looks, f.id, coalesce(p.provider_payment_id, ''), coalesce(f.provider_refund_id, ''),
		  f.request, f.amount_minor, p.captured_minor, f.currency, clock_timestamp()
		FROM job JOIN refund_operations f USING (id) JOIN payments p ON p.id = f.payment_id`,
		MostLooks, MostSends, KeyLife, cmp.Or(l.LookLateAfter, LookLateAfter), MostLateLooks)
	if err != nil {
		return Due{}, fmt.Errorf("due refunds: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, readJob)
	if err != nil {
		return Due{}, fmt.Errorf("due refunds: %w", err)
	}
	for i := range jobs {
		switch {
		case jobs[i].Status == Confirmed:
			d.Late = &jobs[i]
		case jobs[i].Fresh():
			d.First = &jobs[i]
		default:
			d.Rest = &jobs[i]
		}
	}
	return d, l.idle(ctx, &d)
}

func readJob(row pgx.CollectableRow) (j Job, err error) {
	var firstSent time.Time
	err = row.Scan(&j.Status, &j.AcceptedAt, &j.GiveUpAt, &j.NextAt, &firstSent, &j.Sends, &j.Looks, &j.Pushes, &j.Pushed,
		&j.Doubt, &j.Resend, &j.LookAfter, &j.Outcome, &j.LateLooks, &j.Ask.Operation, &j.Ask.ProviderPayment, &j.Ask.ProviderRefund,
		&j.Ask.Request, &j.Ask.AmountMinor, &j.Ask.CapturedMinor, &j.Ask.Currency, &j.Now)
	if j.Sends > 0 {
		j.FirstSentAt = firstSent
	}
	j.Ask.After, j.Ask.ByOthers = j.LookAfter, j.byOthers()
	return j, err
}

// idle reads whether anything may go at all, and how long there is nothing to do.
func (l Ledger) idle(ctx context.Context, d *Due) error {
	var wait float64
	err := l.Pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM human_list WHERE kind = $1 AND resolved_at IS NULL),
		  coalesce(extract(epoch FROM (SELECT min(next_at) FROM refund_operations
		    WHERE status IN ('queued', 'unknown', 'pending') AND ended_at IS NULL AND call IS NULL) - clock_timestamp()), 3600)::float8`,
		keyRefused).Scan(&d.Stopped, &wait)
	if err != nil {
		return fmt.Errorf("due refunds: %w", err)
	}
	d.Next = min(max(time.Duration(wait*float64(time.Second)), 5*time.Millisecond), restless)
	return nil
}
