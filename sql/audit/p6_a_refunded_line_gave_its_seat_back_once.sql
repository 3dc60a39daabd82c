-- By the evidence: a line gave its seat back once if its refund was confirmed, or if
-- all of its order's payment was told to have gone back by hand and a person said so;
-- by that refund, or that word, and else not at all; the seat left the order as often
-- as a return says so; and the order's line says the same.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('seat %s of order %s: refunds confirmed %s, given back by hand %s times, %s of them for money that is not told to be back; returned %s times, %s of them by another cause; the line says %s; it left the order %s times of %s',
    seat_id, order_id, refunded, hand, unproved, back, alien, coalesce(given_back_by, 'nothing'), freed, returned)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT l.seat_id, l.order_id, l.given_back_by, f.refunded, h.hand, h.unproved, r.back, r.alien, r.returned, c.freed,
    r.back <> (f.refunded + h.hand > 0)::int OR r.alien > 0 OR (l.given_back_by IS NOT NULL) <> (f.refunded + h.hand > 0)
      OR h.unproved > 0 OR h.hand > 0 AND h.id IS DISTINCT FROM l.given_back_by
      OR l.given_back_by IS NOT NULL AND NOT EXISTS (SELECT FROM seat_returns b
        WHERE b.seat_id = l.seat_id AND b.order_id = l.order_id AND b.cause = 'refunded:' || l.given_back_by)
      OR c.freed <> r.returned AS bad
  FROM order_lines l JOIN orders o ON o.id = l.order_id
  CROSS JOIN LATERAL (SELECT count(*) AS refunded FROM refund_operations f
    WHERE f.order_id = l.order_id AND f.seat_id = l.seat_id AND (f.status = 'confirmed'
      OR f.status = 'failed_later' AND EXISTS (SELECT FROM refund_changes m WHERE m.operation = f.id AND m.to_status = 'confirmed'))) f
  -- What was told to be back may have failed since.
  CROSS JOIN LATERAL (SELECT count(*) AS hand, min(h.id) AS id,
      count(*) FILTER (WHERE p.id IS DISTINCT FROM o.payment_id OR p.captured_minor > greatest(p.told_refunded_minor,
        (SELECT coalesce(sum(t.amount_minor), 0) FROM provider_refunds t WHERE t.payment_id = p.id AND t.status <> 'pending'))
        OR h.by = '' OR NOT EXISTS (SELECT FROM human_notes n JOIN human_list i ON i.id = n.item
          WHERE i.id = h.item AND i.payment_id = p.id AND n.by = h.by AND n.did = 'decided')) AS unproved
    FROM seats_back_by_hand h JOIN payments p ON p.id = h.payment_id WHERE h.order_id = l.order_id AND h.seat_id = l.seat_id) h
  CROSS JOIN LATERAL (SELECT count(*) AS returned,
      count(*) FILTER (WHERE r.cause LIKE 'refunded:%') AS back,
      count(*) FILTER (WHERE r.cause LIKE 'refunded:%' AND NOT EXISTS (SELECT FROM refund_operations f
        WHERE 'refunded:' || f.id = r.cause AND f.order_id = l.order_id AND f.seat_id = l.seat_id AND f.status IN ('confirmed', 'failed_later'))
        AND NOT EXISTS (SELECT FROM seats_back_by_hand h
        WHERE 'refunded:' || h.id = r.cause AND h.order_id = l.order_id AND h.seat_id = l.seat_id)) AS alien
    FROM seat_returns r WHERE r.order_id = l.order_id AND r.seat_id = l.seat_id) r
  CROSS JOIN LATERAL (SELECT count(*) AS freed FROM seat_changes c
    WHERE c.seat_id = l.seat_id AND c.from_order = l.order_id AND c.to_order IS DISTINCT FROM c.from_order) c
  WHERE o.event_id = $1
) lines
