-- Of all scans of one code one was admitted, and those that were told of an earlier
-- one were told of that.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('seat %s of order %s, taken %s: admitted by %s scans; %s were told of another', seat_id, order_id, claimed_at, admitted, misled))
    FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT c.seat_id, c.order_id, c.claimed_at, count(*) FILTER (WHERE c.outcome = 'admitted') AS admitted,
    count(*) FILTER (WHERE c.first IS NOT NULL AND f.no IS NULL) AS misled,
    count(*) FILTER (WHERE c.outcome = 'admitted') > 1 OR count(*) FILTER (WHERE c.first IS NOT NULL AND f.no IS NULL) > 0 AS bad
  FROM scans c LEFT JOIN scans f ON f.no = c.first AND f.outcome = 'admitted'
    AND (f.seat_id, f.order_id, f.claimed_at) = (c.seat_id, c.order_id, c.claimed_at)
  WHERE c.event_id = $1 AND c.order_id IS NOT NULL
  GROUP BY c.seat_id, c.order_id, c.claimed_at
) codes
