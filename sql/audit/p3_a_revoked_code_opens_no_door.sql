-- Who was admitted came by a code of a paid order's seat that was not revoked before.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('scan %s of %s: seat %s of order %s, which is %s, admitted %s; revoked %s', id, device, seat_id, order_id,
    coalesce(status, 'none'), at, coalesce(revoked_at::text, 'never'))) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT c.id, c.device, c.seat_id, c.order_id, c.at, o.status, r.at AS revoked_at,
    o.status IS DISTINCT FROM 'paid' OR coalesce(r.at < c.at, false) OR NOT EXISTS (SELECT FROM seat_changes s
      WHERE s.event_id = c.event_id AND s.seat_id = c.seat_id AND s.to_order = c.order_id) AS bad
  FROM scans c LEFT JOIN orders o ON o.id = c.order_id AND o.event_id = c.event_id
  LEFT JOIN code_revocations r ON (r.seat_id, r.order_id, r.claimed_at) = (c.seat_id, c.order_id, c.claimed_at)
  WHERE c.event_id = $1 AND c.outcome = 'admitted'
) entries
