-- A place got one pass; a take made one pass; a holder had one pass at a time.
SELECT count(*) AS counted, count(*) FILTER (WHERE bad) AS violations,
  coalesce((array_agg(format('take %s: place %s of holder %s', take, place, holder)) FILTER (WHERE bad))[1:5], '{}') AS examples
FROM (
  SELECT take, place, holder,
    count(*) OVER (PARTITION BY epoch, place) > 1
      OR count(*) OVER (PARTITION BY epoch, take) > 1
      OR lag(expires_at) OVER (PARTITION BY epoch, holder ORDER BY take) > taken_at AS bad
  FROM passes WHERE event_id = $1
) given
