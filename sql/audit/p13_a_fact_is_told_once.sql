-- One notice for each order's end or payment, and none without the fact.
SELECT count(*) AS counted, count(*) FILTER (WHERE told <> 1) AS violations,
  coalesce((array_agg(format('%s order %s was told %s times', status, id, told)) FILTER (WHERE told <> 1))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.status, (SELECT count(*) FROM notices n WHERE n.subject = o.id::text
      AND n.kind IN ('order.paid', 'order.expired', 'order.cancelled')
      AND n.kind = 'order.' || o.status) + 10 * (SELECT count(*) FROM notices n WHERE n.subject = o.id::text
      AND n.kind IN ('order.paid', 'order.expired', 'order.cancelled') AND n.kind <> 'order.' || o.status) AS told
  FROM orders o WHERE o.event_id = $1 AND o.status <> 'pending'
) facts
