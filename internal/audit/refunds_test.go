package audit_test

import (
	"strings"
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
	if r.Exit != audit.Clean || r.Checked["P5"] == 0 || r.Checked["P11"] == 0 {
		var b strings.Builder
		r.Fprint(&b)
		t.Fatalf("exit %d, want 0, with P5 and P11 judged\n%s", r.Exit, b.String())
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
			r := run(t, facts{fixed: wentBack, sql: unwatched + c.sql, line: line, told: told})
			for _, k := range r.Checks {
				if k.Promise == c.promise && k.Violations > 0 && r.Exit == audit.Broken {
					return
				}
			}
			var b strings.Builder
			r.Fprint(&b)
			t.Errorf("exit %d (%s); %s is not among what was found:\n%s", r.Exit, r.Fault, c.promise, b.String())
		})
	}
}
