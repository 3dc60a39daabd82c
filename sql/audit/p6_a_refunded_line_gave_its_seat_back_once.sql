-- By the evidence: a line gave its seat back once if its refund was confirmed, by
-- that refund, and else not at all; the seat left the order as often as a return
-- says so; and the order's line says the same.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('seat %s of order %s: refunds confirmed %s, returned %s times, %s of them by another cause; the line says %s; it left the order %s times of %s',
    seat_id, order_id, refunded, back, alien, coalesce(given_back_by, 'nothing'), freed, returned)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT l.seat_id, l.order_id, l.given_back_by, f.refunded, r.back, r.alien, r.returned, c.freed,
    r.back <> (f.refunded > 0)::int OR r.alien > 0 OR (l.given_back_by IS NOT NULL) <> (f.refunded > 0)
      OR l.given_back_by IS NOT NULL AND NOT EXISTS (SELECT FROM seat_returns b
        WHERE b.seat_id = l.seat_id AND b.order_id = l.order_id AND b.cause = 'refunded:' || l.given_back_by)
      OR c.freed <> r.returned AS bad
  FROM order_lines l JOIN orders o ON o.id = l.order_id
  CROSS JOIN LATERAL (SELECT count(*) AS refunded FROM refund_operations f
    WHERE f.order_id = l.order_id AND f.seat_id = l.seat_id AND (f.status = 'confirmed'
      OR f.status = 'failed_later' AND EXISTS (SELECT FROM refund_changes m WHERE m.operation = f.id AND m.to_status = 'confirmed'))) f
  CROSS JOIN LATERAL (SELECT count(*) AS returned,
      count(*) FILTER (WHERE r.cause LIKE 'refunded:%') AS back,
      count(*) FILTER (WHERE r.cause LIKE 'refunded:%' AND NOT EXISTS (SELECT FROM refund_operations f
        WHERE 'refunded:' || f.id = r.cause AND f.order_id = l.order_id AND f.seat_id = l.seat_id AND f.status IN ('confirmed', 'failed_later'))) AS alien
    FROM seat_returns r WHERE r.order_id = l.order_id AND r.seat_id = l.seat_id) r
  CROSS JOIN LATERAL (SELECT count(*) AS freed FROM seat_changes c
    WHERE c.seat_id = l.seat_id AND c.from_order = l.order_id AND c.to_order IS DISTINCT FROM c.from_order) c
  WHERE o.event_id = $1
) lines
