-- Of all refunds, one that is a person's, or has no end a minute past its promise and
-- its last call, is on the human list; one that failed after all, or was refused, is on
-- it, was taken off it by a person by name, or is followed by another. So a line
-- that was asked to be refunded is not forgotten, though its money is on its order.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s is %s, and no person has it', id, status)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT f.id, f.status, CASE
    WHEN f.status = 'manual' OR f.status IN ('queued', 'submitted', 'unknown')
      AND f.give_up_at < now() - interval '1 minute' - (SELECT call_limit FROM outlet_quota)
    THEN NOT EXISTS (SELECT FROM human_list h WHERE h.operation = f.id AND h.resolved_at IS NULL)
    WHEN f.status = 'failed_later' OR f.status = 'rejected' AND NOT EXISTS (SELECT FROM refund_operations n WHERE n.parent = f.id)
    THEN NOT EXISTS (SELECT FROM human_list h WHERE h.operation = f.id AND (h.resolved_at IS NULL
      OR EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.did IN ('resolved', 'decided') AND n.by NOT LIKE '(%')))
    ELSE false END AS bad
  FROM refund_operations f JOIN orders o ON o.id = f.order_id
  WHERE o.event_id = $1
) refund
