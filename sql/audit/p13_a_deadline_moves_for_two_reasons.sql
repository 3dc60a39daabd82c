-- By the evidence: an order's deadline moves once for entering payment and once
-- for an organiser's extension at most, and never back; and an extension says of
-- how many orders it is.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(what) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT format('order %s had %s deadlines (payment entered %s, extension %s), moved back %s times', o.id, c.deadlines, o.extended_at, o.extension, c.back) AS what,
    c.back > 0 OR c.deadlines > 1 + (o.extended_at IS NOT NULL)::int + (o.extension IS NOT NULL)::int AS bad
  FROM orders o JOIN LATERAL (
    SELECT count(DISTINCT pay_by) AS deadlines, count(*) FILTER (WHERE pay_by < was) AS back
    FROM (SELECT pay_by, lag(pay_by) OVER (ORDER BY id) AS was FROM order_changes WHERE order_id = o.id) moves
  ) c ON true
  WHERE o.event_id = $1
  UNION ALL
  SELECT format('extension %s says %s orders, %s have it', x.id, x.orders, n.have), x.orders <> n.have
  FROM order_extensions x CROSS JOIN LATERAL (SELECT count(*) AS have FROM orders WHERE extension = x.id) n
  WHERE x.event_id = $1
) deadlines
