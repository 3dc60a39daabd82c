package audit_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/audit"
	"waitroom/internal/pgtest"
	schema "waitroom/sql"
)

// twice is the operation that gives A's second payment back: sent once, its
// answer was lost, and a look found the refund.
const twice = "refund:00000000-0000-0000-0000-00000000000a:10000000-0000-0000-0000-0000000000a2"

// money is what the sale took in beside what paid A's order: B's came late and
// is still to go back, A's second went back, C paid another amount than was
// asked, and the provider has a payment whose order is not known.
const money = `
INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, refunded_minor, stands, captured_at)
  SELECT '10000000-0000-0000-0000-0000000000a2', id, 'p', 'pi_a2', 'captured', 2000, 'EUR', 2000, 2000, 'to_refund', now() FROM orders WHERE account = 'A';
INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request, status, sends, looks, first_sent_at, provider_refund_id, ended_at)
  SELECT 'refund:' || order_id || ':' || id, order_id, id, 'second_payment', 2000, 'EUR',
    convert_to('amount=2000&metadata%5Boperation%5D=refund%3A' || order_id || '%3A' || id || '&payment_intent=pi_a2', 'UTF8'),
    'confirmed', 1, 1, now(), 're_1', now() FROM payments WHERE provider_payment_id = 'pi_a2';
INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
  SELECT 'p', 're_1', payment_id, id, 2000, 'EUR', 'succeeded' FROM refund_operations WHERE status = 'confirmed';
INSERT INTO refund_calls (epoch, operation, kind, verb, submitted_at, started_at, started_ns, in_flight, wrote, outcome, finished_at)
  SELECT 8, f.id, c.kind, c.verb, now() - ago, now() - ago, ns, 1, 1, c.outcome, now() - ago FROM refund_operations f,
    (VALUES ('first', 'create', 0, 'timed_out', interval '9 s'), ('look', 'list', 5000000000, 'succeeded', interval '4 s')) c(kind, verb, ns, outcome, ago)
  WHERE f.status = 'confirmed';
INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, stands, captured_at)
  SELECT '10000000-0000-0000-0000-00000000000c', id, 'p', 'pi_c', 'captured', 1000, 'EUR', 900, 'human', now() FROM orders WHERE account = 'C';
INSERT INTO human_list (kind, subject, order_id, payment_id) SELECT 'wrong_amount', 'pi_c', order_id, id FROM payments WHERE provider_payment_id = 'pi_c';
INSERT INTO human_list (kind, subject) VALUES ('unknown_order', 'pi_x');
`

// elsewhere is another event's refund, at a provider that is not there any more.
const elsewhere = `
INSERT INTO events (id, title, currency, opens_at) VALUES ('f', 'F', 'EUR', '2026-01-01');
INSERT INTO buyers VALUES ('f', 'A', 0, 4);
INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by, status, ended_at)
  VALUES ('00000000-0000-0000-0000-0000000000f0', 'f', 'A', 'A', 1, 0, 1, 'try-A', sha256('A'), 1, 1000, 'EUR', now(), 'expired', now());
INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency, captured_minor, refunded_minor, stands, captured_at)
  VALUES ('10000000-0000-0000-0000-0000000000f0', '00000000-0000-0000-0000-0000000000f0', 'p', 'pi_f0', 'captured', 1000, 'EUR', 1000, 1000, 'to_refund', now());
INSERT INTO refund_operations (id, order_id, payment_id, reason, amount_minor, currency, request, status, sends, looks, first_sent_at, provider_refund_id, ended_at)
  SELECT 'refund:' || order_id || ':' || id, order_id, id, 'late', 1000, 'EUR', 'x', 'confirmed', 1, 1, now(), 're_f0', now()
  FROM payments WHERE provider_payment_id = 'pi_f0';
INSERT INTO refund_calls (epoch, operation, kind, verb, submitted_at, started_at, started_ns, in_flight, wrote, outcome, finished_at)
  SELECT 7, f.id, c.kind, c.verb, now() - ago, now() - ago, ns, 1, 1, 'succeeded', now() - ago FROM refund_operations f,
    (VALUES ('first', 'create', 0, interval '2 hours'), ('look', 'list', 3600000000000, interval '1 hour')) c(kind, verb, ns, ago)
  WHERE f.provider_refund_id = 're_f0';
`

func theirPayment(id string, captured int) string {
	return fmt.Sprintf(`{"id":%q,"status":"succeeded","captured":%d,"currency":"eur","metadata":{"event":"e"}}`, id, captured)
}

func theirRefund(id, payment string, amount int, operation string) string {
	return fmt.Sprintf(`{"id":%q,"payment_intent":%q,"status":"succeeded","amount":%d,"currency":"eur","idempotency_key":%[4]q,"metadata":{"operation":%[4]q}}`,
		id, payment, amount, operation)
}

