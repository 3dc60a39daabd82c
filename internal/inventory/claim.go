// Package inventory owns the seats table. A seat belongs to at most one live
// order, and the row itself is the only lock.
//
// Locks are taken in one order everywhere: accounts (by event and account), then
// presale codes (by event and hash), then the turn to choose in a hall, then orders,
// then seats, each by id. Everything of
// one account takes turns at its row of buyers, so that limits and attempt keys
// need no other guard.
package inventory

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// claim grants the attempts whose every seat is free and whose limits allow,
// and returns their positions. It is one transaction in one round trip: the
// statements travel together, and the server commits at their end or, after
// an error of any, rolls all of them back. No two attempts may be of the same
// account or want the same seat.
func claim(ctx context.Context, conn *pgxpool.Conn, attempts []*asked) (won []int, err error) {
	var b pgx.Batch
	makeAccounts(&b, attempts)
	lockAccounts(&b, attempts, nil)
	lockCodes(&b, attempts)
	grant(&b, attempts, &won)
	return won, conn.SendBatch(ctx, &b).Close()
}

// makeAccounts gives each account its row. Rows are made in the order in which
// they are locked.
func makeAccounts(b *pgx.Batch, attempts []*asked) {
	events, accounts := accountsOf(attempts)
	b.Queue(`
		INSERT INTO buyers (event_id, account, seat_limit)
		SELECT e.id, a.account, e.account_limit
		FROM unnest($1::text[], $2::text[]) AS a (event_id, account) JOIN events e ON e.id = a.event_id
		ORDER BY e.id, a.account
		ON CONFLICT DO NOTHING`, events, accounts)
}

// lockAccounts makes everything else of these accounts, and of these orders'
// accounts, wait. A statement after it sees whatever they did before.
func lockAccounts(b *pgx.Batch, attempts []*asked, orders []uuid.UUID) {
	events, accounts := accountsOf(attempts)
	b.Queue(`
		SELECT FROM buyers WHERE (event_id, account) IN (
		  SELECT event_id, account FROM unnest($1::text[], $2::text[]) AS a (event_id, account)
		  UNION SELECT event_id, account FROM orders WHERE id = ANY($3))
		ORDER BY event_id, account FOR NO KEY UPDATE`, events, accounts, orders)
}

func accountsOf(attempts []*asked) (events, accounts []string) {
	for _, a := range attempts {
		events, accounts = append(events, a.Event), append(accounts, a.Account)
	}
	return events, accounts
}

