package audit_test

import (
	"testing"

	"waitroom/internal/audit"
)

// What a person was told of, looked at and resolved by name is theirs for good, by
// the provider's ledger as by our rows; what a program took off the list is not.
func TestWhatAPersonResolvedIsClean(t *testing.T) {
	const byHand = `INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
		SELECT 'p', 're_h', id, NULL, 500, 'EUR', 'succeeded' FROM payments WHERE provider_payment_id = 'pi_a';
	  INSERT INTO human_list (kind, subject, order_id, payment_id) SELECT 'refund_by_hand', 're_h', order_id, id FROM payments WHERE provider_payment_id = 'pi_a';`
	const rejected = `UPDATE refund_operations f SET status = 'rejected', ended_at = now() FROM payments p WHERE p.id = f.payment_id AND p.provider_payment_id = 'pi_b';
	  UPDATE payments SET refund_pending_minor = 0 WHERE provider_payment_id = 'pi_b';
	  INSERT INTO human_list (kind, subject, operation, order_id, payment_id) SELECT 'refund_rejected', f.id, f.id, f.order_id, f.payment_id
	    FROM refund_operations f JOIN payments p ON p.id = f.payment_id WHERE p.provider_payment_id = 'pi_b';`
	const resolve = `UPDATE human_list SET resolved_at = now() WHERE kind IN ('refund_by_hand', 'refund_rejected')`
	hand := knows()
	hand.refunds = append(hand.refunds, theirRefund("re_h", "pi_a", 500, ""))
	for _, c := range []struct {
		what, sql string
		p         provider
	}{{"a refund by hand", byHand, hand}, {"a refund that was refused", rejected, knows()}} {
		t.Run(c.what+", open", func(t *testing.T) { judged(t, settled(t, c.sql, c.p.ledger(), c.p.log()), audit.Clean) })
		t.Run(c.what+", resolved by name", func(t *testing.T) {
			judged(t, settled(t, c.sql+`SELECT set_config('waitroom.by', 'kim', false); `+resolve, c.p.ledger(), c.p.log()), audit.Clean)
		})
		t.Run(c.what+", taken off by a program", func(t *testing.T) {
			judged(t, settled(t, c.sql+resolve, c.p.ledger(), c.p.log()), audit.Broken)
		})
	}
}

// One person's word on a payment excuses no other refund of it that nobody asked for.
func TestAResolvedItemExcusesNoOtherRefund(t *testing.T) {
	p := knows()
	p.refunds = append(p.refunds, theirRefund("re_h", "pi_a", 500, ""), theirRefund("re_other", "pi_a", 300, ""))
	judged(t, settled(t, `INSERT INTO provider_refunds (provider, id, payment_id, operation, amount_minor, currency, status)
		SELECT 'p', 're_h', id, NULL, 500, 'EUR', 'succeeded' FROM payments WHERE provider_payment_id = 'pi_a';
	  INSERT INTO human_list (kind, subject, order_id, payment_id) SELECT 'refund_by_hand', 're_h', order_id, id FROM payments WHERE provider_payment_id = 'pi_a';
	  SELECT set_config('waitroom.by', 'kim', false); UPDATE human_list SET resolved_at = now() WHERE subject = 're_h'`, p.ledger(), p.log()), audit.Broken)
}

// A person ended the first as not refunded and renewed it; the provider tells that
// the first went back after all, and the person ends the second as that refund.
// The money went back once, and the books say so. A second refund is found.
func TestWhatAPersonPutRightIsClean(t *testing.T) {
	const sql = `UPDATE refund_operations SET status = 'rejected', provider_refund_id = NULL WHERE reason = 'second_payment';
	  INSERT INTO refund_operations (id, parent, order_id, payment_id, reason, amount_minor, currency, request, status, provider_refund_id, ended_at)
	    SELECT id || '#2', id, order_id, payment_id, reason, amount_minor, currency, request, 'confirmed', 're_1', now() FROM refund_operations WHERE reason = 'second_payment'`
	judged(t, settled(t, sql, knows().ledger(), knows().log()), audit.Clean)
	twiceOver := knows()
	twiceOver.refunds = append(twiceOver.refunds, theirRefund("re_2", "pi_a2", 2000, twice+"#2"))
	judged(t, settled(t, sql, twiceOver.ledger(), twiceOver.log()), audit.Broken)
}

// A line's refund that was asked for and is stuck is found, though its money is on
// its order: the customer waits, and no person knows. With a person it is clean.
func TestALinesRefundThatIsStuckIsFound(t *testing.T) {
	const asked = `
INSERT INTO refund_operations (id, order_id, payment_id, seat_id, reason, amount_minor, currency, request)
  SELECT 'refund:' || l.order_id || ':' || l.seat_id, l.order_id, o.payment_id, l.seat_id, 'requested', 1000, 'EUR', 'x'
  FROM order_lines l JOIN orders o ON o.id = l.order_id JOIN seats s ON s.id = l.seat_id WHERE s.pos = 0;
UPDATE payments SET refund_pending_minor = 1000 WHERE provider_payment_id = 'pi_a';
`
	const listed = `; INSERT INTO human_list (kind, subject, operation) SELECT 'refund_manual', id, id FROM refund_operations WHERE seat_id IS NOT NULL`
	for what, sql := range map[string]string{
		"manual":                           `UPDATE refund_operations SET status = 'manual' WHERE seat_id IS NOT NULL`,
		"queued an hour after its promise": `UPDATE refund_operations SET give_up_at = now() - interval '1 hour' WHERE seat_id IS NOT NULL`,
		"rejected":                         `UPDATE refund_operations SET status = 'rejected', ended_at = now() WHERE seat_id IS NOT NULL; UPDATE payments SET refund_pending_minor = 0 WHERE provider_payment_id = 'pi_a'`,
	} {
		t.Run(what, func(t *testing.T) {
			judged(t, run(t, facts{fixed: asked, sql: unwatched + sql, line: line, told: told}), audit.Broken)
			judged(t, run(t, facts{fixed: asked, sql: unwatched + sql + listed, line: line, told: told}), audit.Clean)
		})
	}
}
