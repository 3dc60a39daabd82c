-- Starts are 200 ms apart within one outlet's reign, by its monotonic clock, and
-- ten are under way at most; a reign begins after the calls of the one before
-- have had their time, and from then on no other submits. What is compared between
-- two outlets is the database's word: an instant that was written down late, by a
-- busy database, is later than the start was, and never earlier; so the one before
-- is taken as it was submitted. Judged for this event's calls, against everybody's.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('call %s of %s: %s ms after the one before, %s in flight', id, operation, apart_ms, in_flight)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT c.id, c.operation, c.in_flight, round(c.apart / 1e6) AS apart_ms, o.event_id,
    c.apart < 200000000 OR c.in_flight > 10 OR c.wrote > 1 OR c.epoch < c.latest
      OR c.first AND c.started_at < c.before + interval '200 milliseconds' AS bad
  FROM (
    SELECT id, operation, in_flight, wrote, started_at, epoch,
      max(epoch) OVER (ORDER BY submitted_at, id) AS latest,
      started_ns - lag(started_ns) OVER (PARTITION BY epoch ORDER BY started_ns) AS apart,
      lag(submitted_at) OVER (ORDER BY submitted_at, id) AS before,
      row_number() OVER (PARTITION BY epoch ORDER BY started_ns) = 1 AS first
    FROM refund_calls WHERE started_ns IS NOT NULL
  ) c JOIN refund_operations f ON f.id = c.operation JOIN orders o ON o.id = f.order_id
) calls WHERE event_id = $1
