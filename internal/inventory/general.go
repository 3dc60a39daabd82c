package inventory

import "github.com/jackc/pgx/v5"

// awaitUnits locks as many free units of general admission as the attempts
// want, and waits where somebody else is taking them. grant leaves such units
// out, and must not be the reason of a "sold out": whoever takes them may yet
// let them go. It waits for wait at most; then the transaction fails.
func awaitUnits(b *pgx.Batch, attempts []*asked, wait string) {
	c := columnsOf(attempts)
	b.Queue(`SELECT set_config('lock_timeout', $1, true)`, wait)
	b.Queue(`
		SELECT FROM (
		  SELECT event_id, tier, sum(size) AS size
		  FROM unnest($1::text[], $2::text[], $3::int[]) AS a (event_id, tier, size)
		  WHERE tier <> '' GROUP BY event_id, tier ORDER BY event_id, tier
		) p CROSS JOIN LATERAL (
		  SELECT s.id FROM seats s
		  WHERE s.event_id = p.event_id AND s.price_tier = p.tier
		    AND s.kind = 'general' AND s.order_id IS NULL AND NOT s.held_back
		  ORDER BY s.pos LIMIT p.size
		  FOR NO KEY UPDATE) u`, c.event, c.tier, c.size)
}
