-- free + pending + paid + held back = inventory, and the inventory is what was
-- imported: positions without a gap.
SELECT count(*) AS counted,
  abs(count(*) - coalesce(sum(one), 0)) + abs(count(*) - (coalesce(max(pos), -1) + 1)) AS violations,
  ARRAY[format('%s seats, positions to %s: %s free, %s pending, %s paid, %s held back',
    count(*), max(pos), sum(free), sum(pending), sum(paid), sum(held))] AS examples
FROM (
  SELECT pos, free, pending, paid, held, CASE WHEN free + pending + paid + held = 1 THEN 1 ELSE 0 END AS one
  FROM (
    SELECT s.pos, (s.order_id IS NULL AND NOT s.held_back)::int AS free, (s.held_back)::int AS held,
      coalesce(o.status = 'pending', false)::int AS pending, coalesce(o.status = 'paid', false)::int AS paid
    FROM seats s LEFT JOIN orders o ON o.id = s.order_id
    WHERE s.event_id = $1
  ) state
) seats
