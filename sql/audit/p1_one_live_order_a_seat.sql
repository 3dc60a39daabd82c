-- A seat belongs to at most one live order, by the orders' own lines: those that
-- were not given back.
SELECT coalesce(sum(n), 0) AS counted, count(*) FILTER (WHERE n > 1) AS violations,
  coalesce((array_agg(format('seat %s is in %s live orders', seat_id, n)) FILTER (WHERE n > 1))[1:5], '{}') AS examples
FROM (
  SELECT l.seat_id, count(*) AS n
  FROM order_lines l JOIN orders o ON o.id = l.order_id
  WHERE o.status IN ('pending', 'paid') AND l.given_back_by IS NULL AND o.event_id = $1
  GROUP BY l.seat_id
) live
