-- A paid order is paid by one captured payment of its own, of its amount and
-- currency; and no other payment of the order stands on it.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('order %s (%s %s): payment %s', id, amount_minor, currency, payment)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.amount_minor, o.currency, coalesce(p.id::text || ' ' || p.status || ' ' || p.captured_minor || ' ' || p.currency, 'missing') AS payment,
    p.id IS NULL OR p.order_id <> o.id OR p.status <> 'captured' OR p.stands <> 'on_order'
      OR p.captured_minor <> o.amount_minor OR p.currency <> o.currency
      OR (SELECT count(*) FROM payments q WHERE q.order_id = o.id AND q.stands = 'on_order') <> 1 AS bad
  FROM orders o LEFT JOIN payments p ON p.id = o.payment_id
  WHERE o.event_id = $1 AND o.status = 'paid'
) paid
