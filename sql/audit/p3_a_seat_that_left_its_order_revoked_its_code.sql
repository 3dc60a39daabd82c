-- By the evidence: as often as a seat left its order once that was paid, so many of
-- its codes are revoked.
WITH paid AS (
  SELECT order_id, min(at) AS at FROM order_changes WHERE event_id = $1 AND to_status = 'paid' GROUP BY order_id
), gone AS (
  SELECT c.seat_id, c.from_order AS order_id, count(*) AS times FROM seat_changes c JOIN paid p ON p.order_id = c.from_order
  WHERE c.event_id = $1 AND c.to_order IS DISTINCT FROM c.from_order AND c.at >= p.at GROUP BY c.seat_id, c.from_order
), revoked AS (
  SELECT seat_id, order_id, count(*) AS times FROM code_revocations WHERE event_id = $1 GROUP BY seat_id, order_id
)
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('seat %s left order %s %s times after that was paid, and %s of its codes are revoked', seat_id, order_id, gone, revoked))
    FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT seat_id, order_id, coalesce(g.times, 0) AS gone, coalesce(r.times, 0) AS revoked, g.times IS DISTINCT FROM r.times AS bad
  FROM gone g FULL JOIN revoked r USING (seat_id, order_id)
) seats
