package audit_test

import (
	"testing"

	"waitroom/internal/audit"
)

// wentBack is the sale with its late money given back: sent, cut, looked up,
// found.
const wentBack = `
DELETE FROM refund_operations;
INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request)
  SELECT id, order_id, payment_id, 'late', 1000, 'EUR', convert_to('amount=1000&metadata%5Boperation%5D=' || replace(id, ':', '%3A') || '&payment_intent=pi_b', 'UTF8')
  FROM (SELECT 'refund:' || order_id || ':' || id AS id, order_id, id AS payment_id FROM payments WHERE provider_payment_id = 'pi_b') o;
UPDATE outlet_quota SET epoch = 1;
INSERT INTO refund_calls (epoch, operation, kind, verb) SELECT 1, id, 'first', 'create' FROM refund_operations;
UPDATE refund_operations SET status = 'submitted', sends = 1, first_sent_at = now(), call = 1;
UPDATE refund_calls SET outcome = 'cut_off', finished_at = clock_timestamp(), started_at = now(), started_ns = 1000000000, in_flight = 1, wrote = 1;
UPDATE refund_operations SET status = 'unknown', doubt = true, call = NULL;
INSERT INTO refund_calls (epoch, operation, kind, verb) SELECT 1, id, 'look', 'list' FROM refund_operations;
UPDATE refund_calls SET outcome = 'succeeded', finished_at = clock_timestamp(), started_at = now() + interval '5 s', started_ns = 6000000000, in_flight = 1, wrote = 1 WHERE verb = 'list';
UPDATE refund_operations SET status = 'confirmed', looks = 1, provider_refund_id = 're_1', ended_at = clock_timestamp();
UPDATE payments SET refunded_minor = 1000, refund_pending_minor = 0, told_refunded_minor = 1000 WHERE provider_payment_id = 'pi_b';
INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
  SELECT 'p', 're_1', payment_id, id, 1000, 'EUR', 'succeeded' FROM refund_operations;
`

// unwatched takes the triggers of refunds away too.
const unwatched = `ALTER TABLE refund_calls DISABLE TRIGGER USER; ALTER TABLE refund_operations DISABLE TRIGGER USER; `

