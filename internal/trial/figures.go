package trial

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	schema "waitroom/sql"
)

// call is one row of our log.
type call struct {
	epoch           int64
	operation       string
	kind, verb      string
	started         time.Duration // since its outlet began, monotonic
	at              time.Time     // by the database's clock
	inFlight, wrote int
	outcome         string
}

// calls that were started, by outlet and time; lost are those of which nobody
// knows whether they were.
func (b *bench) calls(ctx context.Context) (all []call, lost int, err error) {
	rows, err := b.db.Query(ctx, `
		SELECT epoch, operation, kind, verb, started_ns, started_at, in_flight, coalesce(wrote, 0), outcome
		FROM refund_calls WHERE started_ns IS NOT NULL ORDER BY epoch, started_ns`)
	if err != nil {
		return nil, 0, err
	}
	all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c call, err error) {
		err = row.Scan(&c.epoch, &c.operation, &c.kind, &c.verb, &c.started, &c.at, &c.inFlight, &c.wrote, &c.outcome)
		return c, err
	})
	if err != nil {
		return nil, 0, err
	}
	lost, err = b.count(ctx, `SELECT count(*) FROM refund_calls WHERE finished_at IS NULL OR outcome = 'lost'`)
	return all, lost, err
}

// judged reads both logs, and holds them against what was promised.
func (b *bench) judged(ctx context.Context) (Report, error) {
	r := Report{}
	calls, lost, err := b.calls(ctx)
	if err != nil {
		return r, err
	}
	arrived, err := b.arrived(ctx)
	if err != nil {
		return r, err
	}
	r.ofCalls(calls, lost, arrived)
	for _, judge := range []func(context.Context, *Report) error{b.standing, b.following, b.ends, b.audit} {
		if err := judge(ctx, &r); err != nil {
			return r, err
		}
	}
	for _, p := range b.phases {
		row, err := b.spent(ctx, p, calls)
		if err != nil {
			return r, err
		}
		r.Phases = append(r.Phases, row)
	}
	return r, nil
}

// ofCalls judges the log of calls by itself, and its length by the provider's.
func (r *Report) ofCalls(calls []call, lost, arrived int) {
	least, most, wrote, twice := time.Duration(1<<62), 0, 0, 0
	kinds := map[string]int{}
	for i, c := range calls {
		if i > 0 && calls[i-1].epoch == c.epoch {
			least = min(least, c.started-calls[i-1].started)
		}
		most, wrote = max(most, c.inFlight), wrote+c.wrote
		kinds[c.kind]++
		if c.wrote > 1 {
			twice++
		}
	}
	r.judge("starts apart, by our log", fmt.Sprintf("%.2f ms at least, of %d starts", least.Seconds()*1000, len(calls)), "200 ms or more",
		least >= 200*time.Millisecond && len(calls) > 1)
	r.judge("calls in flight, by our log", fmt.Sprintf("%d at most", most), "10 or fewer", most >= 1 && most <= 10)
	r.judge("all four kinds, in one log", fmt.Sprintf("first %d, retry %d, look %d, manual %d", kinds["first"], kinds["retry"], kinds["look"], kinds["manual"]),
		"some of each", kinds["first"] > 0 && kinds["retry"] > 0 && kinds["look"] > 0 && kinds["manual"] > 0)
	r.judge("our count is the provider's", fmt.Sprintf("%d left us and %d were lost; %d arrived", wrote, lost, arrived), "the same",
		arrived >= wrote && arrived <= wrote+lost)
	r.judge("sends that the transport repeated", fmt.Sprint(twice), "0", twice == 0)
}

// standing judges what happened while the refunder stood still, and after.
func (b *bench) standing(ctx context.Context, r *Report) error {
	d := b.stood
	r.judge("calls while the outlet's refunder stood still", fmt.Sprintf("%d in %s", d.calls, d.wait), "0", d.calls == 0)
	r.judge("due at the instant at which it was let go", fmt.Sprintf("first %d, retry %d, look %d, manual %d", d.first, d.retry, d.look, d.pushed),
		"the batch, and some of each", d.first >= b.Batch && d.retry > 0 && d.look > 0 && d.pushed > 0)
	stood := b.phases[slices.IndexFunc(b.phases, func(p phase) bool { return p.name == "stands still" })]
	burst, err := b.count(ctx, `
		SELECT coalesce(max(n), 0) FROM (
		  SELECT count(*) OVER (PARTITION BY epoch ORDER BY started_ns RANGE BETWEEN CURRENT ROW AND 999999999 FOLLOWING) AS n
		  FROM refund_calls WHERE started_at >= $1 AND started_ns IS NOT NULL) seconds`, stood.till)
	r.judge("starts in any second once it was let go", fmt.Sprintf("%d at most", burst), "5 or fewer", burst > 0 && burst <= 5)
	return err
}

