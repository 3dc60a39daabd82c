package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// ledger runs one on a database of its own, with two events.
func ledger(t testing.TB) (*admission.Ledger, *pgxpool.Pool) {
	l, pool, _ := measuredLedger(t)
	return l, pool
}

func measuredLedger(t testing.TB) (*admission.Ledger, *pgxpool.Pool, *prometheus.Registry) {
	t.Helper()
	pool := pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 4}))
	must(t, pool, `INSERT INTO events (id, title, venue, currency, opens_at, release_rate, pass_life, closes_at)
		VALUES ('hall', 'A hall', 'Old Street', 'EUR', '2030-01-01T10:00:00Z', 50, '7 minutes', '2030-01-02T10:00:00Z'),
		       ('other', 'Another', '', 'EUR', '2029-01-01T10:00:00Z', NULL, '10 minutes', NULL)`)
	metrics := prometheus.NewRegistry()
	l := admission.NewLedger(pool, admission.NewMetrics(metrics))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return l, pool, metrics
}

// counted is a counter's value, over all its labels.
func counted(t testing.TB, metrics *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == name {
				sum += m.Counter.GetValue()
			}
		}
	}
	return sum
}

func must(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func entry(event string, take, place int64) admission.Entry {
	at := time.Now().UTC().Truncate(time.Millisecond)
	return admission.Entry{TakenAt: at, Pass: admission.Pass{
		Event: event, Epoch: 1, Take: take, Place: place, Holder: holder(int(place)),
		ExpiresAt: at.Add(time.Minute), Quota: 4,
	}}
}

// A pass is written once, however often and by how many it is asked for; it is
// there before anybody is answered.
func TestLedgerKeepsAPassOnce(t *testing.T) {
	l, pool := ledger(t)
	books := l.Books()
	entries := make([]admission.Entry, 300)
	for i := range entries {
		entries[i] = entry("hall", int64(i+1), int64(i))
	}
	crowd(t, 3*len(entries), func(i int) {
		e := entries[i%len(entries)]
		if err := books.LetIn(t.Context(), e); err != nil {
			t.Errorf("take %d: %v", e.Take, err)
		}
		var n int
		err := pool.QueryRow(t.Context(), `SELECT count(*) FROM passes WHERE event_id = 'hall' AND epoch = 1 AND take = $1`, e.Take).Scan(&n)
		if err != nil || n != 1 {
			t.Errorf("take %d was answered with %d rows (%v), want 1", e.Take, n, err)
		}
	})
	inside, err := books.Inside(t.Context(), "hall", 1)
	if err != nil || len(inside) != len(entries) {
		t.Errorf("%d inside (%v), want %d", len(inside), err, len(entries))
	}
	late, err := books.After(t.Context(), "hall", 1, 290)
	if err != nil || len(late) != 10 {
		t.Errorf("%d passes after take 290 (%v), want 10", len(late), err)
	}
}

// A place with two passes, or a credit with two places, is refused; so is a row
// that the database refuses. The others of the batch are written.
func TestLedgerRefusesAnotherPass(t *testing.T) {
	l, _ := ledger(t)
	books := l.Books()
	if err := books.LetIn(t.Context(), entry("hall", 1, 1)); err != nil {
		t.Fatal(err)
	}
	bad := map[int]admission.Entry{
		10: entry("hall", 2, 1),          // another take for place 1
		20: entry("hall", 1, 2),          // another place for take 1
		30: entry("no-such-event", 9, 9), // a foreign key
	}
	errs := make([]error, 40)
	crowd(t, len(errs), func(i int) {
		e, isBad := bad[i]
		if !isBad {
			e = entry("other", int64(i+1), int64(i))
		}
		errs[i] = books.LetIn(t.Context(), e)
	})
	for i, err := range errs {
		if _, isBad := bad[i]; isBad != (err != nil) {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	if !strings.Contains(fmt.Sprint(errs[10]), "another pass") || !strings.Contains(fmt.Sprint(errs[20]), "another pass") {
		t.Errorf("the reasons are %v and %v", errs[10], errs[20])
	}
}

// The same pass again with another quota or end is refused by name: what was
// written first stands, and is what its holder gets.
func TestLedgerKeepsAPassAsItWasWritten(t *testing.T) {
	l, _ := ledger(t)
	b := l.Books()
	first := entry("hall", 1, 1)
	richer, longer := first, first
	richer.Quota++
	longer.ExpiresAt = longer.ExpiresAt.Add(time.Minute)
	for _, c := range []struct {
		e    admission.Entry
		want error
	}{{first, nil}, {first, nil}, {richer, admission.ErrWritten}, {longer, admission.ErrWritten}} {
		if err := b.LetIn(t.Context(), c.e); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.e, err, c.want)
		}
	}
	if got, found, err := b.PassOf(t.Context(), "hall", 1, 1); err != nil || !found || got.Quota != first.Quota || !got.ExpiresAt.Equal(first.ExpiresAt) {
		t.Errorf("the pass is %+v (%v, %v), want %+v", got, found, err, first)
	}
}

// Two writings of one pass, by settings before and after a change, may come in one
// batch: whoever is told that theirs is written has what the row says.
func TestLedgerTellsOfTheRowItself(t *testing.T) {
	l, _ := ledger(t)
	books := l.Books()
	const places = 200
	said := make([]error, 2*places)
	written := make([]admission.Entry, len(said))
	for i := range places {
		e := entry("hall", int64(i+1), int64(i))
		written[2*i] = e
		e.Quota = 2
		written[2*i+1] = e
	}
	crowd(t, len(said), func(i int) { said[i] = books.LetIn(t.Context(), written[i]) })
	for i, e := range written {
		row, found, err := books.PassOf(t.Context(), "hall", 1, e.Place)
		if err != nil || !found {
			t.Fatalf("place %d: %t, %v", e.Place, found, err)
		}
		same := row.Quota == e.Quota
		if same && said[i] != nil || !same && !errors.Is(said[i], admission.ErrWritten) {
			t.Errorf("place %d, quota %d: told %v; the row says %d", e.Place, e.Quota, said[i], row.Quota)
		}
	}
}

// A holder has one pass at a time, by whatever place, however they ask; and another
// once it is over.
func TestLedgerLetsAHolderInOnceAtATime(t *testing.T) {
	l, pool := ledger(t)
	b := l.Books()
	said := make([]error, 8)
	by := func(i int, take int64) admission.Entry {
		e := entry("hall", take, int64(i))
		e.Holder = entry("hall", 1, 0).Holder
		return e
	}
	crowd(t, len(said), func(i int) { said[i] = b.LetIn(t.Context(), by(i, int64(i+1))) })
	written := 0
	for _, err := range said {
		if err == nil {
			written++
		}
	}
	if written != 1 {
		t.Errorf("%d passes at once for one holder, want 1", written)
	}
	if err := b.LetIn(t.Context(), by(20, 20)); err == nil {
		t.Error("a holder whose pass is good got another")
	}
	if _, err := pool.Exec(t.Context(), `ALTER TABLE passes DISABLE TRIGGER USER; UPDATE passes SET taken_at = now() - interval '2 hours', expires_at = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if err := b.LetIn(t.Context(), by(20, 20)); err != nil {
		t.Errorf("another go, once the pass was over: %v", err)
	}
}

// A pass is given back once, and the first time stands, however many say so at
// once; one that nobody was given cannot be.
func TestLedgerTakesPassesBackOnce(t *testing.T) {
	l, pool := ledger(t)
	b := l.Books()
	var passes []admission.Pass
	for i := range 20 {
		e := entry("hall", int64(i+1), int64(i))
		if err := b.LetIn(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		passes = append(passes, e.Pass)
	}
	twice := func() {
		crowd(t, 3*len(passes), func(i int) {
			if err := b.GiveBack(t.Context(), passes[i%len(passes)]); err != nil {
				t.Errorf("take %d: %v", passes[i%len(passes)].Take, err)
			}
		})
	}
	twice()
	at := func() (n int, first string) {
		err := pool.QueryRow(t.Context(), `SELECT count(*), string_agg(at::text, ' ' ORDER BY take) FROM passes_given_back WHERE event_id = 'hall'`).Scan(&n, &first)
		if err != nil {
			t.Fatal(err)
		}
		return n, first
	}
	n, first := at()
	if twice(); n != len(passes) {
		t.Errorf("%d of %d passes are back", n, len(passes))
	}
	inside, err := b.Inside(t.Context(), "hall", 1)
	if err != nil || len(inside) != n || slices.ContainsFunc(inside, func(e admission.Entry) bool { return e.Back.IsZero() }) {
		t.Errorf("of %d passes that are back and not over, it says %+v (%v)", n, inside, err)
	}
	if _, now := at(); now != first {
		t.Errorf("told again, they are back since %s, before that since %s", now, first)
	}
	if err := b.GiveBack(t.Context(), entry("hall", 99, 99).Pass); err == nil {
		t.Error("a pass that there is not was given back")
	}
}

func TestLedgerReadsTheSales(t *testing.T) {
	l, pool := ledger(t)
	before := time.Now()
	sales, err := l.Sales(t.Context())
	if err != nil || len(sales) != 2 {
		t.Fatalf("%d sales, %v", len(sales), err)
	}
	other, hall := sales[0], sales[1]
	if hall.Event != "hall" || hall.Epoch != 1 || hall.Title != "A hall" || hall.Venue != "Old Street" || hall.Control != admission.Run ||
		hall.Rate != 50 || hall.OrderLimit != 4 || hall.PassQuota != 4 || hall.PassLife != 7*time.Minute ||
		hall.CallWindow != 2*time.Minute || hall.LineCap != 2_000_000 || hall.Slack != 0.5 || hall.ClosesAt.IsZero() {
		t.Errorf("%+v", hall)
	}
	if other.Rate != 0 || !other.ClosesAt.IsZero() || other.SharePrior != 0 {
		t.Errorf("a rate that was never set: %+v", other)
	}
	if hall.ReadAt.Before(before) || hall.ReadAt.After(time.Now()) {
		t.Errorf("read at %s", hall.ReadAt)
	}
	must(t, pool, `UPDATE events SET control = 'paused' WHERE id = 'hall'`)
	if sales, err = l.Sales(t.Context()); err != nil || sales[1].Control != admission.Pause {
		t.Errorf("after a pause: %+v, %v", sales, err)
	}
}

// What people bought, and whether claims are taken, by the database's clock.
func TestLedgerHearsOfClaims(t *testing.T) {
	l, pool := ledger(t)
	books := l.Books()
	if load, err := books.Load(t.Context()); err != nil || !load.At.IsZero() {
		t.Errorf("without any report: %+v, %v", load, err)
	}
	must(t, pool, `INSERT INTO claim_reports (claimer, at, claims_per_s, p95_ms, queue_age_ms, queued, errors_per_s, answers_per_s)
		VALUES ('dead', now() - interval '1 minute', 0, 9000, 9000, 0, 9, 9)`)
	load, err := books.Load(t.Context())
	if age := time.Since(load.At); err != nil || age < time.Minute || age > time.Hour || load.P95 != 0 || load.Errors != 0 {
		t.Errorf("what stopped a minute ago is heard of as %+v, %v", load, err)
	}
	must(t, pool, `INSERT INTO claim_reports (claimer, at, claims_per_s, p95_ms, queue_age_ms, queued, errors_per_s, answers_per_s)
		VALUES ('a', now(), 5, 120, 0, 0, 0.5, 10), ('b', now(), 0, 90, 40, 1, 1, 20)`)
	first := load.Mark
	load, err = books.Load(t.Context())
	if age := time.Since(load.At); err != nil || age > 3*time.Second || load.Mark <= first || load.Answers != 30 ||
		load.Errors != 1.5 || load.P95 != 120*time.Millisecond || load.QueueAge != 40*time.Millisecond {
		t.Errorf("two claimers are heard of as %+v, %v", load, err)
	}
	must(t, pool, `INSERT INTO buyers (event_id, account, held, seat_limit) VALUES ('hall', 'me', 0, 4)`)
	for take, ago := range map[int]string{1: "1 second", 2: "1 hour"} {
		must(t, pool, `INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, status, seat_count,
				amount_minor, currency, pay_by, ended_at, created_at)
			VALUES ($1, 'hall', 'me', 'me', 1, 1, $2, $3, sha256('x'), 'expired', 3, 100, 'EUR', now(), now(), now() - $4::interval)`,
			uuid.New(), take, fmt.Sprint(take), ago)
	}
	bought, err := books.Bought(t.Context(), "hall", 1, time.Now().Add(-time.Minute))
	if err != nil || len(bought) != 1 || bought[0].Take != 1 || bought[0].Tickets != 3 {
		t.Errorf("bought %+v (%v), want take 1 with 3 tickets", bought, err)
	}
}

// The release log gets each row once, in batches; what the database does not
// take at first is written when it does.
func TestLedgerKeepsTheReleaseLog(t *testing.T) {
	l, pool, metrics := measuredLedger(t)
	books := l.Books()
	must(t, pool, `ALTER TABLE release_log RENAME TO away`)
	const rows = 12_000
	for i := range rows {
		books.Evidence(admission.Evidence{
			Event: "hall", Epoch: 1, Term: 1, Seq: int64(i), Kind: "refill", Milli: 2000, Front: 10, At: time.Now(),
		})
	}
	books.Evidence(admission.Evidence{Event: "hall", Epoch: 1, Term: 1, Seq: 0, Kind: "refill", Milli: 2000, At: time.Now()})
	eventually(t, "a flush fails", 5*time.Second, func() bool { return counted(t, metrics, "waitroom_line_faults_total") > 0 })
	must(t, pool, `ALTER TABLE away RENAME TO release_log`)
	eventually(t, "the log is written", 10*time.Second, func() bool {
		var n int
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM release_log`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == rows
	})
}