// Money that went back is clean, and each way to lose it, or to send it twice,
// is found in our own rows alone.
func TestMoneyThatWentBackIsJudged(t *testing.T) {
	r := run(t, facts{fixed: wentBack, line: line, told: told})
	judged(t, r, audit.Clean)
	if r.Checked["P5"] == 0 || r.Checked["P11"] == 0 {
		t.Errorf("counted %d for P5 and %d for P11", r.Checked["P5"], r.Checked["P11"])
	}
	const late = `WHERE provider_payment_id = 'pi_b'`
	for _, c := range []struct{ name, promise, sql string }{
		{"money that nobody owes back", "P5", `DELETE FROM refund_operations`},
		{"money that is back twice", "P5", `UPDATE payments SET refunded_minor = 2000 ` + late},
		{"money that is back, and not counted", "P5", `UPDATE payments SET refunded_minor = 0 ` + late},
		{"money that is still reserved", "P5", `UPDATE payments SET refund_pending_minor = 1000 ` + late},
		{"an operation that was forgotten", "P5", `UPDATE refund_operations SET status = 'queued', ended_at = NULL, give_up_at = now() - interval '1 hour'; UPDATE payments SET refunded_minor = 0, refund_pending_minor = 1000 ` + late},
		{"a refund that failed, and nobody knows", "P5", `UPDATE refund_operations SET status = 'failed_later'; UPDATE payments SET refunded_minor = 0 ` + late},
		{"a refund that failed, and a program took it off the list", "P5", `INSERT INTO human_list (kind, subject, operation) SELECT 'refund_failed', id, id FROM refund_operations; UPDATE human_list SET resolved_at = now(); UPDATE refund_operations SET status = 'failed_later'; UPDATE payments SET refunded_minor = 0 ` + late},
		{"the provider gave more back than we know", "P5", `UPDATE payments SET told_refunded_minor = 1001 ` + late},
		{"a paid order's money on another order", "P5", `UPDATE payments SET stands = 'on_order' ` + late},
		{"a refund by hand, and nobody knows", "P5", `INSERT INTO provider_refunds SELECT 'p', 're_2', id, NULL, 2000, 'EUR', 'succeeded' FROM payments WHERE provider_payment_id = 'pi_a'`},
		{"two starts at once", "P11", `UPDATE refund_calls SET started_ns = 1199999999 WHERE verb = 'list'`},
		{"eleven under way", "P11", `UPDATE refund_calls SET in_flight = 11 WHERE verb = 'list'`},
		{"one call, two sends", "P11", `UPDATE refund_calls SET wrote = 2 WHERE verb = 'create'`},
		{"a new outlet that did not wait", "P11", `UPDATE refund_calls SET epoch = 2, started_ns = 0, started_at = (SELECT min(started_at) + interval '0.1 s' FROM refund_calls) WHERE verb = 'list'`},
		{"a send that is in no log", "P11", `DELETE FROM refund_calls WHERE verb = 'create'`},
		{"a send after its end", "P11", `UPDATE refund_calls SET submitted_at = now() + interval '1 hour' WHERE verb = 'create'`},
		{"two refunds of one operation", "P11", `INSERT INTO provider_refunds SELECT 'p', 're_2', payment_id, id, 1000, 'EUR', 'succeeded' FROM refund_operations`},
		{"a request under another key", "P11", `UPDATE refund_operations SET request = 'amount=1000'`},
		{"another operation after no definite no", "P11", `INSERT INTO refund_operations (id, order_id, payment_id, parent, reason, amount_minor, currency, request, status) SELECT id || '#2', order_id, payment_id, id, reason, 1, currency, request, 'manual' FROM refund_operations`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caught(t, run(t, facts{fixed: wentBack, sql: unwatched + c.sql, line: line, told: told}), c.promise)
		})
	}
}

// lineBack is the sale with one of A's two lines refunded, and its seat back.
const lineBack = `
INSERT INTO refund_operations (id, order_id, payment_id, seat_id, reason, amount_minor, currency, request)
  SELECT 'refund:' || l.order_id || ':' || l.seat_id, l.order_id, o.payment_id, l.seat_id, 'requested', 1000, 'EUR', 'x'
  FROM order_lines l JOIN orders o ON o.id = l.order_id JOIN seats s ON s.id = l.seat_id WHERE s.pos = 0;
UPDATE refund_operations SET status = 'confirmed', provider_refund_id = 're_l', ended_at = clock_timestamp() WHERE seat_id IS NOT NULL;
INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
  SELECT 'p', 're_l', payment_id, id, 1000, 'EUR', 'succeeded' FROM refund_operations WHERE seat_id IS NOT NULL;
UPDATE payments SET refunded_minor = 1000 WHERE provider_payment_id = 'pi_a';
UPDATE order_lines l SET given_back_by = f.id FROM refund_operations f WHERE f.seat_id = l.seat_id AND f.order_id = l.order_id;
UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE pos = 0;
UPDATE orders SET given_back = 1, version = 3 WHERE account = 'A';
UPDATE buyers SET held = 1 WHERE account = 'A';
INSERT INTO seat_returns SELECT seat_id, 'refunded:' || id, 'e', order_id FROM refund_operations WHERE seat_id IS NOT NULL;
`

