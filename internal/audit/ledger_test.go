package audit_test

import (
	"strings"
	"testing"

	"waitroom/internal/audit"
)

// Each way in which the provider's ledger has another payment than our rows, or a
// refund on its way that nobody was told of, is found; what a person has is theirs.
func TestTheLedgerIsHeldAgainstOurRows(t *testing.T) {
	const refund = "re_9"
	first := func(old, with string) func(*provider) {
		return func(p *provider) {
			if !strings.Contains(p.payments[0], old) {
				t.Fatalf("%s is not in %s", old, p.payments[0])
			}
			p.payments[0] = strings.Replace(p.payments[0], old, with, 1)
		}
	}
	goes := func(status string) func(*provider) {
		return func(p *provider) {
			p.refunds = append(p.refunds, strings.Replace(theirRefund(refund, "pi_a", 2000, ""), "succeeded", status, 1))
		}
	}
	const told = `INSERT INTO human_list (kind, subject, order_id, payment_id) SELECT 'refund_by_hand', 're_9', order_id, id FROM payments WHERE provider_payment_id = 'pi_a'`
	const open = `INSERT INTO payments (id, order_id, provider, provider_payment_id, status, amount_minor, currency)
		SELECT '10000000-0000-0000-0000-0000000000b9', id, 'p', 'pi_u', 'open', 1000, 'EUR' FROM orders WHERE account = 'C';`
	const asked = `INSERT INTO human_list (kind, subject, order_id, payment_id) SELECT 'payment_unknown', id::text, order_id, id FROM payments WHERE provider_payment_id = 'pi_u'`
	taken := func(p *provider) { p.payments = append(p.payments, theirPayment("pi_u", 1000)) }
	for _, c := range []struct {
		name, sql string
		spoil     func(*provider)
		want      int
	}{
		{"captured in another currency than we count", "", first("eur", "usd"), audit.Broken},
		{"captured in a currency without cents", "", first("eur", "jpy"), audit.Broken},
		{"another event's there", "", first(`"event":"e"`, `"event":"another"`), audit.Broken},
		{"another order's there", "", first(`"event":"e"`, `"event":"e","order":"10000000-0000-0000-0000-00000000ffff"`), audit.Broken},
		{"another payment's there", "", first(`"event":"e"`, `"event":"e","payment":"10000000-0000-0000-0000-00000000ffff"`), audit.Broken},
		{"a refund on its way, and nobody was told", "", goes("pending"), audit.Broken},
		{"a refund that waits for the buyer, and nobody was told", "", goes("requires_action"), audit.Broken},
		{"captured, and nobody could say, and nobody was asked", open, taken, audit.Broken},
		{"captured, and nobody could say, and a person has it", open + asked, taken, audit.Clean},
		{"captured, and nobody could say, and a program took it off the list", open + asked + `; UPDATE human_list SET resolved_at = now() WHERE kind = 'payment_unknown'`, taken, audit.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := knows()
			c.spoil(&p)
			judged(t, settled(t, c.sql, p.ledger(), p.log()), c.want)
		})
	}
	t.Run("a refund on its way is with whom it was told to", func(t *testing.T) {
		p := knows()
		goes("pending")(&p)
		r := settled(t, told, p.ledger(), p.log())
		for _, k := range r.Checks {
			if k.Name == "what went back, by the provider's ledger" && k.Violations > 0 {
				t.Errorf("%+v", k)
			}
		}
	})
}

// The outlet asks after a refund that we know; that the provider's ledger has lost it
// makes the look no other's. One after a refund that nobody has is not the outlet's.
func TestALookAtALostRefundIsTheOutlets(t *testing.T) {
	looks := func(p provider) int64 {
		r := settled(t, `UPDATE refund_calls SET verb = 'retrieve' WHERE verb = 'list' AND operation LIKE '%0000a2'`, p.ledger(), p.log())
		for _, k := range r.Checks {
			if k.Name == "our looks are the provider's" {
				return int64(k.Violations)
			}
		}
		t.Fatal("the looks were not judged")
		return 0
	}
	p := knows()
	p.refunds = nil
	p.requests[2] = `"method":"GET","path":"/v1/refunds/re_1"`
	if n := looks(p); n != 0 {
		t.Errorf("%d violations of a look at a refund of ours that the provider lost", n)
	}
	p.requests[2] = `"method":"GET","path":"/v1/refunds/re_nobodys"`
	if n := looks(p); n == 0 {
		t.Error("a look at a refund that nobody has is taken for the outlet's")
	}
}
