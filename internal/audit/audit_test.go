package audit_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	"waitroom/internal/draw"
	"waitroom/internal/pgtest"
	schema "waitroom/sql"
)

// sale is a small one, whole and right: A paid, B expired, C bought what came
// back, D still has it in the cart; E stood in line and went.
const sale = `
ALTER TABLE event_changes ALTER at SET DEFAULT '2026-01-01';
INSERT INTO events (id, title, currency, opens_at, release_rate) VALUES ('e', 'E', 'EUR', '2026-01-01', 10);
INSERT INTO price_tiers VALUES ('e', 't', 1000);
INSERT INTO seats (event_id, pos, guid, kind, section, price_tier) SELECT 'e', i, 'S' || i, 'numbered', 'A', 't' FROM generate_series(0, 5) i;
INSERT INTO buyers SELECT 'e', h, n, 4 FROM (VALUES ('A', 2), ('B', 0), ('C', 1), ('D', 1)) b(h, n);
INSERT INTO passes SELECT 'e', 1, t, t - 1, h, 4, '2026-01-01 00:00:10'::timestamptz + t * interval '100 ms', now() + interval '1 hour'
  FROM (VALUES (1, 'A'), (2, 'B'), (3, 'C'), (4, 'D')) p(t, h);
INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
  SELECT id::uuid, 'e', h, h, 1, t - 1, t, 'try-' || h, sha256(h::bytea), n, 1000 * n, 'EUR', now()
  FROM (VALUES ('00000000-0000-0000-0000-00000000000a', 'A', 1, 2), ('00000000-0000-0000-0000-00000000000b', 'B', 2, 1), ('00000000-0000-0000-0000-00000000000d', 'D', 4, 1)) o(id, h, t, n);
INSERT INTO order_lines SELECT o.id, s.id, 1000 FROM (VALUES ('A', 0), ('A', 1), ('B', 2), ('D', 3)) l(h, pos) JOIN orders o ON o.account = h JOIN seats s USING (pos);
UPDATE seats s SET order_id = l.order_id, claimed_at = now() FROM order_lines l WHERE l.seat_id = s.id;
INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
  SELECT '10000000-0000-0000-0000-00000000000a', id, 'p', 'pi_a', 'captured', 2000, 'EUR', 2000, 'on_order', now() FROM orders WHERE account = 'A';
UPDATE orders SET status = 'paid', payment_id = '10000000-0000-0000-0000-00000000000a', paid_at = now(), version = 2 WHERE account = 'A';
UPDATE orders SET status = 'expired', ended_at = now(), version = 2 WHERE account = 'B';
UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE order_id = (SELECT id FROM orders WHERE account = 'B');
INSERT INTO seat_returns SELECT l.seat_id, 'expired:' || o.id, 'e', o.id FROM orders o JOIN order_lines l ON l.order_id = o.id WHERE o.account = 'B';
INSERT INTO endpoints (id, organiser, url, secret, created_at) VALUES ('shop', 'house', 'https://example.org', decode(repeat('00', 32), 'hex'), '2025-01-01');
INSERT INTO notices (kind, event_id, subject, version, body, addressed) SELECT 'order.' || status, 'e', id::text, 2, '{}', 1 FROM orders WHERE status <> 'pending';
INSERT INTO deliveries (notice_id, endpoint_id, status, attempts, go, reason, ended_at) SELECT id, 'shop', CASE kind WHEN 'order.paid' THEN 'delivered' ELSE 'dead' END,
  CASE kind WHEN 'order.paid' THEN 2 ELSE 1 END, CASE kind WHEN 'order.paid' THEN 2 ELSE 1 END, CASE kind WHEN 'order.expired' THEN 'max_attempts' END, now() FROM notices;
INSERT INTO delivery_attempts (delivery_id, endpoint_id, go, attempt_no, courier, started_at, finished_at, status)
  SELECT d.id, 'shop', a.go, a.no, 'c', '2026-01-01'::timestamptz + a.at * interval '1 s', '2026-01-01'::timestamptz + (a.at + 1) * interval '1 s', a.status
  FROM deliveries d JOIN notices n ON n.id = d.notice_id
  JOIN (VALUES ('order.paid', 1, 1, 0, 200), ('order.paid', 2, 1, 10, 500), ('order.paid', 2, 2, 20, 204), ('order.expired', 1, 1, 0, NULL)) a(kind, go, no, at, status) ON a.kind = n.kind;
INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, refund_pending_minor, stands, captured_at)
  SELECT '10000000-0000-0000-0000-00000000000b', id, 'p', 'pi_b', 'captured', 1000, 'EUR', 1000, 1000, 'to_refund', now() FROM orders WHERE account = 'B';
INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request)
  SELECT 'refund:' || order_id || ':' || id, order_id, id, 'late', 1000, 'EUR', 'x' FROM payments WHERE provider_payment_id = 'pi_b';
INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
  VALUES ('00000000-0000-0000-0000-00000000000c', 'e', 'C', 'C', 1, 2, 3, 'try-C', sha256('C'), 1, 1000, 'EUR', now());
INSERT INTO order_lines SELECT '00000000-0000-0000-0000-00000000000c', id, 1000 FROM seats WHERE pos = 2;
UPDATE seats SET order_id = '00000000-0000-0000-0000-00000000000c', claimed_at = now() WHERE pos = 2;
`

