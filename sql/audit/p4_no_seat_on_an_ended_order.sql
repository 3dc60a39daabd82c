SELECT (SELECT count(*) FROM seats WHERE event_id = $1) AS counted, count(*) AS violations,
  coalesce((array_agg(format('seat %s is on the %s order %s', s.id, o.status, o.id)))[1:5], '{}') AS examples
FROM seats s JOIN orders o ON o.id = s.order_id
WHERE s.event_id = $1 AND o.status NOT IN ('pending', 'paid')
