-- By the evidence: a seat goes from nobody to an order and back, never from
-- one order to another, and each change begins where the one before it ended.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('seat %s: change %s from %s to %s, before it was %s', seat_id, id, from_order, to_order, was)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT id, seat_id, from_order, to_order, was,
    from_order IS NOT NULL AND to_order IS NOT NULL OR was IS DISTINCT FROM from_order AS bad
  FROM (
    SELECT id, seat_id, from_order, to_order, lag(to_order) OVER (PARTITION BY seat_id ORDER BY id) AS was
    FROM seat_changes WHERE event_id = $1
  ) one
) judged
