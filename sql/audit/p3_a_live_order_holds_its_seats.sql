-- A pending or paid order holds exactly the seats of its lines, but for those
-- that were refunded and given back, of which it says how many they are.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s order %s: %s of its %s seats are its own, %s others are; %s of its lines went back, it says %s', status, id, own, seat_count, alien, back, given_back)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.status, o.seat_count, o.given_back, h.own, h.alien, g.back,
    h.own <> o.seat_count - g.back OR h.alien <> 0 OR o.given_back <> g.back AS bad
  FROM orders o CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.seat_id IS NOT NULL) AS own, count(*) FILTER (WHERE l.seat_id IS NULL) AS alien
    FROM seats s LEFT JOIN order_lines l ON l.order_id = o.id AND l.seat_id = s.id AND l.given_back_by IS NULL
    WHERE s.order_id = o.id
  ) h
  CROSS JOIN LATERAL (SELECT count(*) AS back FROM order_lines WHERE order_id = o.id AND given_back_by IS NOT NULL) g
  WHERE o.event_id = $1 AND o.status IN ('pending', 'paid')
) held
