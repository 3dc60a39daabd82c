-- A delivery stands where its ledger says: it waits for a time that comes, is being
-- sent by one who said so, was delivered by an attempt that the receiver took, or is
-- dead for a reason. None is anything else, and none of what was taken is dead.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('delivery %s to %s is %s %s after %s attempts (%s in the ledger; the last %s)', id, endpoint_id, status, reason, attempts, n, coalesce(last::text, 'without an answer'))) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT d.id, d.endpoint_id, d.status, d.reason, d.attempts, a.n, a.last,
    d.attempts <> a.n OR NOT CASE d.status
      WHEN 'waiting' THEN isfinite(d.due_at) AND a.open = 0 AND NOT a.taken
      WHEN 'sending' THEN a.open = 1 AND NOT a.taken AND isfinite(d.leased_until) AND a.by = d.courier
      WHEN 'delivered' THEN a.open = 0 AND a.last BETWEEN 200 AND 299
      WHEN 'dead' THEN a.open = 0 AND NOT a.taken AND CASE d.reason
        WHEN 'max_attempts' THEN a.n > 0 WHEN 'gone' THEN a.last = 410 WHEN 'endpoint_deleted' THEN p.deleted_at IS NOT NULL WHEN 'too_old' THEN true ELSE false END
      ELSE false END AS bad
  FROM deliveries d JOIN notices t ON t.id = d.notice_id JOIN endpoints p ON p.id = d.endpoint_id
  CROSS JOIN LATERAL (
    SELECT count(*) AS n, count(*) FILTER (WHERE a.finished_at IS NULL) AS open, coalesce(bool_or(a.status BETWEEN 200 AND 299), false) AS taken,
      (array_agg(a.status ORDER BY a.attempt_no DESC))[1] AS last, (array_agg(a.courier ORDER BY a.attempt_no DESC))[1] AS by
    FROM delivery_attempts a WHERE a.delivery_id = d.id AND a.go = d.go
  ) a
  WHERE t.event_id = $1 OR t.event_id IS NULL AND t.organiser = (SELECT organiser FROM events WHERE id = $1)
) facts
