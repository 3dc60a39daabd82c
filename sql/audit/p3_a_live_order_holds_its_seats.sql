-- A pending or paid order holds exactly the seats of its lines.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s order %s: %s of its %s seats are its own, %s others are', status, id, own, seat_count, alien)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.status, o.seat_count, h.own, h.alien, h.own <> o.seat_count OR h.alien <> 0 AS bad
  FROM orders o CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.seat_id IS NOT NULL) AS own, count(*) FILTER (WHERE l.seat_id IS NULL) AS alien
    FROM seats s LEFT JOIN order_lines l ON l.order_id = o.id AND l.seat_id = s.id
    WHERE s.order_id = o.id
  ) h
  WHERE o.event_id = $1 AND o.status IN ('pending', 'paid')
) held