// grant is the claim itself, for attempts whose accounts are locked. Seats are
// locked in id order; units of general admission in the order of their pos,
// those that somebody else is taking left out. Units go to the attempts in the
// order in which they came.
//
// A winner whose seats were not all changed would be half a claim: then the
// division by zero at the end undoes everything.
func grant(b *pgx.Batch, attempts []*asked, won *[]int) {
	c := columnsOf(attempts)
	for i, a := range attempts {
		c.want(i, a.chosen.seats)
	}
	b.Queue(`
		WITH asked AS MATERIALIZED (`+askedFor+`), allowed AS MATERIALIZED (`+withinLimits+`), named AS MATERIALIZED (
		  SELECT a.i, a.event_id, a.order_id, a.size, s.id, s.price_tier
		  FROM unnest($17::int[], $18::bigint[]) AS w (i, seat_id)
		  JOIN allowed a ON a.i = w.i
		  JOIN seats s ON s.id = w.seat_id
		  WHERE s.event_id = a.event_id AND s.order_id IS NULL AND NOT s.held_back
		  ORDER BY s.id
		  FOR NO KEY UPDATE OF s
		), pools AS (
		  SELECT event_id, tier, sum(size) AS size FROM allowed WHERE tier <> '' GROUP BY event_id, tier
		), units AS MATERIALIZED (
		  SELECT p.event_id, p.tier, u.id, row_number() OVER (PARTITION BY p.event_id, p.tier ORDER BY u.pos) AS nth
		  FROM pools p CROSS JOIN LATERAL (
		    SELECT s.id, s.pos FROM seats s
		    WHERE s.event_id = p.event_id AND s.price_tier = p.tier
		      AND s.kind = 'general' AND s.order_id IS NULL AND NOT s.held_back
		    ORDER BY s.pos LIMIT p.size
		    FOR NO KEY UPDATE SKIP LOCKED) u
		), portions AS (
		  SELECT i, event_id, order_id, size, tier, sum(size) OVER (PARTITION BY event_id, tier ORDER BY i) AS last
		  FROM allowed WHERE tier <> ''
		), picked AS (
		  SELECT i, event_id, order_id, size, id, price_tier FROM named
		  UNION ALL
		  SELECT p.i, p.event_id, p.order_id, p.size, u.id, p.tier FROM portions p
		  JOIN units u ON u.event_id = p.event_id AND u.tier = p.tier AND u.nth > p.last - p.size AND u.nth <= p.last
		), whole AS MATERIALIZED (
		  SELECT p.i, p.order_id, p.id, t.amount_minor
		  FROM (SELECT picked.*, count(*) OVER (PARTITION BY i) AS got FROM picked) p
		  JOIN price_tiers t ON t.event_id = p.event_id AND t.id = p.price_tier
		  WHERE p.got = p.size
		), totals AS MATERIALIZED ( -- apart, or a kept plan adds them up anew for each attempt
		  SELECT i, sum(amount_minor) AS amount_minor FROM whole GROUP BY i
		), winners AS MATERIALIZED ( -- by a full join, or a kept plan compares each with each
		  SELECT a.*, t.amount_minor FROM allowed a FULL JOIN totals t ON t.i = a.i WHERE coalesce(t.amount_minor, -1) >= 0
		), ordered AS (
		  INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, code,
		    seat_count, amount_minor, currency, pay_by)
		  SELECT order_id, event_id, account, holder, epoch, place, take, attempt, body_hash, code,
		    size, amount_minor, currency, clock_timestamp() + pay_within * (1 + 0.1 * random())
		  FROM winners
		), lines AS (
		  INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT order_id, id, amount_minor FROM whole
		), changed AS (
		  UPDATE seats s SET order_id = w.order_id, claimed_at = clock_timestamp()
		  FROM whole w WHERE s.id = w.id AND s.order_id IS NULL AND NOT s.held_back
		  RETURNING w.i
		), counted AS (
		  UPDATE buyers b SET held = b.held + w.size, seat_limit = w.account_limit
		  FROM winners w WHERE b.event_id = w.event_id AND b.account = w.account
		), spent AS (
		  UPDATE presale_codes c SET used = c.used + w.orders, seats_used = c.seats_used + w.seats
		  FROM (SELECT event_id, code, count(*) AS orders, sum(size) AS seats FROM winners WHERE code IS NOT NULL GROUP BY event_id, code) w
		  WHERE c.event_id = w.event_id AND c.hash = w.code
		)
		SELECT i, 1 / (sum(n) = 0)::int
		FROM (SELECT i, size AS n FROM winners UNION ALL SELECT i, -1 FROM changed) balance
		GROUP BY i ORDER BY i`,
		c.all()...,
	).Query(func(rows pgx.Rows) (err error) {
		*won, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (i int, err error) {
			var whole int
			return i, row.Scan(&i, &whole)
		})
		return err
	})
}

// askedFor are attempts as rows, from the first sixteen of their columns.
const askedFor = `
		  SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
		      $8::int[], $9::text[], $10::bytea[], $11::uuid[], $12::int[], $13::text[], $14::bytea[], $15::int[], $16::int[])
		    AS a (i, event_id, account, holder, epoch, place, take, quota, attempt, body_hash, order_id, size, tier, code, uses, code_seats)`

