-- An operation has one key, one frozen request and at most one refund at the
-- provider; it is not sent after its end, nor more often than its budget; and
-- what follows a definite no names it as its parent.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s (%s): %s sends in its row, %s in the log, %s refunds, %s sends after its end', id, status, sends, logged, refunds, after_end)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT f.id, f.status, f.sends, c.logged, r.refunds, c.after_end,
    c.logged <> f.sends OR f.sends > 3 + f.pushes OR r.refunds > 1 OR r.others > 0 OR c.after_end > 0
      OR position('operation%5D=' || replace(replace(f.id, ':', '%3A'), '#', '%23') || '&' IN convert_from(f.request, 'UTF8')) = 0 AND f.sends > 0
      OR f.parent IS NOT NULL AND NOT EXISTS (SELECT FROM refund_operations q WHERE q.id = f.parent AND q.status IN ('rejected', 'failed_later'))
      AS bad
  FROM refund_operations f JOIN orders o ON o.id = f.order_id
  CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE verb = 'create') AS logged,
      count(*) FILTER (WHERE verb = 'create' AND submitted_at > f.ended_at) AS after_end
    FROM refund_calls WHERE operation = f.id) c
  CROSS JOIN LATERAL (SELECT count(*) AS refunds,
      count(*) FILTER (WHERE id <> f.provider_refund_id) AS others
    FROM provider_refunds WHERE operation = f.id) r
  WHERE o.event_id = $1
) operations