const line = `
{"event":"e","epoch":1,"holder":"A","index":0,"number":0,"state":"passed","take":1}
{"event":"e","epoch":1,"holder":"B","index":1,"number":1,"state":"passed","take":2}
{"event":"e","epoch":1,"holder":"C","index":2,"number":2,"state":"passed","take":3}
{"event":"e","epoch":1,"holder":"D","index":3,"number":3,"state":"passed","take":4}
{"event":"e","epoch":1,"holder":"E","index":4,"number":4,"state":"left"}
{"places":5}
`

const told = `
{"at":"2026-01-01T00:00:01Z","op":"join","event":"e","holder":"A","epoch":1,"number":0,"new":true}
{"at":"2026-01-01T00:00:02Z","op":"join","event":"e","holder":"A","epoch":1,"number":0}
{"at":"2026-01-01T00:00:03Z","op":"place","event":"e","holder":"A","epoch":1,"number":0,"ahead":3}
{"at":"2026-01-01T00:00:04Z","op":"place","event":"e","holder":"A","epoch":1,"number":0,"ahead":2}
{"at":"2026-01-01T00:00:05Z","op":"door","event":"e","holder":"A","epoch":1,"number":0}
{"at":"2026-01-01T00:00:10.2Z","op":"pass","event":"e","holder":"A","epoch":1,"number":0,"take":1}
{"at":"2026-01-01T00:00:11Z","op":"claim","event":"e","holder":"A","attempt":"try-A","outcome":"unknown"}
{"at":"2026-01-01T00:00:12Z","op":"claim","event":"e","holder":"A","attempt":"try-A","outcome":"already","order":"00000000-0000-0000-0000-00000000000a","seats":["S1","S0"]}
{"at":"2026-01-01T00:00:12Z","op":"claim","event":"e","holder":"D","attempt":"try-0","outcome":"seats_taken"}
`

// free takes the database's own guards away: what they would have stopped is
// then for the audit to find.
const free = `
DO $$ DECLARE c record; BEGIN
  FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f') LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname);
  END LOOP;
  FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype IN ('u', 'p') AND conrelid::regclass::text <> 'goose_db_version' LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I CASCADE', c.t, c.conname);
  END LOOP;
END $$;
DROP INDEX orders_one_pending, payments_one_pays;
DO $$ DECLARE g record; BEGIN
  FOR g IN SELECT tgrelid::regclass AS t, tgname FROM pg_trigger WHERE tgname IN ('stays', 'refer', 'refer_new') LOOP
    EXECUTE format('DROP TRIGGER %I ON %s', g.tgname, g.t);
  END LOOP;
END $$;
DROP TRIGGER append_only ON passes; DROP TRIGGER append_only ON seat_returns; DROP TRIGGER append_only ON seat_changes;
`

// fixed is done with the database's guards in place, before sql.
type facts struct{ fixed, sql, line, told, event string }

