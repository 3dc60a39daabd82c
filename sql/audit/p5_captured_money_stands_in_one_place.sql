-- Every captured payment is exactly one of: on a paid order; refunded, once and
-- in full; an open refund younger than its promise and one call more, or on its way at the
-- provider; before a person, or resolved by one by name. The provider may not have said that more went back
-- than we know of, unless a person has that too; a sum alone, some minutes after it.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('payment %s (%s of %s captured): on an order %s, refunded %s, open %s, with a person %s; told %s back, ours %s',
    id, stands, captured_minor, on_order, back, open, person, told, refunded_minor)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT m.id, m.stands, m.captured_minor, m.refunded_minor, m.on_order, m.back, m.open, m.person, m.told,
    m.on_order::int + m.back::int + m.open::int + (m.person AND NOT m.on_order AND NOT m.back AND NOT m.open)::int <> 1
      OR m.told > m.refunded_minor + m.refund_pending_minor AND NOT m.person AS bad
  FROM (
    SELECT p.id, p.stands, p.captured_minor, p.refunded_minor, p.refund_pending_minor,
      p.stands = 'on_order' AND o.status = 'paid' AND o.payment_id = p.id AS on_order,
      p.stands = 'to_refund' AND p.refunded_minor = p.captured_minor AND (
        SELECT coalesce(sum(f.amount_minor), 0) = p.captured_minor AND count(*) = count(DISTINCT f.provider_refund_id)
        FROM refund_operations f WHERE f.payment_id = p.id AND f.status = 'confirmed') AS back,
      p.stands = 'to_refund' AND p.refunded_minor < p.captured_minor AND EXISTS (
        SELECT FROM refund_operations f WHERE f.payment_id = p.id
          AND (f.status IN ('queued', 'submitted', 'unknown') AND f.give_up_at > now() - interval '5 seconds' - (SELECT call_limit FROM outlet_quota) OR f.status = 'pending')) AS open,
      EXISTS (SELECT FROM human_list h LEFT JOIN refund_operations f ON f.id = h.operation
        WHERE (h.payment_id = p.id OR f.payment_id = p.id) AND (h.resolved_at IS NULL OR p.stands = 'human'
          OR EXISTS (SELECT FROM human_notes n WHERE n.item = h.id AND n.did = 'resolved' AND n.by NOT LIKE '(%'))) AS person,
      greatest(CASE WHEN p.told_at > now() - interval '6 minutes' THEN 0 ELSE p.told_refunded_minor END, (SELECT coalesce(sum(r.amount_minor), 0) FROM provider_refunds r
        WHERE r.payment_id = p.id AND r.status = 'succeeded')) AS told
    FROM payments p JOIN orders o ON o.id = p.order_id
    WHERE o.event_id = $1 AND p.status = 'captured'
  ) m
) money
