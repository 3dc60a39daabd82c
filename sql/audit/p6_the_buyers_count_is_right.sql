-- What a buyer's row says that the account holds is what its live orders hold:
-- the lines that they did not give back.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('account %s: %s by its row, %s by its orders', account, held, seats)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT b.account, b.held, coalesce(sum(o.seats), 0) AS seats, b.held <> coalesce(sum(o.seats), 0) AS bad
  FROM buyers b
  LEFT JOIN (
    SELECT o.event_id, o.account, count(*) FILTER (WHERE l.given_back_by IS NULL) AS seats
    FROM orders o JOIN order_lines l ON l.order_id = o.id
    WHERE o.event_id = $1 AND o.status IN ('pending', 'paid') GROUP BY o.event_id, o.account
  ) o ON o.event_id = b.event_id AND o.account = b.account
  WHERE b.event_id = $1
  GROUP BY b.event_id, b.account, b.held
) counted