// provider is what it knows of that sale.
type provider struct{ payments, refunds, requests []string }

func knows() provider {
	return provider{
		payments: []string{
			theirPayment("pi_a", 2000), theirPayment("pi_a2", 2000), theirPayment("pi_b", 1000), theirPayment("pi_c", 900), theirPayment("pi_x", 700),
			`{"id":"pi_o","status":"canceled","captured":0,"currency":"eur","metadata":{"event":"e"}}`,
			`{"id":"pi_f","status":"succeeded","captured":5000,"currency":"eur","metadata":{"event":"another"}}`,
		},
		refunds: []string{theirRefund("re_1", "pi_a2", 2000, twice)},
		requests: []string{
			`"method":"POST","path":"/v1/payment_intents","idempotency_key":"pay:1"`,
			fmt.Sprintf(`"method":"POST","path":"/v1/refunds","operation":%[1]q,"idempotency_key":%[1]q`, twice),
			`"method":"GET","path":"/v1/refunds","query":"limit=100&payment_intent=pi_a2"`,
		},
	}
}

func (p provider) ledger() string {
	return fmt.Sprintf(`{"payment_intents":[%s],"refunds":[%s]}`, strings.Join(p.payments, ","), strings.Join(p.refunds, ","))
}

func (p provider) log() string {
	var b strings.Builder
	for i, r := range p.requests {
		fmt.Fprintf(&b, "{\"seq\":%d,%s}\n", i+1, r)
	}
	return b.String()
}

// settled audits that sale, with sql done while the database's guards are away.
func settled(t *testing.T, sql, ledger, log string) audit.Report {
	t.Helper()
	ctx := t.Context()
	db, err := pgx.Connect(ctx, pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(ctx)) //nolint:errcheck // a test's connection
	if _, err := db.Exec(ctx, sale+money+elsewhere); err != nil {
		t.Fatalf("the sale: %v", err)
	}
	if sql != "" {
		if _, err := db.Exec(ctx, free+`ALTER TABLE refund_calls DISABLE TRIGGER USER; ALTER TABLE refund_operations DISABLE TRIGGER USER;`); err != nil {
			t.Fatalf("taking the guards away: %v", err)
		}
		if tag, err := db.Exec(ctx, sql); err != nil || tag.RowsAffected() == 0 {
			t.Fatalf("%s: %v, %s: the fault was not applied", sql, err, tag)
		}
	}
	queries, err := schema.Audits()
	if err != nil {
		t.Fatal(err)
	}
	var requests io.Reader
	if log != "" {
		requests = strings.NewReader(log)
	}
	return audit.Run(ctx, audit.Sources{
		DB: db, Queries: queries, Event: "e", Line: strings.NewReader(line), Witness: strings.NewReader(told),
		Ledger: strings.NewReader(ledger), Requests: requests,
	})
}

func TestEveryCentIsFound(t *testing.T) {
	r := settled(t, "", knows().ledger(), knows().log())
	judged(t, r, audit.Clean)
	if r.Checked["P5"] == 0 || r.Checked["P11"] == 0 {
		t.Errorf("counted %d for P5 and %d for P11", r.Checked["P5"], r.Checked["P11"])
	}
	want := audit.Money{Currency: "EUR", Captured: 6600, OnOrders: 2000, Refunded: 2000, OnItsWay: 1000, WithPeople: 1600}
	if len(r.Money) != 1 || *r.Money[0] != want {
		t.Errorf("the money is %v, want %v", r.Money, want)
	}
	if len(r.Missing) != 0 {
		t.Errorf("not judged: %v", r.Missing)
	}
}

