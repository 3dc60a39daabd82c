-- Starts are 200 ms apart within one outlet's reign, by its monotonic clock, and
-- ten are under way at most; a reign begins after the calls of the one before
-- have had their time. Judged for this event's calls, against everybody's.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('call %s of %s: %s ms after the one before, %s in flight', id, operation, apart_ms, in_flight)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT c.id, c.operation, c.in_flight, round(c.apart / 1e6) AS apart_ms, o.event_id,
    c.apart < 200000000 OR c.in_flight > 10 OR c.wrote > 1
      OR c.first AND c.started_at < c.before + interval '200 milliseconds' AS bad
  FROM (
    SELECT id, operation, in_flight, wrote, started_at,
      started_ns - lag(started_ns) OVER (PARTITION BY epoch ORDER BY started_ns) AS apart,
      lag(started_at) OVER (ORDER BY started_at) AS before,
      row_number() OVER (PARTITION BY epoch ORDER BY started_ns) = 1 AS first
    FROM refund_calls WHERE started_ns IS NOT NULL
  ) c JOIN refund_operations f ON f.id = c.operation JOIN orders o ON o.id = f.order_id
) calls WHERE event_id = $1
