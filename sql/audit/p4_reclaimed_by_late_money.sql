-- An order that says it was taken again had expired before, by the evidence,
-- and is paid by money that came after that.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('order %s: expired %s, reclaimed %s, money %s', id, expired, reclaimed_at, captured_at)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, e.expired, o.reclaimed_at, p.captured_at,
    e.expired IS NULL OR o.status <> 'paid' OR p.captured_at IS DISTINCT FROM o.reclaimed_at OR o.paid_at <> o.reclaimed_at AS bad
  FROM orders o
  LEFT JOIN payments p ON p.id = o.payment_id
  LEFT JOIN LATERAL (
    SELECT min(c.at) AS expired FROM order_changes c
    WHERE c.order_id = o.id AND c.from_status = 'pending' AND c.to_status = 'expired') e ON true
  WHERE o.event_id = $1 AND o.reclaimed_at IS NOT NULL
) reclaimed
