SELECT coalesce(sum(n), 0) AS counted, count(*) FILTER (WHERE n > 1) AS violations,
  coalesce((array_agg(format('attempt %s of account %s made %s orders', attempt, account, n)) FILTER (WHERE n > 1))[1:5], '{}') AS examples
FROM (SELECT account, attempt, count(*) AS n FROM orders WHERE event_id = $1 GROUP BY account, attempt) attempts