// withinLimits are those that nothing stands in the way of but the seats. Rules of
// tiers and presales cost nothing where an event has none.
const withinLimits = `
		  SELECT a.*, e.currency, e.account_limit, e.pay_within
		  FROM asked a
		  JOIN events e ON e.id = a.event_id
		  JOIN buyers b ON b.event_id = a.event_id AND b.account = a.account
		  CROSS JOIN LATERAL (
		    SELECT coalesce(bool_or(o.status = 'pending' OR o.attempt = a.attempt), false) AS barred,
		      coalesce(sum(o.seat_count - o.given_back) FILTER (WHERE o.epoch = a.epoch AND o.take = a.take
		        AND o.status IN ('pending', 'paid')), 0) AS by_pass,
		      count(*) FILTER (WHERE o.status = 'expired') AS lapses, max(o.pay_by) FILTER (WHERE o.status = 'expired') AS lapsed_at
		    FROM orders o WHERE o.event_id = a.event_id AND o.account = a.account
		  ) own
		  WHERE e.epoch = a.epoch AND e.control IN ('run', 'paused') AND ` + mayClaim + `
		    AND (e.closes_at IS NULL OR statement_timestamp() < e.closes_at)
		    AND a.size <= e.order_limit AND b.held + a.size <= e.account_limit
		    AND NOT own.barred AND own.by_pass + a.size <= a.quota
		    AND (own.lapses < e.lapse_limit OR own.lapsed_at + e.cool_down <= statement_timestamp())
		    AND (a.code IS NULL OR EXISTS (SELECT FROM presale_codes c WHERE c.event_id = a.event_id AND c.hash = a.code
		      AND c.used + a.uses <= c.uses AND c.seats_used + a.code_seats <= c.seats))
		    AND (e.tier_limits IS NULL OR NOT EXISTS (` + overTier + `))
		    AND (e.presales IS NULL OR NOT EXISTS (` + kept + `))`

// mayClaim: by a pass where there is a line, and without one, from the opening on,
// where there is none. Whoever has a pass may buy while nobody is let in; where there
// is no line, a pause stops them all.
const mayClaim = `(e.admission = 'line' AND a.take > 0
		      OR e.admission = 'open' AND a.take = 0 AND e.control = 'run' AND e.opens_at <= statement_timestamp())`

// columns are attempts as Postgres takes many at once: an array a field.
type columns struct {
	i, quota, size                    []int32
	event, account, holder, key, tier []string
	epoch, place, take                []int64
	hash                              [][]byte
	order                             []uuid.UUID
	code                              [][]byte
	uses, codeSeats                   []int32 // of its code, with those of the attempts before it
	wantedBy                          []int32 // the attempt's position,
	wanted                            []int64 // and one seat that it names
}

func columnsOf(attempts []*asked) (c columns) {
	var budget codeBudget
	for i, a := range attempts {
		c.i = append(c.i, int32(i))
		c.event, c.account, c.holder = append(c.event, a.Event), append(c.account, a.Account), append(c.holder, a.Holder)
		c.epoch, c.place, c.take = append(c.epoch, a.Epoch), append(c.place, a.Place), append(c.take, a.Take)
		c.quota, c.size = append(c.quota, int32(a.Quota)), append(c.size, int32(a.size()))
		c.key, c.hash = append(c.key, a.Key), append(c.hash, a.BodyHash[:])
		c.order, c.tier = append(c.order, a.order), append(c.tier, a.Tier)
		uses, seats := budget.with(a)
		c.code, c.uses, c.codeSeats = append(c.code, a.Code), append(c.uses, uses), append(c.codeSeats, seats)
		c.want(i, a.Seats)
	}
	return c
}

// all are the columns as askedFor and withinLimits take them.
func (c *columns) all() []any {
	return []any{
		c.i, c.event, c.account, c.holder, c.epoch, c.place, c.take, c.quota, c.key, c.hash, c.order, c.size, c.tier,
		c.code, c.uses, c.codeSeats, c.wantedBy, c.wanted,
	}
}

func (c *columns) want(i int, seats []int64) {
	for _, seat := range seats {
		c.wantedBy, c.wanted = append(c.wantedBy, int32(i)), append(c.wanted, seat)
	}
}