func run(t *testing.T, f facts) audit.Report {
	t.Helper()
	ctx := t.Context()
	db, err := pgx.Connect(ctx, pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(ctx)) //nolint:errcheck // a test's connection
	if _, err := db.Exec(ctx, sale); err != nil {
		t.Fatalf("the sale: %v", err)
	}
	if _, err := db.Exec(ctx, f.fixed); err != nil {
		t.Fatalf("%s: %v", f.fixed, err)
	}
	if f.sql != "" {
		if _, err := db.Exec(ctx, free); err != nil {
			t.Fatalf("taking the guards away: %v", err)
		}
		tag, err := db.Exec(ctx, f.sql)
		if err != nil {
			t.Fatalf("%s: %v", f.sql, err)
		}
		if tag.RowsAffected() == 0 {
			t.Fatalf("%s changed nothing: the fault was not applied", f.sql)
		}
	}
	queries, err := schema.Audits()
	if err != nil {
		t.Fatal(err)
	}
	read := func(s string) io.Reader {
		if s == "" {
			return nil
		}
		return strings.NewReader(s)
	}
	return audit.Run(ctx, audit.Sources{DB: db, Queries: queries, Event: cmp.Or(f.event, "e"), Line: read(f.line), Witness: read(f.told)})
}

// judged fails unless the audit ends so.
func judged(t *testing.T, r audit.Report, want int) {
	t.Helper()
	if r.Exit != want {
		t.Errorf("exit %d, want %d\n%s", r.Exit, want, printed(r))
	}
}

// caught fails unless the promise is found broken.
func caught(t *testing.T, r audit.Report, promise string) {
	t.Helper()
	if r.Exit != audit.Broken || !slices.ContainsFunc(r.Checks, func(k audit.Check) bool { return k.Promise == promise && k.Violations > 0 }) {
		t.Errorf("exit %d (%s); %s is not among what was found:\n%s", r.Exit, r.Fault, promise, printed(r))
	}
}

// caughtBy fails unless that check finds its promise broken.
func caughtBy(t *testing.T, r audit.Report, check string) {
	t.Helper()
	if r.Exit != audit.Broken || !slices.ContainsFunc(r.Checks, func(k audit.Check) bool { return k.Name == check && k.Violations > 0 }) {
		t.Errorf("exit %d (%s); %q is not among what was found:\n%s", r.Exit, r.Fault, check, printed(r))
	}
}

func printed(r audit.Report) string {
	var b strings.Builder
	r.Fprint(&b)
	return b.String()
}

func TestARightSaleIsClean(t *testing.T) {
	r := run(t, facts{line: line, told: told})
	judged(t, r, audit.Clean)
	for _, p := range []string{"P1", "P2", "P3", "P4", "P6", "P7", "P8", "P9", "P12", "P13"} {
		if r.Checked[p] == 0 {
			t.Errorf("%s counted nothing", p)
		}
	}
}

// A notice that waits for a relay was not passed over because somebody asked for an
// endpoint's test meanwhile, which no relay addresses.
func TestATestOvertakesNobody(t *testing.T) {
	r := run(t, facts{line: line, told: told, sql: `
		DELETE FROM deliveries WHERE status = 'dead';
		UPDATE notices SET addressed = NULL WHERE kind = 'order.expired';
		INSERT INTO notices (kind, organiser, subject, version, body, addressed, at) VALUES ('endpoint.test', 'house', 'shop', 1, '{}', 1, now() + interval '2 minutes');
		INSERT INTO deliveries (notice_id, endpoint_id) SELECT id, subject FROM notices WHERE kind = 'endpoint.test'`})
	judged(t, r, audit.Clean)
}

// Before anybody came there is nothing to judge, which is no proof and no breach:
// it cannot be told. Promises come by their numbers, with their words.
func TestNothingToJudgeCannotBeTold(t *testing.T) {
	r := run(t, facts{sql: `INSERT INTO events (id, title, currency, opens_at) VALUES ('before', 'B', 'EUR', '2030-01-01')`, event: "before"})
	var b strings.Builder
	r.Fprint(&b)
	if r.Exit != audit.Unusable || !slices.Contains(r.Untold, "P1") {
		t.Errorf("exit %d, untold %v; want %d, and P1 among what cannot be told\n%s", r.Exit, r.Untold, audit.Unusable, b.String())
	}
	if !strings.Contains(b.String(), "P1   never oversold: there is nothing to judge it by yet") {
		t.Errorf("it does not say so:\n%s", b.String())
	}
	r = run(t, facts{line: line, told: told})
	b.Reset()
	r.Fprint(&b)
	if p2, p13 := strings.Index(b.String(), "  P2 "), strings.Index(b.String(), "  P13 "); p2 > p13 || !strings.HasSuffix(b.String(), "audit: clean\n") {
		t.Errorf("P2 at %d, P13 at %d, want them by number, and the verdict in words:\n%s", p2, p13, b.String())
	}
}

