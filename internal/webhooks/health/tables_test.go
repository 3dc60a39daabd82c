package health_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"waitroom/internal/pgtest"
	"waitroom/internal/webhooks/health"
	"waitroom/internal/webhooks/plan"
)

// tables are a courier's, with two endpoints and some deliveries.
type tables struct {
	*testing.T
	pool     *pgxpool.Pool
	contract string
	report   string
}

const terms = "WEBHOOK_BACKOFF_FACTOR=2\nWEBHOOK_ADMIT_SLACK_S=1\nWEBHOOK_DEAD_LETTER_AFTER=3\nWEBHOOK_SUCCESS_MIN=200\nWEBHOOK_SUCCESS_MAX=299\n"

// began is when all of it began, to the microsecond.
var began = time.Date(2026, 10, 22, 16, 1, 0, 123456000, time.UTC)

func openTables(t *testing.T) tables {
	dir := t.TempDir()
	w := tables{t, pgtest.New(t), filepath.Join(dir, "retry.env"), filepath.Join(dir, "report.json")}
	write(t, w.contract, terms)
	w.exec(`INSERT INTO endpoints (id, organiser, url, state, reason, max_attempts, backoff_base, dispatch_gap, secret, created_at) VALUES
		('shop', 'acme', 'https://shop.example/', 'active', NULL, 3, '2 s', '10 s', sha256('a'), $1),
		('old', 'acme', 'https://old.example/', 'draining', 'asked', 3, '2 s', '10 s', sha256('b'), $1)`, began)
	w.exec(`INSERT INTO endpoint_changes (endpoint_id, at, by, did) VALUES ('shop', $1, 'key', 'added')`, began.Add(-time.Hour))
	for i, endpoint := range []string{"shop", "shop", "old", "shop"} { // deliveries 1 to 4
		w.exec(`WITH n AS (
			  INSERT INTO notices (kind, organiser, subject, version, body, addressed) VALUES ('order.paid', 'acme', $1, 1, '{}', 1) RETURNING id
			) INSERT INTO deliveries (notice_id, endpoint_id) SELECT id, $2 FROM n`, fmt.Sprint("order-", i), endpoint)
	}
	w.attempt(1, 1, 1, "shop", 0, 500*time.Millisecond, 500)
	w.attempt(2, 1, 1, "shop", time.Second, 200*time.Millisecond, 204)
	w.attempt(3, 1, 1, "old", 2*time.Second, time.Second, 500)
	w.attempt(1, 1, 2, "shop", 5500*time.Millisecond, 500*time.Millisecond, 0)                                                                       // 0.5 + 4 + 1: on time
	w.attempt(1, 1, 3, "shop", 15*time.Second-time.Microsecond, 10*time.Second, 503)                                                                 // 6 + 8 + 1: a microsecond early
	w.attempt(1, 2, 1, "shop", 30*time.Second, time.Second, 200)                                                                                     // played again
	w.exec(`INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at) VALUES (4, 'shop', 1, 1, 'c', $1)`, began) // under way
	return w
}

func (w tables) attempt(delivery, turn, no int, endpoint string, after, took time.Duration, status int) {
	w.Helper()
	w.exec(`INSERT INTO delivery_attempts (delivery_id, go, attempt_no, endpoint_id, courier, started_at, finished_at, status)
		VALUES ($1, $2, $3, $4, 'c', $5, $6, nullif($7, 0))`, delivery, turn, no, endpoint, began.Add(after), began.Add(after+took), status)
}

func (w tables) exec(query string, args ...any) {
	w.Helper()
	if _, err := w.pool.Exec(w.Context(), query, args...); err != nil {
		w.Fatal(err)
	}
}

func (w tables) db() *sql.DB { return stdlib.OpenDBFromPool(w.pool) }

func (w tables) plan(ctx context.Context) (plan.Report, error) {
	contract, err := plan.ReadContract(w.contract)
	if err != nil {
		return plan.Report{}, err
	}
	facts, err := plan.FromTables(ctx, w.db(), contract)
	if err != nil {
		return plan.Report{}, err
	}
	return plan.Make(facts)
}

// judge is the answer about the report that was kept.
func (w tables) judge() health.Answer {
	return health.Tables(w.Context(), w.db(), w.contract, w.report)
}

