-- By the evidence: an order begins pending and changes its status once at most;
-- but for one that expired and that late money took again, and paid, once.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('order %s went %s', order_id, path)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT c.order_id, string_agg(c.to_status, ' > ' ORDER BY c.id) AS path,
    count(*) FILTER (WHERE c.from_status IS NULL) <> 1
      OR count(*) FILTER (WHERE c.from_status IS NULL AND c.to_status <> 'pending') > 0
      OR count(*) FILTER (WHERE c.from_status = 'pending' AND c.to_status <> 'pending') > 1
      OR count(*) FILTER (WHERE c.from_status <> 'pending' AND c.from_status <> c.to_status)
        <> count(*) FILTER (WHERE c.from_status = 'expired' AND c.to_status = 'paid' AND o.reclaimed_at IS NOT NULL)
      OR count(*) FILTER (WHERE c.from_status = 'expired' AND c.to_status = 'paid') > 1
      OR (array_agg(c.to_status ORDER BY c.id DESC))[1] IS DISTINCT FROM max(o.status) AS bad
  FROM order_changes c LEFT JOIN orders o ON o.id = c.order_id
  WHERE c.event_id = $1
  GROUP BY c.order_id
) told