// A refund by hand of which the provider told the sum alone is counted, once that sum
// is a person's or its minutes are not over; what the sum does not tell of, is not.
func TestASumToldAloneIsCounted(t *testing.T) {
	const told = `UPDATE payments SET told_refunded_minor = 700, told_at = now() - interval '1 hour' WHERE provider_payment_id = 'pi_a'; `
	const listed = `INSERT INTO human_list (kind, subject, order_id, payment_id, detail) SELECT 'refund_by_hand', provider_payment_id, order_id, id, 'told a sum' FROM payments WHERE provider_payment_id = 'pi_a'; `
	for _, c := range []struct {
		name, sql string
		refunds   []string
		clean     bool
	}{
		{"a person has the sum", told + listed, []string{theirRefund("re_h", "pi_a", 700, "")}, true},
		{"a person has the sum of two", told + listed, []string{theirRefund("re_h", "pi_a", 400, ""), theirRefund("re_i", "pi_a", 300, "")}, true},
		{"a person took it off the list", told + listed + `SELECT set_config('waitroom.by', 'kim', false); UPDATE human_list SET resolved_at = now() WHERE kind = 'refund_by_hand'`, []string{theirRefund("re_h", "pi_a", 700, "")}, true},
		{"its minutes are not over", told + `UPDATE payments SET told_at = now() WHERE provider_payment_id = 'pi_a'`, []string{theirRefund("re_h", "pi_a", 700, "")}, true},
		{"a sum that nobody has", told, []string{theirRefund("re_h", "pi_a", 700, "")}, false},
		{"a program took it off the list", told + listed + `UPDATE human_list SET resolved_at = now() WHERE kind = 'refund_by_hand'`, []string{theirRefund("re_h", "pi_a", 700, "")}, false},
		{"one more went back than the sum tells of", told + listed, []string{theirRefund("re_h", "pi_a", 700, ""), theirRefund("re_i", "pi_a", 1, "")}, false},
		{
			"the sum is of one that was told by name", told + listed + `INSERT INTO human_list (kind, subject, payment_id, detail) SELECT 'refund_by_hand', 're_h', id, 'told by name' FROM payments WHERE provider_payment_id = 'pi_a'`,
			[]string{theirRefund("re_h", "pi_a", 700, ""), theirRefund("re_i", "pi_a", 300, "")},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := knows()
			p.refunds = append(p.refunds, c.refunds...)
			r := settled(t, c.sql, p.ledger(), p.log())
			found := slices.ContainsFunc(r.Checks, func(k audit.Check) bool {
				return k.Name == "what went back, by the provider's ledger" && k.Violations > 0
			})
			if found == c.clean || c.clean && r.Exit != audit.Clean {
				t.Errorf("exit %d; clean: want %t\n%s", r.Exit, c.clean, printed(r))
			}
		})
	}
}

// Without the provider's word, the audit says that it had only ours.
func TestTheProvidersWordIsMissed(t *testing.T) {
	r := settled(t, "", knows().ledger(), "")
	if r.Exit != audit.Clean || len(r.Missing) != 1 || !strings.Contains(r.Missing[0], "the provider's") {
		t.Errorf("exit %d, not judged: %v; want %d and the provider's ledger and requests", r.Exit, r.Missing, audit.Clean)
	}
}