// The courier's own tables have a plan too, to the microsecond: an attempt waits
// for the one before it of its delivery, whatever other deliveries do meanwhile.
func TestTheTablesHaveAPlan(t *testing.T) {
	w := openTables(t)
	r, err := w.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	us := func(d time.Duration) int64 { return began.Add(d).UnixMicro() }
	want := plan.Report{
		Admissible: []string{"shop"},
		Counts:     map[string]int64{"attempts": 6, "succeeded": 1, "exhausted": 0, "skipped": 1},
		Final:      map[string]string{"shop": "succeeded", "old": "skipped"},
		Plan: []plan.Line{
			{Attempt: "1", Endpoint: "shop", Earliest: 0, Delta: us(0), Verdict: "ok"},
			{Attempt: "2", Endpoint: "shop", Earliest: 0, Delta: us(time.Second), Verdict: "ok"},
			{Attempt: "4", Endpoint: "shop", Earliest: us(5500 * time.Millisecond), Delta: 0, Verdict: "ok"},
			{Attempt: "5", Endpoint: "shop", Earliest: us(15 * time.Second), Delta: -1, Verdict: "too_early"},
			{Attempt: "6", Endpoint: "shop", Earliest: 0, Delta: us(30 * time.Second), Verdict: "ok"},
		},
		Totals: plan.Totals{Attempts: 5, Endpoints: 1, TooEarly: 1, OK: 4, Backoff: 13_999_999},
		Unit:   "us",
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("the plan differs: %s", diff)
	}
	if err := r.Keep(w.report); err != nil {
		t.Fatal(err)
	}
	if a := w.judge(); a.Exit != 0 || len(a.Checks) != 8 {
		t.Errorf("exit %d for a plan just made: %q", a.Exit, a.Issues)
	}
	w.exec(`UPDATE delivery_attempts SET started_at = started_at + interval '1 microsecond' WHERE id = 5`)
	if a := w.judge(); a.Exit != 2 {
		t.Errorf("exit %d of a ledger that changed by a microsecond: %q", a.Exit, a.Issues)
	}
}

// Terms that were edited say nothing of what was begun under others; and what a person
// made due by taking an endpoint back into service did not come too early.
func TestAnEditOrAReturnBeginsANewLedger(t *testing.T) {
	for did, states := range map[string][2]string{"edited": {"", ""}, "state": {"disabled", "active"}} {
		t.Run(did, func(t *testing.T) {
			w := openTables(t)
			change := func(did, old, now string, after time.Duration) {
				w.exec(`INSERT INTO endpoint_changes (endpoint_id, at, by, did, old, new)
					VALUES ('shop', $1, 'key', $2, jsonb_build_object('state', $3::text), jsonb_build_object('state', $4::text))`,
					began.Add(after), did, old, now)
			}
			change(did, states[0], states[1], 10*time.Second)
			change("tested", "", "", time.Hour)
			change("state", "active", "disabled", time.Hour)
			change("state", "draining", "active", time.Hour)
			r, err := w.plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Plan) != 1 || r.Plan[0].Attempt != "6" || r.Counts["attempts"] != 2 {
				t.Errorf("the plan is of %v and %v; want attempt 6, and 3 of the endpoint that nobody edited", r.Plan, r.Counts)
			}
			if err := r.Keep(w.report); err != nil {
				t.Fatal(err)
			}
			if a := w.judge(); a.Exit != 0 {
				t.Errorf("exit %d: %q", a.Exit, a.Issues)
			}
		})
	}
}

// Where the rules say that a delivery begins and where the tables say so is one:
// else there is no plan, and no clean report.
func TestDeliveriesBeginWhereTheTablesSay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(tables)
		says   string
	}{
		"an attempt after a success": {func(w tables) { w.attempt(2, 1, 2, "shop", time.Minute, 0, 200) }, "of delivery 2.1 comes after its end"},
		"an attempt more than there may be": {
			func(w tables) { w.attempt(1, 1, 4, "shop", time.Minute, 0, 200) }, "of delivery 1.1 comes after its end",
		},
		"an attempt that is not there": {func(w tables) { w.exec(`DELETE FROM delivery_attempts WHERE id = 4`) }, "is number 3 of delivery 1.1, want 2"},
	} {
		t.Run(name, func(t *testing.T) {
			w := openTables(t)
			r, err := w.plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Keep(w.report); err != nil {
				t.Fatal(err)
			}
			c.change(w)
			if _, err := w.plan(t.Context()); err == nil || !strings.Contains(err.Error(), "by what came before it") {
				t.Errorf("a plan was made: %v", err)
			}
			if a := w.judge(); a.Exit != 2 || !slices.ContainsFunc(a.Issues, func(i string) bool { return strings.Contains(i, c.says) }) {
				t.Errorf("exit %d, want 2 saying %q: %q", a.Exit, c.says, a.Issues)
			}
		})
	}
}

// A report of a ledger in seconds is none of the tables.
func TestUnitsAreNotMixed(t *testing.T) {
	w := openTables(t)
	r, err := w.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Unit = ""
	if err := r.Keep(w.report); err != nil {
		t.Fatal(err)
	}
	if a := w.judge(); a.Exit != 2 || !strings.Contains(a.Issues[0], "unit is missing") {
		t.Errorf("exit %d: %q", a.Exit, a.Issues)
	}
	write(t, w.contract, strings.Replace(terms, "SLACK_S=1", "SLACK_S=9223372036855", 1))
	if a := w.judge(); a.Exit != 3 {
		t.Errorf("exit %d of a slack beyond any time: %q", a.Exit, a.Issues)
	}
}

// No database is a fact that cannot be had.
func TestWithoutADatabase(t *testing.T) {
	w := openTables(t)
	db := w.db()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if a := health.Tables(t.Context(), db, w.contract, w.report); a.Exit != 2 || len(a.Checks) != 0 {
		t.Errorf("exit %d: %q", a.Exit, a.Issues)
	}
	if a := health.Tables(t.Context(), db, w.report, w.report); a.Exit != 3 {
		t.Errorf("exit %d without a contract: %q", a.Exit, a.Issues)
	}
}
