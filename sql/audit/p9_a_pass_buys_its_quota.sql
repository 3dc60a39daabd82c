-- Every order was made by a pass that its holder was given, while it was good,
-- and the live orders of a pass hold no more than its quota. Where the event has no
-- line they are made by none.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('take %s of place %s: %s seats of %s, %s orders without right', take, place, seats, quota, stolen)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT o.epoch, o.take, max(o.place) AS place, max(p.quota) AS quota,
    coalesce(sum(o.seat_count - o.given_back) FILTER (WHERE o.status IN ('pending', 'paid')), 0) AS seats,
    count(*) FILTER (WHERE p.take IS NULL OR p.place <> o.place OR p.holder <> o.holder
      OR o.created_at > p.expires_at + interval '5 seconds') AS stolen,
    CASE WHEN e.admission = 'open' THEN o.take <> 0 ELSE
      coalesce(sum(o.seat_count - o.given_back) FILTER (WHERE o.status IN ('pending', 'paid')), 0) > coalesce(max(p.quota), 0)
      OR count(*) FILTER (WHERE p.take IS NULL OR p.place <> o.place OR p.holder <> o.holder
        OR o.created_at > p.expires_at + interval '5 seconds') > 0 END AS bad
  FROM orders o JOIN events e ON e.id = o.event_id
  LEFT JOIN passes p ON p.event_id = o.event_id AND p.epoch = o.epoch AND p.take = o.take
  WHERE o.event_id = $1
  GROUP BY e.admission, o.epoch, o.take
) used