// An event without a waiting room sells what any other does, by no pass: it has no
// line's promises to keep, and all the others.
func TestASaleWithoutALineIsJudged(t *testing.T) {
	const open = `
		UPDATE events SET admission = 'open' WHERE id = 'e';
		UPDATE orders SET take = 0, place = 0;
		DELETE FROM passes;`
	const toldWithout = `{"at":"2026-01-01T00:00:12Z","op":"claim","event":"e","holder":"A","attempt":"try-A","outcome":"claimed","order":"00000000-0000-0000-0000-00000000000a","seats":["S1","S0"]}`
	for _, c := range []struct {
		more, promise string
		want          int
	}{
		{"", "", audit.Clean},
		{"UPDATE orders SET take = 7 WHERE account = 'A'", "P9", audit.Broken},
		{"UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE pos = 0", "P3", audit.Broken},
	} {
		r := run(t, facts{sql: open + c.more, told: toldWithout})
		var b strings.Builder
		r.Fprint(&b)
		broken := slices.ContainsFunc(r.Checks, func(k audit.Check) bool { return k.Promise == c.promise && k.Violations > 0 })
		if r.Exit != c.want || c.want == audit.Broken && !broken || !strings.Contains(b.String(), "this event has none") || slices.ContainsFunc(r.Missing, func(m string) bool { return strings.Contains(m, "line") }) {
			t.Errorf("%q: exit %d, want %d and %s found\n%s", c.more, r.Exit, c.want, c.promise, b.String())
		}
	}
	r := run(t, facts{sql: `INSERT INTO events (id, title, currency, opens_at, admission) VALUES ('before', 'B', 'EUR', '2030-01-01', 'open')`, event: "before"})
	if r.Exit != audit.Unusable || !slices.Contains(r.Untold, "P1") || slices.Contains(r.Untold, "P8") {
		t.Errorf("before anybody came: exit %d, untold %v; want %d, and P1 without P8", r.Exit, r.Untold, audit.Unusable)
	}
}

