-- What a presale code says was used of it is what its live orders are; it is no
-- more than it is good for.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('code %s of %s: %s of %s orders and %s of %s seats by its row, %s and %s by its orders', left(encode(hash, 'hex'), 8), presale, used, uses, seats_used, seats, orders, bought)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT c.hash, c.presale, c.uses, c.used, c.seats, c.seats_used, o.orders, o.bought,
    c.used <> o.orders OR c.seats_used <> o.bought OR c.used > c.uses OR c.seats_used > c.seats AS bad
  FROM presale_codes c
  LEFT JOIN (
    SELECT code, count(*) AS orders, sum(seat_count) AS bought FROM orders
    WHERE event_id = $1 AND status IN ('pending', 'paid') AND code IS NOT NULL GROUP BY code
  ) had ON had.code = c.hash
  CROSS JOIN LATERAL (SELECT coalesce(had.orders, 0) AS orders, coalesce(had.bought, 0) AS bought) o
  WHERE c.event_id = $1
) codes
