-- A notice that was addressed has exactly as many deliveries as it says, and among
-- them one for each endpoint of its organiser that was there before it, is still
-- there and wants all kinds since it was added. One that was not addressed waits its
-- turn: none that became true a minute later had it, but for an endpoint's test, which is
-- addressed by whoever asks for it.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('notice %s (%s of %s): addressed to %s, %s deliveries, %s endpoints left out', id, kind, subject, coalesce(addressed::text, 'nobody yet'), written, left_out)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT n.id, n.kind, n.subject, n.addressed, d.written, p.left_out,
    CASE WHEN n.addressed IS NULL
      THEN d.written > 0 OR n.at < (SELECT max(b.at) FROM notices b WHERE b.addressed IS NOT NULL AND b.kind <> 'endpoint.test') - interval '1 minute'
      ELSE n.addressed <> d.written OR p.left_out > 0 AND n.kind <> 'endpoint.test'
    END AS bad
  FROM notices n LEFT JOIN events e ON e.id = n.event_id
  CROSS JOIN LATERAL (SELECT count(*) AS written FROM deliveries d WHERE d.notice_id = n.id) d
  CROSS JOIN LATERAL (
    SELECT count(*) AS left_out FROM endpoints p
    WHERE p.organiser = coalesce(n.organiser, e.organiser) AND p.created_at < n.at - interval '10 seconds' AND p.deleted_at IS NULL
      AND p.kinds = '{}' AND NOT EXISTS (SELECT FROM endpoint_changes c WHERE c.endpoint_id = p.id AND c.did = 'edited')
      AND NOT (n.kind = 'endpoint.disabled' AND n.subject = p.id)
      AND NOT EXISTS (SELECT FROM deliveries d WHERE d.notice_id = n.id AND d.endpoint_id = p.id)
  ) p
  WHERE n.event_id = $1 OR n.event_id IS NULL AND n.organiser = (SELECT organiser FROM events WHERE id = $1)
) facts