// While the database is away a pass is refused, and nothing waits for ever.
func TestLedgerFailsAtOnceWhenItIsDown(t *testing.T) {
	l, pool := ledger(t)
	pool.Close()
	if err := l.Books().LetIn(t.Context(), entry("hall", 1, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a pass was written nowhere: %v", err)
	}
}

// A checkpoint only goes forward, whichever replica wrote it, and what was let
// in since is in it.
func TestCheckpointGoesForward(t *testing.T) {
	l, _ := ledger(t)
	b := l.Books()
	ctx := t.Context()
	if c, err := b.Recall(ctx, "hall", 1); err != nil || c.Opened {
		t.Fatalf("a new line was opened before: %+v (%v)", c, err)
	}
	first := admission.Checkpoint{Event: "hall", Epoch: 1, Opened: true, Ceiling: 10_007, Front: 5, Taken: 3, Term: 2, Beat: 90, Closed: true, Lobby: 7}
	behind := admission.Checkpoint{Event: "hall", Epoch: 1, Opened: true, Ceiling: 10_000, Front: 4, Taken: 2, Term: 2, Beat: 80}
	drawn := first
	drawn.Drawn, drawn.Lobby = true, 9
	for _, c := range []admission.Checkpoint{first, behind, drawn, behind} {
		if err := b.Keep(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	want := first
	want.Drawn = true
	if c, err := b.Recall(ctx, "hall", 1); err != nil || c != want {
		t.Errorf("recalled %+v (%v), want %+v", c, err, want)
	}
	e := entry("hall", 12, 30)
	if err := b.LetIn(ctx, e); err != nil {
		t.Fatal(err)
	}
	want.Front, want.Taken = 31, 12
	if c, err := b.Recall(ctx, "hall", 1); err != nil || c != want {
		t.Errorf("with a pass of place 30 by take 12: %+v (%v), want %+v", c, err, want)
	}
	if got, found, err := b.PassOf(ctx, "hall", 1, 30); err != nil || !found || got.Take != 12 || got.Holder != e.Holder {
		t.Errorf("the pass of place 30 is %+v (%v, %v)", got, found, err)
	}
	if _, found, err := b.PassOf(ctx, "hall", 1, 29); err != nil || found {
		t.Errorf("place 29 has a pass (%v)", err)
	}
}
