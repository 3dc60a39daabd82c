package webhooks

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// many are an endpoint's deliveries, a second apart, one kind in a thousand rare; a
// page is found among them by reading little more than the page.
const (
	many    = 100_000
	manyOf  = many / 10 // written at once, so that a slow machine has time for each
	aPage   = 50
	readFor = 10 * aPage // rows at most
)

// Whatever is asked for, the index that has it is read, and not the table: also
// where nothing fits, and of a page far down.
func TestAPageOfManyDeliveriesIsFoundByItsIndex(t *testing.T) {
	d := &depot{T: t, pool: pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 2, Statement: 5 * time.Minute, Replan: true}))}
	for _, id := range []string{"busy", "quiet"} {
		d.endpoint(id, "http://127.0.0.1:1/", "")
	}
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for from := range many / manyOf {
		d.exec(`
			WITH told AS (
			  INSERT INTO notices (kind, organiser, subject, version, body, at, addressed, relayed_at)
			  SELECT CASE WHEN k % 1000 = 0 THEN 'event.paused' ELSE 'order.paid' END, 'house', 'order-' || k, 1, '{}', $1::timestamptz + k * interval '1 second', 1, now()
			  FROM generate_series($2::int + 1, $2::int + $3::int) k RETURNING id, kind, at
			)
			INSERT INTO deliveries (notice_id, endpoint_id, notice_kind, notice_at, status, attempts, ended_at)
			SELECT id, 'busy', kind, at, 'delivered', 1, now() FROM told ORDER BY id`, epoch, from*manyOf, manyOf)
	}
	for _, table := range []string{"notices", "deliveries", "endpoints"} {
		d.exec(`ANALYZE ` + table)
	}
	late := epoch.Add((many - 20) * time.Second)
	half := int64(d.count(`SELECT id FROM deliveries ORDER BY id OFFSET $1 LIMIT 1`, many/2))
	for _, c := range []struct {
		what  string
		w     Which
		found int
		index string
	}{
		{"all", Which{}, aPage, "deliveries_newest"},
		{"a page far down", Which{Before: half}, aPage, "deliveries_newest"},
		{"a kind of many", Which{Kind: "order.paid"}, aPage, "deliveries_newest(_of_kind)?"},
		{"a rare kind", Which{Kind: "event.paused"}, aPage, "deliveries_newest_of_kind"},
		{"a rare kind, far down", Which{Kind: "event.paused", Before: half}, aPage, "deliveries_newest_of_kind"},
		{"a kind that there is none of", Which{Kind: "order.expired"}, 0, "deliveries_newest_of_kind"},
		{"since the beginning", Which{Since: epoch}, aPage, "deliveries_newest"},
		{"since lately", Which{Since: late}, 21, "deliveries_newest"},
		{"since tomorrow", Which{Since: epoch.Add(2 * many * time.Second)}, 0, "deliveries_newest"},
		{"a rare kind since lately", Which{Kind: "event.paused", Since: late}, 1, "deliveries_newest_of_kind"},
		{"the dead", Which{Status: "dead"}, 0, "deliveries_dead"},
		{"an endpoint without any", Which{Endpoint: "quiet", Kind: "order.paid", Since: epoch}, 0, "deliveries_newest(_of_kind)?"},
	} {
		c.w.Organiser, c.w.Most = "house", aPage
		all, err := Deliveries(t.Context(), d.pool, c.w)
		if err != nil || len(all) != c.found {
			t.Errorf("%s: %d deliveries, want %d (%v)", c.what, len(all), c.found, err)
		}
		sql, args := c.w.ofEndpoints()
		plan, read := d.explain(sql, args...)
		if !regexp.MustCompile(`using `+c.index+` on`).MatchString(plan) || regexp.MustCompile(`Seq Scan on (deliveries|notices)`).MatchString(plan) {
			t.Errorf("%s: it is not found by %s, or a table is read whole:\n%s", c.what, c.index, plan)
		}
		if read > readFor {
			t.Errorf("%s: %d rows are read for a page of %d:\n%s", c.what, read, aPage, plan)
		}
	}
}

// explain is how a query was run, and how many rows of deliveries and notices it read.
func (d *depot) explain(sql string, args ...any) (plan string, read int) {
	d.Helper()
	rowsRead := func(tx pgx.Tx) (n int) {
		err := tx.QueryRow(d.Context(), `SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables WHERE relname IN ('deliveries', 'notices')`).Scan(&n)
		if err != nil {
			d.Fatal(err)
		}
		return n
	}
	err := pg.InTx(d.Context(), d.pool, func(tx pgx.Tx) error {
		before := rowsRead(tx)
		rows, err := tx.Query(d.Context(), `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) `+sql, args...)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		plan, read = strings.Join(lines, "\n"), rowsRead(tx)-before
		return err
	})
	if err != nil {
		d.Fatal(fmt.Errorf("explain: %w", err))
	}
	return plan, read
}

// How an endpoint does is found without reading all that was ever sent to it, also
// where nothing ever failed.
func TestHealthReadsNoHistory(t *testing.T) {
	d := openDepot(t)
	for i := range 4 {
		d.endpoint(fmt.Sprint("e-", i), "http://127.0.0.1:1", "")
	}
	const each = 10 // attempts of each delivery, written in parts, so that a slow machine has time for each
	d.tell(500)
	for n := range each {
		d.exec(`INSERT INTO delivery_attempts (delivery_id, go, attempt_no, endpoint_id, courier, started_at, finished_at, status)
			SELECT d.id, 1, $1::int + 1, d.endpoint_id, 'c', now() + $1 * interval '1 second', now() + $1 * interval '1 second', 200
			FROM deliveries d`, n)
	}
	d.exec(`UPDATE deliveries SET attempts = $1, status = 'delivered', ended_at = now()`, each)
	d.exec(`ANALYZE delivery_attempts`)
	alone := pgtest.Open(t, d.pool.Config().ConnString(), pgtest.Conns(1)) // its one session tells what it read
	read := func() (n int) {
		for _, sql := range []string{
			`SELECT 1 FROM pg_stat_force_next_flush()`,
			`SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int FROM pg_stat_user_tables WHERE relname = 'delivery_attempts'`,
		} {
			if err := alone.QueryRow(t.Context(), sql).Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	before := read()
	all, err := HealthOf(t.Context(), alone, "house", "")
	if err != nil || len(all) != 4 || all[0].LastFailure != nil || all[0].LastSuccess == nil {
		t.Errorf("%+v, %v", all, err)
	}
	if n := read() - before; n > 40 {
		t.Errorf("%d of %d attempts were read", n, 4*500*each)
	}
}
