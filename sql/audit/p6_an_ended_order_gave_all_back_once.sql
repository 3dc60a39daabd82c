-- Each seat of an ended order was returned once, for that end; also where late
-- money took the seats again afterwards.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s order %s returned %s of %s seats', status, id, returned, seat_count)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.status, o.seat_count, count(r.seat_id) AS returned, count(r.seat_id) <> o.seat_count AS bad
  FROM orders o
  LEFT JOIN seat_returns r ON r.order_id = o.id
    AND r.cause = CASE WHEN o.reclaimed_at IS NULL THEN o.status ELSE 'expired' END || ':' || o.id
  WHERE o.event_id = $1 AND (o.status IN ('expired', 'cancelled') OR o.reclaimed_at IS NOT NULL)
  GROUP BY o.id, o.status, o.seat_count
) ended
