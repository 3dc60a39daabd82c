-- One notice for each order's end or payment, and none without the fact. Of an
-- order that late money took again both were told: that it expired, and is paid.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s order %s was told %s times, of something else %s times', status, id, told, other)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.status, n.told, n.other,
    n.told <> 1 OR n.other <> (o.reclaimed_at IS NOT NULL)::int OR n.expired <> n.other AND o.reclaimed_at IS NOT NULL AS bad
  FROM orders o CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE n.kind = 'order.' || o.status) AS told,
      count(*) FILTER (WHERE n.kind <> 'order.' || o.status) AS other,
      count(*) FILTER (WHERE n.kind = 'order.expired') AS expired
    FROM notices n WHERE n.subject = o.id::text AND n.kind IN ('order.paid', 'order.expired', 'order.cancelled')
  ) n
  WHERE o.event_id = $1 AND o.status <> 'pending'
) facts