// TestEachBrokenPromiseIsFound breaks one fact at a time, with the database's
// guards out of the way, and wants the promise named.
func TestEachBrokenPromiseIsFound(t *testing.T) {
	order := func(h string) string { return fmt.Sprintf("(SELECT id FROM orders WHERE account = '%s')", h) }
	cases := []struct {
		name, promise string
		facts
	}{
		{"a seat in two orders", "P1", facts{sql: `INSERT INTO order_lines SELECT ` + order("D") + `, id, 1000 FROM seats WHERE pos = 0`}},
		{"a seat handed over while held", "P1", facts{sql: `UPDATE seats SET order_id = ` + order("D") + ` WHERE pos = 0`}},
		{"a change that nobody wrote down", "P1", facts{sql: `DELETE FROM seat_changes WHERE to_order IS NULL`}},
		{"half an order", "P2", facts{sql: `DELETE FROM order_lines WHERE seat_id = (SELECT id FROM seats WHERE pos = 1)`}},
		{"an amount that its lines do not add up to", "P2", facts{sql: `UPDATE orders SET amount_minor = 1 WHERE account = 'D'`}},
		{"paid and a seat lost", "P3", facts{sql: `UPDATE seats SET order_id = NULL WHERE pos = 1`}},
		{"paid with too little", "P3", facts{sql: `UPDATE payments SET captured_minor = 1999 WHERE provider_payment_id = 'pi_a'`}},
		{"paid by another's payment", "P3", facts{sql: `UPDATE payments SET order_id = ` + order("D") + ` WHERE provider_payment_id = 'pi_a'`}},
		{"paid after it had expired", "P4", facts{sql: `UPDATE orders SET status = 'paid' WHERE account = 'B'`}},
		{"taken again and never expired", "P4", facts{sql: `UPDATE orders SET reclaimed_at = paid_at WHERE account = 'A'`}},
		{"a seat on an ended order", "P4", facts{sql: `UPDATE seats SET order_id = ` + order("B") + ` WHERE pos = 4`}},
		{"a seat that is gone", "P6", facts{sql: `DELETE FROM seats WHERE pos = 4`}},
		{"a seat on no order that exists", "P6", facts{sql: `UPDATE seats SET order_id = gen_random_uuid() WHERE pos = 4`}},
		{"an end that returned nothing", "P6", facts{sql: `DELETE FROM seat_returns`}},
		{"a buyer's count that is off", "P6", facts{sql: `UPDATE buyers SET held = 3 WHERE account = 'C'`}},
		{"two takes at once", "P8", facts{sql: `UPDATE passes SET taken_at = '2026-01-01 00:00:10.1'`}},
		{"let in before the opening", "P8", facts{sql: `UPDATE passes SET taken_at = taken_at - interval '1 day' WHERE take = 1`}},
		{"a place with two passes", "P9", facts{sql: `UPDATE passes SET place = 0 WHERE take = 4`}},
		{"more than the quota", "P9", facts{sql: `UPDATE passes SET quota = 1 WHERE take = 1`}},
		{"an order by no pass", "P9", facts{sql: `DELETE FROM passes WHERE take = 4`}},
		{"an order by another's pass", "P9", facts{sql: `UPDATE orders SET holder = 'X' WHERE account = 'D'`}},
		{"an attempt with two orders", "P13", facts{sql: `UPDATE orders SET account = 'D', attempt = 'try-D' WHERE account = 'C'`}},
		{"an end told twice", "P13", facts{sql: `INSERT INTO notices (kind, event_id, subject, version, body) SELECT kind, event_id, subject, 3, '{}' FROM notices WHERE kind = 'order.paid'`}},
		{"an end that was never told", "P13", facts{sql: `DELETE FROM notices WHERE kind = 'order.expired'`}},
		{"a deadline that nobody moved", "P13", facts{sql: `UPDATE orders SET pay_by = pay_by + interval '1 hour' WHERE account = 'D'`}},
		{"a deadline that moved back", "P13", facts{sql: `UPDATE orders SET pay_by = pay_by - interval '1 hour', extended_at = now() WHERE account = 'D'`}},
		{"an extension of more orders than have it", "P13", facts{sql: `INSERT INTO order_extensions (event_id, organiser, attempt, by, extend_by, orders) VALUES ('e', 'house', 'x', 'desk', '1 minute', 1)`}},
		{"late money kept", "P13", facts{sql: `DELETE FROM refund_operations`}},
		{"a notice with a delivery too few", "P12", facts{sql: `DELETE FROM deliveries WHERE status = 'dead'`}},
		{"a notice that says fewer than there were", "P12", facts{sql: `DELETE FROM deliveries WHERE status = 'dead'; UPDATE notices SET addressed = 0 WHERE kind = 'order.expired'`}},
		{"a notice that was skipped", "P12", facts{sql: `DELETE FROM deliveries WHERE status = 'dead'; UPDATE notices SET addressed = NULL, at = at - interval '2 minutes' WHERE kind = 'order.expired'`}},
		{"delivered, and nobody took it", "P12", facts{sql: `UPDATE delivery_attempts SET status = 302 WHERE status = 204`}},
		{"dead, and the receiver had taken it", "P12", facts{sql: `UPDATE delivery_attempts SET status = 200 WHERE status IS NULL`}},
		{"dead without a reason", "P12", facts{sql: `UPDATE deliveries SET reason = NULL`}},
		{"dead of a deletion that was none", "P12", facts{sql: `UPDATE deliveries SET reason = 'endpoint_deleted' WHERE status = 'dead'`}},
		{"waiting for ever", "P12", facts{sql: `UPDATE deliveries SET status = 'waiting', due_at = 'infinity' WHERE status = 'dead'`}},
		{"being sent by nobody", "P12", facts{sql: `UPDATE deliveries SET status = 'sending', courier = 'c', leased_until = now() WHERE status = 'dead'`}},
		{"an attempt that is not in the ledger", "P12", facts{sql: `DELETE FROM delivery_attempts WHERE go = 2 AND attempt_no = 1`}},
		{"two attempts at once", "P12", facts{sql: `UPDATE delivery_attempts SET finished_at = finished_at + interval '10 s' WHERE go = 2 AND attempt_no = 1`}},
		{"sent again after it was taken", "P12", facts{sql: `UPDATE delivery_attempts SET status = 200 WHERE status = 500`}},
		{"a number of two holders", "P7", facts{line: also(`{"event":"e","epoch":1,"holder":"F","index":2,"number":2,"state":"waiting"}`)}},
		{"a holder with two places", "P9", facts{line: also(`{"event":"e","epoch":1,"holder":"E","index":9,"number":9,"state":"waiting"}`)}},
		{"let in by a credit that no pass names", "P8", facts{line: also(`{"event":"e","epoch":1,"holder":"F","index":8,"number":8,"state":"passed","take":8,"taken_at":"2026-01-01T00:00:10.101Z"}` + "\n" +
			`{"event":"e","epoch":1,"holder":"G","index":9,"number":9,"state":"passed","take":9,"taken_at":"2026-01-01T00:00:10.102Z"}`)}},
		{"a pass by another credit", "P9", facts{line: strings.Replace(line, `"take":4`, `"take":7`, 1)}},
		{"a place that grew", "P7", facts{told: strings.Replace(told, `"number":0}`, `"number":7}`, 1)}},
		{"a place that moved back", "P7", facts{told: strings.Replace(told, `"ahead":2`, `"ahead":5`, 1)}},
		{"passed over at the door", "P7", facts{sql: `UPDATE passes SET taken_at = '2026-01-01 00:00:20' WHERE take = 1`, told: doorAt("00:00:04", "00:00:06", 0) + doorAt("00:00:06", "00:00:08", 0) + doorAt("00:00:09", "00:00:11", 0)}},
		{"a claim that is not so", "P2", facts{told: strings.Replace(told, `"S1","S0"`, `"S1","S5"`, 1)}},
		{"refused, and yet an order", "P2", facts{told: strings.Replace(told, `"try-0"`, `"try-D"`, 1)}},
		{"a pass that nobody wrote down", "P9", facts{told: strings.Replace(told, `"take":1`, `"take":9`, 1)}},
		{"one attempt, two answers", "P13", facts{told: told + `{"at":"2026-01-01T00:00:13Z","op":"claim","event":"e","holder":"A","attempt":"try-A","outcome":"already","order":"x","seats":[]}`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.line == "" {
				c.line = line
			}
			if c.told == "" {
				c.told = told
			}
			caught(t, run(t, c.facts), c.promise)
		})
	}
}

