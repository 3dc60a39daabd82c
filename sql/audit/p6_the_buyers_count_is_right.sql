-- What a buyer's row says that the account holds is what its live orders hold.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('account %s: %s by its row, %s by its orders', account, held, seats)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT b.account, b.held, coalesce(sum(o.seat_count), 0) AS seats, b.held <> coalesce(sum(o.seat_count), 0) AS bad
  FROM buyers b
  LEFT JOIN orders o ON o.event_id = b.event_id AND o.account = b.account AND o.status IN ('pending', 'paid')
  WHERE b.event_id = $1
  GROUP BY b.event_id, b.account, b.held
) counted
