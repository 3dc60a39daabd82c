-- The ledger of each delivery is whole: the attempts of each go are numbered from 1
-- without a gap, none begins before the one before it has ended, nothing follows one
-- that the receiver took until somebody asked for another go.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('attempt %s.%s of delivery %s to %s, the %s of its go, began %s, the one before it ended %s', go, attempt_no, delivery_id, endpoint_id, nth, started_at, before)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT a.delivery_id, a.endpoint_id, a.go, a.attempt_no, a.nth, a.started_at, a.before,
    a.attempt_no <> a.nth OR a.go > a.current OR a.endpoint_id <> a.whose OR a.nth > 1 AND (a.before IS NULL OR a.taken)
      OR a.started_at < a.before OR a.finished_at IS NULL AND a.status IS NOT NULL AS bad
  FROM (
    SELECT a.delivery_id, a.endpoint_id, a.go, a.attempt_no, a.started_at, a.finished_at, a.status, d.go AS current, d.endpoint_id AS whose,
      row_number() OVER (PARTITION BY a.delivery_id, a.go ORDER BY a.attempt_no) AS nth,
      lag(a.finished_at) OVER (PARTITION BY a.delivery_id ORDER BY a.go, a.attempt_no) AS before,
      coalesce(lag(a.status) OVER (PARTITION BY a.delivery_id, a.go ORDER BY a.attempt_no) BETWEEN 200 AND 299, false) AS taken
    FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id JOIN notices t ON t.id = d.notice_id
    WHERE t.event_id = $1 OR t.event_id IS NULL AND t.organiser = (SELECT organiser FROM events WHERE id = $1)
  ) a
) facts