// drawnSale is the sale with its line drawn by lot: whoever has a number got it
// by the draw.
func drawnSale() facts {
	seed := draw.Seed{7}
	shuffle := draw.New(seed.Mix("v"), 5)
	index := map[int64]int64{}
	for i := range int64(5) {
		index[shuffle.Number(i)] = i
	}
	f := facts{
		fixed: fmt.Sprintf(`INSERT INTO draws (event_id, epoch, seed, lobby_opens_at, lobby_closes_at, beacon, value)
			VALUES ('e', 1, '\x%x', now() - interval '2 hours', now() - interval '1 hour', 'b', 'v')`, seed[:]),
		line: strings.Replace(line, `{"places":5}`, fmt.Sprintf(`{"places":5,"draw":{"epoch":1,"count":5,"seed":"%x","value":"v"}}`, seed[:]), 1),
		told: fmt.Sprintf(`{"at":"2026-01-01T00:00:00Z","op":"lobby","event":"e","holder":"A","epoch":1,"index":%d}
			{"at":"2026-01-01T00:00:00.5Z","op":"drawn","event":"e","holder":"A","epoch":1,"index":%d,"number":0}`, index[0], index[0]) + told,
	}
	for n, i := range index {
		f.line = strings.Replace(f.line, fmt.Sprintf(`"index":%d,"number":%d`, n, n), fmt.Sprintf(`"index":%d,"number":%d `, i, n), 1)
	}
	return f
}

