package admission

import (
	"context"
	"time"
)

// The ledger's readings of what the sale can bear. Ages are by the database's
// clock, which also wrote the reports; times come back on ours.

// load is what the claimers together last reported. One whose report is old has
// stopped, and says nothing any more.
func (l *Ledger) load(ctx context.Context) (Load, error) {
	asked := time.Now()
	var load Load
	var age, p95, queue *float64 // seconds; nil: no report at all
	err := l.pool.QueryRow(ctx, `
		SELECT extract(epoch FROM clock_timestamp() - max(at))::float8,
			coalesce(extract(epoch FROM max(at)) * 1e6, 0)::bigint,
			coalesce(sum(answers_per_s) FILTER (WHERE live), 0), coalesce(sum(errors_per_s) FILTER (WHERE live), 0),
			max(p95_ms) FILTER (WHERE live) / 1e3, max(queue_age_ms) FILTER (WHERE live) / 1e3
		FROM (
			SELECT at, answers_per_s, errors_per_s, p95_ms, queue_age_ms,
				at > clock_timestamp() - make_interval(secs => $1) AS live
			FROM claim_reports
		) r`,
		claimersFresh.Seconds()).Scan(&age, &load.Mark, &load.Answers, &load.Errors, &p95, &queue)
	if err != nil || age == nil {
		return Load{}, err
	}
	load.At = before(asked, age)
	if p95 != nil && queue != nil {
		load.P95, load.QueueAge = seconds(*p95), seconds(*queue)
	}
	return load, nil
}

// An event's openings are refused for what it is once so many of its orders were, and
// for what the account is once those of two events are; one opening ends it.
const refusedOrders = 5

// paying is what all who open payments together know of the provider, for an event's
// line: an answer to any of them is an answer. Refusals are answers, and nobody can
// pay all the same where there is nothing else: of this event, or of two events at
// least while none is opened at all (a method that is switched off).
func (l *Ledger) paying(ctx context.Context, event string) (Paying, error) {
	asked := time.Now()
	var told, failed, since *float64 // seconds ago; nil: never
	err := l.pool.QueryRow(ctx, `
		WITH answered AS (SELECT max(answered_at) AS at FROM payment_reports),
		silent AS (
			SELECT max(r.failed_at) AS failed, min(greatest(r.failing_since, a.at))
				FILTER (WHERE r.failing_since IS NOT NULL AND (a.at IS NULL OR r.failed_at > a.at)) AS since
			FROM payment_reports r CROSS JOIN answered a
		), opened AS (SELECT event_id, max(opened_at) AS at FROM opening_reports GROUP BY GROUPING SETS ((event_id), ())),
		refused AS (
			SELECT o.event_id AS one, r.event_id, max(r.refused_at) AS failed,
				min(greatest(r.refusing_since, o.at)) AS since, max(r.refused_orders) AS orders
			FROM opening_reports r JOIN opened o ON o.event_id = r.event_id OR o.event_id IS NULL
			WHERE r.refusing_since IS NOT NULL AND (o.at IS NULL OR r.refused_at > o.at)
			GROUP BY o.event_id, r.event_id
		), closes AS (
			SELECT failed, since FROM silent
			UNION ALL
			SELECT failed, since FROM refused WHERE one = $1 AND orders >= $2
			UNION ALL
			SELECT max(failed), (array_agg(since ORDER BY since))[2] FROM refused WHERE one IS NULL
			HAVING count(*) >= 2 AND sum(orders) >= $2
		)
		SELECT (SELECT extract(epoch FROM clock_timestamp() - max(at))::float8 FROM payment_reports),
			extract(epoch FROM clock_timestamp() - coalesce(max(failed) FILTER (WHERE since IS NOT NULL), max(failed)))::float8,
			extract(epoch FROM clock_timestamp() - min(since))::float8
		FROM closes`, event, refusedOrders).Scan(&told, &failed, &since)
	return Paying{At: before(asked, told), Failed: before(asked, failed), Since: before(asked, since)}, err
}

func before(asked time.Time, ago *float64) time.Time {
	if ago == nil {
		return time.Time{}
	}
	return asked.Add(-max(0, seconds(*ago)))
}

// within counts who is inside (see Within). Passes have to be in the ledger
// before they are handed out: whoever is inside is found here, or is one of the
// takes without a pass.
func (l *Ledger) within(ctx context.Context, event string, epoch, since, take int64) (Within, error) {
	w := Within{Take: take}
	err := l.pool.QueryRow(ctx, `
		WITH buyers AS (
			SELECT take, bool_or(status = 'pending' AND ended_at IS NULL) AS pending
			FROM orders WHERE event_id = $1 AND epoch = $2 GROUP BY take
		)
		SELECT count(*) FILTER (WHERE coalesce(b.pending, p.expires_at > now()
				AND (g.at IS NULL OR g.at > now() - make_interval(secs => $5))))
			+ $4::bigint - $3::bigint - count(*) FILTER (WHERE p.take > $3)
		FROM passes p LEFT JOIN buyers b USING (take) LEFT JOIN passes_given_back g USING (event_id, epoch, take)
		WHERE p.event_id = $1 AND p.epoch = $2 AND p.take <= $4`, event, epoch, since, take,
		BackAfter.Seconds()).Scan(&w.People)
	return w, err
}
