-- An order has as many lines as it says, and they add up to its amount.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('order %s: %s lines of %s, %s of %s', id, lines, seat_count, total, amount_minor)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.id, o.seat_count, o.amount_minor, count(l.seat_id) AS lines, coalesce(sum(l.amount_minor), 0) AS total,
    count(l.seat_id) <> o.seat_count OR coalesce(sum(l.amount_minor), 0) <> o.amount_minor AS bad
  FROM orders o LEFT JOIN order_lines l ON l.order_id = o.id
  WHERE o.event_id = $1
  GROUP BY o.id, o.seat_count, o.amount_minor
) whole