// A line that was refunded and gave its seat back is clean; a seat that went back
// twice, or for nothing, or not at all, is found.
func TestALineThatGaveItsSeatBackIsJudged(t *testing.T) {
	judged(t, run(t, facts{fixed: lineBack, line: line, told: told}), audit.Clean)
	order := func(account string) string { return `(SELECT id FROM orders WHERE account = '` + account + `')` }
	const lines = `DROP INDEX seat_returns_one_refund; ALTER TABLE order_lines DISABLE TRIGGER USER; ` + unwatched
	for _, c := range []struct{ name, promise, sql string }{
		{"a seat given back twice", "P6", `INSERT INTO seat_returns SELECT seat_id, cause || '#2', event_id, order_id FROM seat_returns WHERE cause LIKE 'refunded:%'`},
		{"a seat given back twice, by the same name", "P6", `INSERT INTO seat_returns SELECT seat_id, cause, event_id, order_id FROM seat_returns WHERE cause LIKE 'refunded:%'`},
		{"a seat that left the order twice", "P6", `UPDATE seats SET order_id = ` + order("A") + ` WHERE pos = 0; UPDATE seats SET order_id = NULL WHERE pos = 0`},
		{"a seat given back without a confirmed refund", "P6", `UPDATE refund_operations SET status = 'rejected' WHERE seat_id IS NOT NULL`},
		{"a seat given back by a refund that only failed", "P6", `UPDATE refund_operations SET status = 'failed_later' WHERE seat_id IS NOT NULL; ALTER TABLE refund_changes DISABLE TRIGGER USER; DELETE FROM refund_changes WHERE to_status = 'confirmed'`},
		{"a seat given back by no refund at all", "P6", `UPDATE seats SET order_id = NULL WHERE pos = 1; UPDATE buyers SET held = 0 WHERE account = 'A'; UPDATE orders SET given_back = 2 WHERE account = 'A';
			INSERT INTO seat_returns SELECT id, 'refunded:nothing', 'e', ` + order("A") + ` FROM seats WHERE pos = 1; UPDATE order_lines SET given_back_by = 'nothing' FROM seats s WHERE s.id = seat_id AND pos = 1`},
		{"a seat that is free, and nobody gave it back", "P3", `UPDATE seats SET order_id = NULL WHERE pos = 1`},
		{"a confirmed refund whose seat was not given back", "P6", `DELETE FROM seat_returns WHERE cause LIKE 'refunded:%'; UPDATE seats SET order_id = ` + order("A") + ` WHERE pos = 0;
			UPDATE buyers SET held = 2 WHERE account = 'A'; UPDATE orders SET given_back = 0 WHERE account = 'A'; UPDATE order_lines SET given_back_by = NULL WHERE given_back_by IS NOT NULL`},
		{"a line given back whose seat the order keeps", "P3", `UPDATE seats SET order_id = ` + order("A") + ` WHERE pos = 0`},
		{"more lines back than the order says", "P3", `UPDATE orders SET given_back = 0 WHERE account = 'A'`},
		{"an account that still pays for it with its limit", "P6", `UPDATE buyers SET held = 2 WHERE account = 'A'`},
		{"a seat sold again that was not given back", "P1", `UPDATE order_lines SET given_back_by = NULL WHERE given_back_by IS NOT NULL; INSERT INTO order_lines SELECT ` + order("D") + `, id, 0 FROM seats WHERE pos = 0`},
		{"a refund that failed afterwards, and no person has it", "P5", `UPDATE refund_operations SET status = 'failed_later' WHERE seat_id IS NOT NULL; UPDATE payments SET refunded_minor = 0 WHERE provider_payment_id = 'pi_a'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caught(t, run(t, facts{fixed: lineBack, sql: lines + c.sql, line: line, told: told}), c.promise)
		})
	}
}

// handBack is the sale with A's payment refunded by hand, and both seats given back by
// a person's word.
const handBack = `
INSERT INTO provider_refunds (provider, id, payment_id, amount_minor, currency, status)
  SELECT 'p', 're_h', id, 2000, 'EUR', 'succeeded' FROM payments WHERE provider_payment_id = 'pi_a';
INSERT INTO human_list (kind, subject, order_id, payment_id, detail) SELECT 'refund_by_hand', 're_h', order_id, id, 'by hand' FROM payments WHERE provider_payment_id = 'pi_a';
SELECT set_config('waitroom.by', 'mia', false);
INSERT INTO human_notes (item, by, did, note) SELECT id, 'mia', 'decided', 'seats given back' FROM human_list WHERE subject = 're_h';
INSERT INTO seats_back_by_hand (id, order_id, seat_id, payment_id, item, by, why)
  SELECT 'by_hand:' || l.order_id || ':' || l.seat_id, l.order_id, l.seat_id, h.payment_id, h.id, 'mia', 'told'
  FROM human_list h JOIN order_lines l ON l.order_id = h.order_id WHERE h.subject = 're_h';
UPDATE order_lines l SET given_back_by = h.id FROM seats_back_by_hand h WHERE h.order_id = l.order_id AND h.seat_id = l.seat_id;
UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE pos IN (0, 1);
UPDATE orders SET given_back = 2, version = 3 WHERE account = 'A';
UPDATE buyers SET held = 0 WHERE account = 'A';
INSERT INTO seat_returns SELECT seat_id, 'refunded:' || id, 'e', order_id FROM seats_back_by_hand;
UPDATE human_list SET resolved_at = now() WHERE subject = 're_h';
`

// An order whose payment went back by hand, and whose seats a person gave back, is
// clean, also once the refund by hand has failed; seats that went back so for money
// that is not told to be back, by nobody's word, or twice, are found.
func TestSeatsThatWentBackByHandAreJudged(t *testing.T) {
	const guards = `DROP INDEX seat_returns_one_refund; ALTER TABLE order_lines DISABLE TRIGGER USER; ALTER TABLE seats_back_by_hand DISABLE TRIGGER USER;
		ALTER TABLE human_notes DISABLE TRIGGER USER; ALTER TABLE seat_returns DISABLE TRIGGER USER; ` + unwatched
	const failed = `UPDATE provider_refunds SET status = 'failed' WHERE id = 're_h'; UPDATE human_list SET resolved_at = NULL WHERE subject = 're_h'`
	for _, sql := range []string{"", guards + failed} { // as it was said, and once it failed
		judged(t, run(t, facts{fixed: handBack, sql: sql, line: line, told: told}), audit.Clean)
	}
	for _, c := range []struct{ name, promise, sql string }{
		{"the provider told of less", "P6", `UPDATE provider_refunds SET amount_minor = 1999 WHERE id = 're_h'`},
		{"the provider told of one on its way", "P6", `UPDATE provider_refunds SET status = 'pending' WHERE id = 're_h'`},
		{"the provider told nothing", "P6", `DELETE FROM provider_refunds WHERE id = 're_h'`},
		{"nobody said so", "P6", `DELETE FROM human_notes WHERE did = 'decided'`},
		{"by another payment's money", "P6", `UPDATE seats_back_by_hand SET payment_id = (SELECT id FROM payments WHERE provider_payment_id = 'pi_b')`},
		{"one seat twice", "P6", `INSERT INTO seat_returns SELECT seat_id, cause, event_id, order_id FROM seat_returns WHERE cause LIKE 'refunded:by_hand:%' LIMIT 1`},
		{"a line that no row stands for", "P6", `DELETE FROM seats_back_by_hand WHERE seat_id = (SELECT id FROM seats WHERE pos = 0)`},
		{"a row whose line says another cause", "P6", `UPDATE order_lines SET given_back_by = 'refund:x' WHERE seat_id = (SELECT id FROM seats WHERE pos = 0)`},
		{"a row whose seat never went back", "P6", `DELETE FROM seat_returns WHERE cause LIKE 'refunded:by_hand:%' AND seat_id = (SELECT id FROM seats WHERE pos = 0)`},
		{"a seat that the order keeps", "P3", `UPDATE seats SET order_id = (SELECT id FROM orders WHERE account = 'A') WHERE pos = 0`},
		{"an account that still pays for them with its limit", "P6", `UPDATE buyers SET held = 2 WHERE account = 'A'`},
		{"a code that opens the door as before", "P3", `ALTER TABLE code_revocations DISABLE TRIGGER USER; DELETE FROM code_revocations`},
		{"money that went back, and a program took it off the list", "P5", `UPDATE human_notes SET by = '(x)' WHERE did = 'resolved'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caught(t, run(t, facts{fixed: handBack, sql: guards + c.sql, line: line, told: told}), c.promise)
		})
	}
}
