package orderstest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Judge holds the database's raw rows against what must always be true of
// seats, orders and money, and fails with the number of rows that break a rule.
// It wants at least one order: judging nothing is no pass.
func Judge(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	// Also after the test's own context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	var orders int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM orders`).Scan(&orders); err != nil || orders == 0 {
		t.Fatalf("judge: %d orders (%v), want at least one", orders, err)
	}
	for _, r := range rules() {
		var broken int
		if err := pool.QueryRow(ctx, `SELECT count(*) FROM (`+r.breaks+`) AS broken`).Scan(&broken); err != nil {
			t.Errorf("judge: %s: %v", r.says, err)
		} else if broken > 0 {
			t.Errorf("judge: %s: broken %d times", r.says, broken)
		}
	}
}

type rule struct{ says, breaks string }

func rules() []rule {
	return []rule{
		{"an order is whole: as many lines as it says, for as much as it says (P2)", `
			SELECT o.id FROM orders o LEFT JOIN order_lines l ON l.order_id = o.id GROUP BY o.id
			HAVING count(l.seat_id) <> o.seat_count OR coalesce(sum(l.amount_minor), 0) <> o.amount_minor`},
		{"a pending or paid order holds exactly the seats of its lines that were not given back (P2, P3)", `
			SELECT o.id FROM orders o
			WHERE o.status IN ('pending', 'paid')
			  AND ARRAY(SELECT seat_id FROM order_lines WHERE order_id = o.id AND given_back_by IS NULL ORDER BY 1)
			   <> ARRAY(SELECT id FROM seats WHERE order_id = o.id ORDER BY 1)`},
		{"no seat on an ended order (P4)", `
			SELECT s.id FROM seats s JOIN orders o ON o.id = s.order_id WHERE o.status IN ('expired', 'cancelled')`},
		{"an order ends once, and stays as it ended, but for an expired one that late money takes again (P4)", `
			SELECT c.order_id FROM order_changes c JOIN orders o ON o.id = c.order_id
			WHERE c.from_status IN ('paid', 'expired', 'cancelled') AND c.to_status <> c.from_status
			GROUP BY c.order_id, o.reclaimed_at
			HAVING o.reclaimed_at IS NULL OR count(*) > 1 OR bool_or(c.from_status <> 'expired' OR c.to_status <> 'paid')
			UNION ALL
			SELECT o.id FROM orders o WHERE o.reclaimed_at IS NOT NULL AND NOT EXISTS (
			  SELECT FROM order_changes c WHERE c.order_id = o.id AND c.from_status = 'expired' AND c.to_status = 'paid')
			UNION ALL
			SELECT order_id FROM order_changes WHERE from_status = 'pending' AND to_status <> 'pending'
			GROUP BY order_id HAVING count(*) > 1`},
		{"an ended order gave back each of its seats once, a live one those of its refunded lines (P4)", `
			SELECT l.order_id FROM order_lines l JOIN orders o ON o.id = l.order_id
			LEFT JOIN seat_returns r ON r.order_id = l.order_id AND r.seat_id = l.seat_id
			GROUP BY l.order_id, l.seat_id, l.given_back_by, o.status, o.reclaimed_at
			HAVING count(r.seat_id) <> CASE WHEN o.status IN ('expired', 'cancelled') OR o.reclaimed_at IS NOT NULL THEN 1 ELSE 0 END
			  + (l.given_back_by IS NOT NULL)::int`},
		{"a line was given back if its refund was confirmed, and by that, or by a person of what went back by hand (P3)", `
			SELECT l.order_id FROM order_lines l JOIN orders o ON o.id = l.order_id
			WHERE (l.given_back_by IS NOT NULL) <> EXISTS (
			  SELECT FROM refund_operations f JOIN refund_changes c ON c.operation = f.id AND c.to_status = 'confirmed'
			  WHERE f.order_id = l.order_id AND f.seat_id = l.seat_id
			  UNION ALL SELECT FROM seats_back_by_hand h WHERE h.order_id = l.order_id AND h.seat_id = l.seat_id AND h.id = l.given_back_by)
			UNION ALL
			SELECT o.id FROM orders o WHERE o.given_back <> (
			  SELECT count(*) FROM order_lines l WHERE l.order_id = o.id AND l.given_back_by IS NOT NULL)
			UNION ALL
			SELECT o.id FROM orders o WHERE o.given_back <> (
			  SELECT coalesce(sum(jsonb_array_length(n.body->'seats')), 0) FROM notices n
			  WHERE n.subject = o.id::text AND n.kind = 'tickets.returned' AND n.body->>'cause' = 'refunded')`},
		{"free + pending + paid + held back = inventory (P6)", `
			SELECT s.event_id FROM seats s LEFT JOIN orders o ON o.id = s.order_id GROUP BY s.event_id
			HAVING count(*) FILTER (WHERE s.order_id IS NULL AND NOT s.held_back)
			     + count(*) FILTER (WHERE o.status = 'pending') + count(*) FILTER (WHERE o.status = 'paid')
			     + count(*) FILTER (WHERE s.held_back) <> count(*)`},
		{"a buyer's count is that of the seats in pending and paid orders", `
			SELECT b.account FROM buyers b LEFT JOIN orders o
			  ON o.event_id = b.event_id AND o.account = b.account AND o.status IN ('pending', 'paid')
			GROUP BY b.event_id, b.account, b.held HAVING b.held <> coalesce(sum(o.seat_count - o.given_back), 0)`},
		{"captured money stands on its paid order, or in one refund of all of it, or with a person (P5)", `
			SELECT p.id FROM payments p WHERE p.captured_minor > 0 AND 1 <>
			  (SELECT count(*) FROM orders o WHERE o.payment_id = p.id AND o.status = 'paid' AND o.id = p.order_id
			     AND o.amount_minor = p.captured_minor AND o.currency = p.currency AND p.stands = 'on_order')
			+ (SELECT count(*) FROM refund_operations r WHERE r.payment_id = p.id AND r.amount_minor = p.captured_minor
			     AND r.currency = p.currency AND p.stands = 'to_refund' AND r.parent IS NULL)
			+ (SELECT count(*) FROM human_list h WHERE h.payment_id = p.id AND p.stands = 'human')`},
		{"what is pending on a payment is what its operations owe (P5)", `
			SELECT p.id FROM payments p WHERE p.refund_pending_minor <>
			  (SELECT coalesce(sum(r.amount_minor), 0) FROM refund_operations r
			   WHERE r.payment_id = p.id AND r.status IN ('queued', 'submitted', 'unknown', 'pending', 'manual'))`},
		{"a paid order is told once, an ended one too, anything else never", `
			SELECT o.id FROM orders o LEFT JOIN notices n ON n.subject = o.id::text
			  AND n.kind IN ('order.paid', 'order.expired', 'order.cancelled')
			GROUP BY o.id HAVING count(n.id) <> CASE WHEN o.status = 'pending' THEN 0 WHEN o.reclaimed_at IS NOT NULL THEN 2 ELSE 1 END
			  OR bool_or(n.kind <> 'order.' || o.status AND (o.reclaimed_at IS NULL OR n.kind <> 'order.expired'))`},
		{"a refund is told once", `
			SELECT r.id FROM refund_operations r LEFT JOIN notices n ON n.subject = r.id AND n.kind = 'refund.queued'
			GROUP BY r.id HAVING count(n.id) <> 1`},
	}
}
