-- One refund operation for each payment that came too much or too late, and
-- none for another; a payment stands in one place.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('payment %s stands %s with %s refund operations', id, stands, owed)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT p.id, p.stands, count(r.id) AS owed,
    (p.stands = 'to_refund') <> (count(r.id) FILTER (WHERE r.reason IN ('late', 'second_payment')) = 1) AS bad
  FROM payments p JOIN orders o ON o.id = p.order_id
  LEFT JOIN refund_operations r ON r.payment_id = p.id AND r.parent IS NULL AND r.seat_id IS NULL
  WHERE o.event_id = $1 AND p.status = 'captured'
  GROUP BY p.id, p.stands
) money