// following judges the kill: who had the outlet, and what became of the refunds
// that were under way.
func (b *bench) following(ctx context.Context, r *Report) error {
	var epochs int
	var waited, secondFirst, killed float64
	err := b.db.QueryRow(ctx, `
		SELECT count(DISTINCT epoch),
		  coalesce(extract(epoch FROM min(started_at) FILTER (WHERE epoch = (SELECT epoch FROM outlet_quota)) - (SELECT taken_at FROM outlet_quota)), 0)::float8,
		  coalesce(extract(epoch FROM min(started_at) FILTER (WHERE epoch = (SELECT epoch FROM outlet_quota))), 0)::float8,
		  extract(epoch FROM $1::timestamptz)::float8
		FROM refund_calls`, b.phases[len(b.phases)-1].from).Scan(&epochs, &waited, &secondFirst, &killed)
	if err != nil {
		return err
	}
	r.judge("outlets, one after the other, and the last one's first call", fmt.Sprintf("%d, %.1f s after the kill's phase began", epochs, secondFirst-killed),
		"2 or more, the last after the kill", epochs >= 2 && secondFirst > killed)
	r.judge("the last waited before its first call", fmt.Sprintf("%.2f s", waited), b.CallLimit.String()+" or more", waited >= b.CallLimit.Seconds())
	unknown, err := b.count(ctx, `SELECT count(DISTINCT operation) FROM refund_changes WHERE operation = ANY($1) AND to_status = 'unknown'`, b.killed)
	if err != nil {
		return err
	}
	confirmed, err := b.count(ctx, `SELECT count(*) FROM refund_operations WHERE id = ANY($1) AND status = 'confirmed'`, b.killed)
	if err != nil {
		return err
	}
	sends, err := b.count(ctx, `SELECT coalesce(sum(sends), 0) FROM refund_operations WHERE id = ANY($1)`, b.killed)
	r.judge("refunds in whose middle it was killed", fmt.Sprintf("%d unknown, then %d confirmed, by %d sends", unknown, confirmed, sends), "2, 2, 2",
		unknown == 2 && confirmed == 2 && sends == 2)
	return err
}

// ends judges where the operations came to.
func (b *bench) ends(ctx context.Context, r *Report) error {
	rows, err := b.db.Query(ctx, `SELECT status, count(*) FROM refund_operations GROUP BY status`)
	if err != nil {
		return err
	}
	by := map[string]int{}
	var status string
	var n, all int
	if _, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error { by[status] = n; all += n; return nil }); err != nil {
		return err
	}
	var said []string
	for _, status := range slices.Sorted(maps.Keys(by)) {
		said = append(said, fmt.Sprintf("%d %s", by[status], status))
	}
	r.judge("operations by their end", fmt.Sprintf("%d: %s", all, strings.Join(said, ", ")), "confirmed, rejected or a person's",
		all > 0 && by["confirmed"]+by["rejected"]+by["manual"] == all && by["confirmed"] > 0 && by["rejected"] > 0)
	again, err := b.count(ctx, `
		SELECT count(*) FROM refund_calls c JOIN refund_operations f ON f.id = c.operation
		WHERE f.status = 'rejected' AND c.verb = 'create' AND c.submitted_at > f.ended_at`)
	if err != nil {
		return err
	}
	r.judge("sends after a definite no", fmt.Sprint(again), "0", again == 0)
	listed, err := b.count(ctx, `
		SELECT count(DISTINCT h.operation) FROM human_list h JOIN human_notes n ON n.item = h.id AND n.did = 'opened'
		WHERE h.operation IN (SELECT operation FROM refund_changes WHERE to_status IN ('manual', 'rejected'))`)
	if err != nil {
		return err
	}
	theirs, err := b.count(ctx, `SELECT count(DISTINCT operation) FROM refund_changes WHERE to_status IN ('manual', 'rejected')`)
	r.judge("what is a person's is on the list, with its history", fmt.Sprintf("%d of %d", listed, theirs), "all", theirs > 0 && listed == theirs)
	return err
}

// audit adds the auditor's word on money and calls.
func (b *bench) audit(ctx context.Context, r *Report) error {
	queries, err := schema.Audits()
	if err != nil {
		return err
	}
	ledger, _, err := fetch(ctx, b.provider.at+"/_admin/ledger")
	if err != nil {
		return err
	}
	requests, _, err := fetch(ctx, b.provider.at+"/_admin/requests")
	if err != nil {
		return err
	}
	a := audit.Run(ctx, audit.Sources{DB: b.db, Queries: queries, Event: event, Ledger: bytes.NewReader(ledger), Requests: bytes.NewReader(requests)})
	if a.Fault != "" {
		return fmt.Errorf("%s", a.Fault)
	}
	for _, c := range a.Checks {
		if c.Promise != "P5" && c.Promise != "P11" {
			continue
		}
		figure := fmt.Sprintf("%d broken of %d", c.Violations, c.Counted)
		if len(c.Examples) > 0 {
			figure += ": " + c.Examples[0]
		}
		r.judge("audit "+c.Promise+": "+c.Name, figure, "0 broken of some", c.Violations == 0 && c.Counted > 0)
	}
	return nil
}

// spent is what a phase came to.
func (b *bench) spent(ctx context.Context, p phase, calls []call) (Phase, error) {
	row := Phase{Name: p.name, Seconds: p.till.Sub(p.from).Seconds(), OldestBefore: p.before, OldestAfter: p.after}
	for _, c := range calls {
		if !c.at.Before(p.from) && c.at.Before(p.till) {
			row.Starts++
			row.InFlight = max(row.InFlight, c.inFlight)
		}
	}
	var err error
	row.Closures, err = b.count(ctx, `SELECT count(*) FROM refund_changes
		WHERE to_status IN ('confirmed', 'rejected', 'manual') AND at >= $1 AND at < $2`, p.from, p.till)
	return row, err
}