// Each case spoils one thing, in our rows or in what the provider knows, and
// wants the check that is to find it.
func TestEachCentThatIsLostIsFound(t *testing.T) {
	const (
		cent, back, one  = "every captured cent, by the provider's ledger", "what went back, by the provider's ledger", "one refund, by the provider's ledger"
		key, sent, looks = "an operation's own key, by the provider's log", "our sends are the provider's", "our looks are the provider's"
		place, counters  = "captured money stands in one place", "counters are what the operations say"
		distance, rows   = "calls keep their distance", "one key one refund"
	)
	send := knows().requests[1]
	late := `(SELECT f.id FROM refund_operations f JOIN orders o ON o.id = f.order_id WHERE f.reason = 'late' AND o.event_id = 'e')`
	op := func(set string) string {
		return `UPDATE refund_operations SET ` + set + ` WHERE reason = 'second_payment'`
	}
	for _, c := range []struct {
		name, check, sql string
		spoil            func(*provider)
	}{
		{"captured, and nobody knows", cent, "", func(p *provider) { p.payments = append(p.payments, theirPayment("pi_y", 500)) }},
		{"captured other than we count", cent, "", func(p *provider) { p.payments[0] = theirPayment("pi_a", 1999) }},
		{"counted, and never captured", cent, "", func(p *provider) { p.payments = p.payments[1:] }},
		{"with a person who was never told", cent, `DELETE FROM human_list WHERE kind = 'wrong_amount'`, nil},
		{"of an order that nobody looks for", cent, `DELETE FROM human_list WHERE kind = 'unknown_order'`, nil},
		{"still owed after its promise", cent, `UPDATE refund_operations SET give_up_at = now() - interval '1 hour' WHERE status = 'queued'`, nil},
		{"late money that nobody owes", cent, `DELETE FROM refund_operations WHERE status = 'queued'`, nil},
		{"on an order that is not paid", cent, `UPDATE orders SET status = 'expired' WHERE account = 'A'`, nil},
		{"more went back than came", cent, "", func(p *provider) { p.refunds = append(p.refunds, theirRefund("re_2", "pi_b", 1001, "")) }},
		{"gone back, and we do not count it", back, "", func(p *provider) { p.refunds = append(p.refunds, theirRefund("re_2", "pi_a", 500, "")) }},
		{"counted as gone back, and it did not", back, `UPDATE payments SET refunded_minor = 1000 WHERE provider_payment_id = 'pi_b'`, nil},
		{"confirmed, and it failed", one, "", func(p *provider) { p.refunds[0] = strings.Replace(p.refunds[0], "succeeded", "failed", 1) }},
		{"confirmed, and never made", one, "", func(p *provider) { p.refunds = nil }},
		{"rejected, and made", one, op(`status = 'rejected'`), nil},
		{"two refunds of one operation", one, "", func(p *provider) { p.refunds = append(p.refunds, theirRefund("re_2", "pi_a2", 2000, twice)) }},
		{"another key", one, "", func(p *provider) { p.refunds[0] = strings.Replace(p.refunds[0], `_key":"refund`, `_key":"retry`, 1) }},
		{"another amount", one, "", func(p *provider) { p.refunds[0] = theirRefund("re_1", "pi_a2", 1999, twice) }},
		{"sent under another key", key, "", func(p *provider) { p.requests[1] = strings.Replace(send, `_key":"refund`, `_key":"retry`, 1) }},
		{"sent past the outlet", sent, "", func(p *provider) { p.requests[1] = strings.ReplaceAll(send, "refund:", "refund:x") }},
		{"sent again behind our back", sent, "", func(p *provider) { p.requests = append(p.requests, send) }},
		{"sent, and it never arrived", sent, "", func(p *provider) { p.requests = slices.Delete(p.requests, 1, 2) }},
		{"sent, and not written down", sent, `DELETE FROM refund_calls WHERE verb = 'create'`, nil},
		{"looked up past the outlet", looks, "", func(p *provider) { p.requests = append(p.requests, p.requests[2]) }},
		{"looked up, and it never arrived", looks, "", func(p *provider) { p.requests = p.requests[:2] }},
		{"a refund looked at by name, past the outlet", looks, "", func(p *provider) {
			p.requests = append(p.requests, `"method":"GET","path":"/v1/refunds/re_1"`)
		}},
		{"a call that we have no word for", looks, "", func(p *provider) {
			p.requests = append(p.requests, `"method":"POST","path":"/v1/refunds/re_1/cancel"`)
		}},
		{"late money, and no operation", place, `DELETE FROM refund_operations WHERE status = 'queued'`, nil},
		{"the provider told of more than we gave", place, `UPDATE payments SET told_refunded_minor = 1 WHERE provider_payment_id = 'pi_a'`, nil},
		{"a counter that is off", counters, `UPDATE payments SET refunded_minor = 1999 WHERE provider_payment_id = 'pi_a2'`, nil},
		{"another currency goes back", counters, op(`currency = 'USD'`), nil},
		{"two starts at once", distance, `UPDATE refund_calls SET started_ns = 199999999 WHERE verb = 'list'`, nil},
		{"eleven in flight", distance, `UPDATE refund_calls SET in_flight = 11 WHERE verb = 'list'`, nil},
		{"the transport sent it twice", distance, `UPDATE refund_calls SET wrote = 2 WHERE verb = 'create'`, nil},
		{"two outlets", distance, `UPDATE refund_calls SET epoch = 2, started_at = (SELECT max(started_at) FROM refund_calls WHERE verb = 'create') + interval '100 ms' WHERE verb = 'list'`, nil},
		{"a send that its row does not count", rows, op(`sends = 2`), nil},
		{"sent after its end", rows, op(`ended_at = now() - interval '1 hour'`), nil},
		{"a request that names another operation", rows, op(`request = 'metadata%5Boperation%5D=another&'`), nil},
		{"sent more often than its budget", rows, op(`sends = 4`), nil},
		{"a second operation after no refusal", rows, op(`parent = ` + late), nil},
		{"two refunds that we know of", rows, `INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
			SELECT 'p', 're_2', payment_id, operation, amount_minor, currency, status FROM provider_refunds`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := knows()
			if c.spoil != nil {
				c.spoil(&p)
				if p.ledger()+p.log() == knows().ledger()+knows().log() {
					t.Fatal("the fault was not applied")
				}
			}
			r := settled(t, c.sql, p.ledger(), p.log())
			caughtBy(t, r, c.check)
		})
	}
}

// A word of the provider's that is not whole proves nothing.
func TestAProvidersWordThatBrokeOffProvesNothing(t *testing.T) {
	p := knows()
	for what, broke := range map[string][2]string{
		"a ledger that breaks off":            {p.ledger()[:len(p.ledger())/2], p.log()},
		"a log that breaks off":               {p.ledger(), p.log()[:len(p.log())-20]},
		"a log that forgot its beginning":     {p.ledger(), p.log()[strings.Index(p.log(), "\n")+1:]},
		"a log that lacks one in its middle":  {p.ledger(), strings.Replace(p.log(), `{"seq":2,`+p.requests[1]+"}\n", "", 1)},
		"a log of which one request is twice": {p.ledger(), strings.Replace(p.log(), `"seq":3`, `"seq":2`, 1)},
	} {
		if r := settled(t, "", broke[0], broke[1]); r.Exit != audit.Unusable || r.Fault == "" {
			t.Errorf("%s: exit %d (%s), want %d and why", what, r.Exit, r.Fault, audit.Unusable)
		}
	}
}