func TestADrawIsJudged(t *testing.T) {
	if r := run(t, drawnSale()); r.Exit != audit.Clean {
		t.Fatalf("a right draw: exit %d, %s %+v", r.Exit, r.Fault, r.Checks)
	}
	for what, spoil := range map[string]func(*facts){
		"two numbers that changed places": func(f *facts) {
			f.line = strings.NewReplacer(`"number":3 `, `"number":4 `, `"number":4 `, `"number":3 `).Replace(f.line)
		},
		"another seed than was fixed":    func(f *facts) { f.line = strings.Replace(f.line, `"seed":"07`, `"seed":"08`, 1) },
		"another value than was written": func(f *facts) { f.line = strings.Replace(f.line, `"value":"v"`, `"value":"w"`, 1) },
		"another count":                  func(f *facts) { f.line = strings.Replace(f.line, `"count":5`, `"count":4`, 1) },
		"let in, and nothing drawn":      func(f *facts) { f.line = line },
		"drawn, and nothing fixed":       func(f *facts) { f.fixed = "" },
		"a number that was told otherwise": func(f *facts) {
			f.told = strings.Replace(f.told, `"op":"lobby","event":"e","holder":"A","epoch":1,"index":`, `"op":"lobby","event":"e","holder":"A","epoch":1,"index":9`, 1)
		},
	} {
		f := drawnSale()
		spoil(&f)
		if f == drawnSale() {
			t.Fatalf("%s: the fault was not applied", what)
		}
		if r := run(t, f); r.Exit != audit.Broken || !slices.ContainsFunc(r.Checks, func(c audit.Check) bool { return c.Promise == "P7" && c.Violations > 0 }) {
			t.Errorf("%s: exit %d %s, want 2 and P7 among what was found", what, r.Exit, r.Fault)
		}
	}
}

// also is the line with more places, counted.
func also(places string) string {
	n := 6 + strings.Count(places, "\n")
	return strings.Replace(line, `{"places":5}`, places+fmt.Sprintf("\n{\"places\":%d}", n), 1)
}

func doorAt(asked, told string, number int) string {
	return fmt.Sprintf("{\"asked\":\"2026-01-01T%sZ\",\"at\":\"2026-01-01T%sZ\",\"op\":\"door\",\"event\":\"e\",\"holder\":\"A\",\"epoch\":1,\"number\":%d}\n", asked, told, number)
}

func TestAnAuditThatCountsNothingFails(t *testing.T) {
	ctx := t.Context()
	db, err := pgx.Connect(ctx, pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(ctx)) //nolint:errcheck // a test's connection
	queries, err := schema.Audits()
	if err != nil {
		t.Fatal(err)
	}
	if r := audit.Run(ctx, audit.Sources{DB: db, Queries: queries, Event: "e"}); r.Exit != audit.Unusable {
		t.Errorf("no such event: exit %d, want %d", r.Exit, audit.Unusable)
	}
	if _, err := db.Exec(ctx, `INSERT INTO events (id, title, currency, opens_at, release_rate) VALUES ('e', 'E', 'EUR', $1, 10)`, time.Now()); err != nil {
		t.Fatal(err)
	}
	if r := audit.Run(ctx, audit.Sources{DB: db, Queries: queries, Event: "e"}); r.Exit != audit.Unusable || r.Fault != "" {
		t.Errorf("nothing sold: exit %d (%s), want %d and no fault", r.Exit, r.Fault, audit.Unusable)
	}
	for what, s := range map[string]audit.Sources{
		"an export that cannot be read":    {Line: strings.NewReader("{")},
		"an export that broke off":         {Line: strings.NewReader(strings.Replace(line, `{"places":5}`, "", 1))},
		"an export that lost a place":      {Line: strings.NewReader(strings.Replace(line, `{"places":5}`, `{"places":6}`, 1))},
		"another event's export":           {Line: strings.NewReader(strings.ReplaceAll(line, `"event":"e"`, `"event":"f"`))},
		"a witness log that tells nothing": {Witness: strings.NewReader("")},
		"another event's witness log":      {Witness: strings.NewReader(strings.ReplaceAll(told, `"event":"e"`, `"event":"f"`))},
	} {
		s.DB, s.Queries, s.Event = db, queries, "e"
		if r := audit.Run(ctx, s); r.Exit != audit.Unusable || r.Fault == "" {
			t.Errorf("%s: exit %d (%s), want %d and why", what, r.Exit, r.Fault, audit.Unusable)
		}
	}
}
