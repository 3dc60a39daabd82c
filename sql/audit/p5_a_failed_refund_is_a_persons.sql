-- Of all refunds, one that failed after all is on the human list, or a person took it
-- off by name; a line of it keeps neither its seat nor its money by itself.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('%s failed, and no person has it', id)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT f.id, f.status = 'failed_later' AND NOT EXISTS (SELECT FROM human_list h WHERE h.operation = f.id AND (h.resolved_at IS NULL
    OR EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.did IN ('resolved', 'decided') AND n.by NOT LIKE '(%'))) AS bad
  FROM refund_operations f JOIN orders o ON o.id = f.order_id
  WHERE o.event_id = $1
) failed
