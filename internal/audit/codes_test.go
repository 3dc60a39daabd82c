package audit_test

import (
	"testing"

	"waitroom/internal/audit"
)

// doors is the sale with a line given back, whose code came in before and is shown
// again, and another's that came in twice, at two doors without a network.
const doors = lineBack + `
INSERT INTO scans (event_id, device, id, request, gate, by, scanned_at, at, let_in, outcome, seat_id, order_id, claimed_at)
  SELECT 'e', 'd', 'a' || s.id, sha256('x'), 'north', 'k', r.at - interval '1 s', r.at - interval '1 s', false, 'admitted', s.id, r.order_id, r.claimed_at
  FROM code_revocations r JOIN seats s ON s.id = r.seat_id;
INSERT INTO scans (event_id, device, id, request, gate, by, scanned_at, let_in, outcome, seat_id, order_id, claimed_at, first, revocation)
  SELECT 'e', 'd', 'late', sha256('x'), 'north', 'k', now(), false, 'revoked', c.seat_id, c.order_id, c.claimed_at, c.no, r.id
  FROM scans c JOIN code_revocations r USING (seat_id, order_id, claimed_at);
INSERT INTO scans (event_id, device, id, request, gate, by, scanned_at, let_in, outcome, seat_id, order_id, claimed_at)
  SELECT 'e', 'd', 'b', sha256('x'), 'north', 'k', now(), true, 'admitted', id, order_id, claimed_at FROM seats WHERE pos = 1;
INSERT INTO scans (event_id, device, id, request, gate, by, scanned_at, let_in, outcome, seat_id, order_id, claimed_at, first)
  SELECT 'e', 'f', 'b', sha256('x'), 'south', 'k', now(), true, 'already_in', seat_id, order_id, claimed_at, no FROM scans WHERE id = 'b';
`

// Who came in by a code that was good is clean; a code that opened twice, or though
// it was void, or that nobody revoked, is found.
func TestWhoCameInIsJudged(t *testing.T) {
	judged(t, run(t, facts{fixed: doors, line: line, told: told}), audit.Clean)
	const unguarded = `DROP INDEX scans_one_entry; ALTER TABLE scans DISABLE TRIGGER USER; ALTER TABLE code_revocations DISABLE TRIGGER USER; ALTER TABLE seats DISABLE TRIGGER seats_revoke_code; `
	for _, c := range []struct{ name, check, sql string }{
		{"a code that opened twice", "a code opens the door once", `UPDATE scans SET outcome = 'admitted' WHERE outcome = 'already_in'`},
		{"one that was told of no entry", "a code opens the door once", `UPDATE scans SET first = 999 WHERE outcome = 'already_in'`},
		{"one that was told of another's entry", "a code opens the door once", `UPDATE scans SET first = (SELECT no FROM scans WHERE id = 'b' AND device = 'd') WHERE id = 'late'`},
		{"a void code that opened", "a revoked code opens no door", `DELETE FROM scans WHERE id LIKE 'a%'; UPDATE scans SET outcome = 'admitted' WHERE id = 'late'`},
		{"an unpaid seat's code that opened", "a revoked code opens no door", `UPDATE scans SET (seat_id, order_id, claimed_at) = (SELECT id, order_id, claimed_at FROM seats WHERE pos = 3) WHERE id = 'b'`},
		{"a code of a seat that the order never had", "a revoked code opens no door", `UPDATE scans SET seat_id = (SELECT id FROM seats WHERE pos = 5) WHERE id = 'b'`},
		{"a seat that went back and is not revoked", "a seat that left its order revoked its code", `DELETE FROM code_revocations`},
		{"a seat that left and nobody revoked", "a seat that left its order revoked its code", `UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE pos = 1`},
		{"a revocation of a seat that the order has", "a seat that left its order revoked its code", `INSERT INTO code_revocations (event_id, seat_id, order_id, claimed_at) SELECT 'e', id, order_id, claimed_at FROM seats WHERE pos = 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			caughtBy(t, run(t, facts{fixed: doors, sql: unguarded + c.sql, line: line, told: told}), c.check)
		})
	}
}
