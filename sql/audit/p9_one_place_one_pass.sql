-- A place got one pass; a take made one pass; a holder had one pass at a time: the next
-- credit was taken after the pass before was over, but for as much as a take may be
-- written down too early (Door.At: a lease, and the clocks of two replicas).
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('take %s: place %s of holder %s', take, place, holder)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT take, place, holder,
    count(*) OVER (PARTITION BY epoch, place) > 1
      OR count(*) OVER (PARTITION BY epoch, take) > 1
      OR lag(expires_at) OVER (PARTITION BY epoch, holder ORDER BY take) > taken_at + interval '5 s' AS bad
  FROM passes WHERE event_id = $1
) given
