-- What is pending and refunded of a payment is what its operations stand for.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('payment %s: %s pending, its operations say %s; %s refunded, they say %s', id, refund_pending_minor, pending, refunded_minor, refunded)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT p.id, p.refund_pending_minor, p.refunded_minor, f.pending, f.refunded,
    p.refund_pending_minor <> f.pending OR p.refunded_minor <> f.refunded OR f.alien AS bad
  FROM payments p JOIN orders o ON o.id = p.order_id CROSS JOIN LATERAL (
    SELECT coalesce(sum(f.amount_minor) FILTER (WHERE f.status IN ('queued', 'submitted', 'unknown', 'pending', 'manual')), 0) AS pending,
      coalesce(sum(f.amount_minor) FILTER (WHERE f.status = 'confirmed'), 0) AS refunded,
      coalesce(bool_or(f.currency <> p.currency OR f.order_id <> p.order_id), false) AS alien
    FROM refund_operations f WHERE f.payment_id = p.id) f
  WHERE o.event_id = $1 AND p.status = 'captured'
) money
