package inventory

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// standing is how the sale stands to one attempt, at one instant. Pending
// orders whose time is over (lapsed) are left out of every figure: they are
// about to end, and a claim may end them itself.
type standing struct {
	i                        int
	prior                    uuid.UUID // the order that was made under its key
	sameBody                 bool
	shut                     Outcome // why nothing is sold to it now; empty: it is
	orderLimit, accountLimit int
	held, heldByPass         int // seats, by the account and of these by the pass
	lapses, lapseLimit       int // orders that the account let lapse
	cooling                  time.Duration
	codeKnown                bool
	codeUses, codeSeats      int         // that the code is good for, still
	codeComing, codeBack     int         // uses and seats of it in lapsed orders
	lapsedByCode             []uuid.UUID // these orders
	overTier, kept           bool        // of a tier, or sold to codes that it has not
	keptSeats                []int64     // of the named ones
	pending                  uuid.UUID   // the account's pending order
	taken                    []int64     // the named seats that it cannot have
	free, coming             int         // units of its tier, free and in lapsed orders; counted no further than is asked for
	lapsedOwn, lapsed        []uuid.UUID // the account's own order; those that hold what it wants
}

// verdict is what a standing means: an answer, or "again", because nothing of
// it stands in the way, once the lapsed orders have ended.
type verdict struct {
	answer Answer
	again  bool
	lapsed []uuid.UUID
}

// judge gives the first reason why not, the key's before all others.
func (a *asked) judge(s standing) verdict {
	size := a.size()
	switch {
	case s.prior != uuid.Nil && s.sameBody:
		return verdict{answer: Answer{Outcome: Already, Order: s.prior}}
	case s.prior != uuid.Nil:
		return verdict{answer: Answer{Outcome: KeyReused}}
	case s.shut != "":
		return verdict{answer: Answer{Outcome: s.shut}}
	case size > s.orderLimit:
		return verdict{answer: Answer{Outcome: OverLimit, Limit: OrderLimit}}
	case s.pending != uuid.Nil:
		return verdict{answer: Answer{Outcome: OverLimit, Limit: PendingOrder, Order: s.pending}}
	case s.lapses >= s.lapseLimit && s.cooling > 0:
		return verdict{answer: Answer{Outcome: CoolDown, Wait: s.cooling}}
	case a.Code != nil && !s.codeKnown:
		return verdict{answer: Answer{Outcome: CodeUnknown}}
	case a.Code != nil && (s.codeUses+s.codeComing < 1 || s.codeSeats+s.codeBack < size):
		return verdict{answer: Answer{Outcome: CodeSpent, Left: s.codeLeft()}}
	case s.heldByPass+size > a.Quota:
		return verdict{answer: Answer{Outcome: OverLimit, Limit: PassLimit}}
	case s.held+size > s.accountLimit:
		return verdict{answer: Answer{Outcome: OverLimit, Limit: AccountLimit}}
	case s.overTier || a.chosen.over:
		return verdict{answer: Answer{Outcome: OverLimit, Limit: TierLimit}}
	case s.kept || a.chosen.kept:
		return verdict{answer: Answer{Outcome: CodeNeeded, Taken: s.keptSeats}}
	case len(s.taken) > 0:
		return verdict{answer: Answer{Outcome: Taken, Taken: s.taken}}
	case a.chosen.none:
		return verdict{answer: Answer{Outcome: SoldOut, Left: a.chosen.left}}
	case a.Best != nil:
		return verdict{again: true, lapsed: append(s.inTheWay(size), a.chosen.lapsed...)}
	case a.Tier != "" && s.free+s.coming < size:
		return verdict{answer: Answer{Outcome: SoldOut, Left: s.free}}
	case a.Tier != "" && s.free >= size:
		return verdict{again: true, lapsed: s.inTheWay(size)}
	}
	return verdict{again: true, lapsed: append(s.inTheWay(size), s.lapsed...)}
}

// inTheWay are the lapsed orders that have what the attempt needs beside seats: its
// account's turn, and what its code is good for.
func (s standing) inTheWay(size int) []uuid.UUID {
	if s.codeKnown && (s.codeUses < 1 || s.codeSeats < size) {
		return append(s.lapsedOwn, s.lapsedByCode...)
	}
	return s.lapsedOwn
}

// codeLeft is how many seats the code is good for now.
func (s standing) codeLeft() int {
	if s.codeUses < 1 {
		return 0
	}
	return s.codeSeats
}

// explain says, of attempts that were granted nothing, why. It reads one fresh
// snapshot and locks nothing: what it refuses was so at that instant. Of the
// lapsed orders that hold general admission it takes any, so that claimers do
// not all go for the same.
func explain(ctx context.Context, conn *pgxpool.Conn, attempts []*asked) ([]verdict, error) {
	c := columnsOf(attempts)
	rows, err := conn.Query(ctx, `
		WITH asked AS MATERIALIZED (`+askedFor+`), named AS MATERIALIZED (
		  SELECT w.i,
		    array_agg(w.seat_id ORDER BY w.seat_id) FILTER (WHERE s.id IS NULL OR s.held_back
		      OR o.status = 'paid' OR o.status = 'pending' AND o.pay_by > now()) AS taken,
		    array_agg(DISTINCT o.id) FILTER (WHERE o.status = 'pending' AND o.pay_by <= now()) AS lapsed
		  FROM unnest($17::int[], $18::bigint[]) AS w (i, seat_id)
		  JOIN asked a ON a.i = w.i
		  LEFT JOIN seats s ON s.id = w.seat_id AND s.event_id = a.event_id
		  LEFT JOIN orders o ON o.id = s.order_id
		  GROUP BY w.i
		), lapsed AS MATERIALIZED (
		  SELECT id, event_id, code, seat_count FROM orders
		  WHERE status = 'pending' AND ended_at IS NULL AND pay_by <= now() ORDER BY pay_by
		), pools AS MATERIALIZED (
		  SELECT p.event_id, p.tier, free.units AS free, lapsed.units AS coming, lapsed.orders AS lapsed
		  FROM (SELECT event_id, tier, sum(size) AS size FROM asked WHERE tier <> '' GROUP BY event_id, tier) p
		  CROSS JOIN LATERAL (
		    SELECT count(*) AS units FROM (
		      SELECT FROM seats s
		      WHERE s.event_id = p.event_id AND s.price_tier = p.tier
		        AND s.kind = 'general' AND s.order_id IS NULL AND NOT s.held_back
		      LIMIT p.size) f
		  ) free
		  CROSS JOIN LATERAL (
		    SELECT sum(units) AS units, array_agg(id) AS orders FROM (
		      SELECT o.id, count(*) AS units, sum(count(*)) OVER (ORDER BY random() ROWS UNBOUNDED PRECEDING) AS upto
		      FROM lapsed o JOIN seats s ON s.order_id = o.id
		      WHERE o.event_id = p.event_id AND s.price_tier = p.tier AND s.kind = 'general'
		      GROUP BY o.id) l
		    WHERE upto - units < p.size
		  ) lapsed
		)
		SELECT a.i, prior.id, coalesce(prior.body_hash = a.body_hash, false),
		  CASE
		    WHEN e.id IS NULL OR e.epoch <> a.epoch OR e.control NOT IN ('run', 'paused') OR e.closes_at <= now() THEN 'sale_closed'
		    WHEN `+mayClaim+` THEN ''
		    WHEN e.admission <> 'open' OR a.take <> 0 THEN 'sale_closed'
		    WHEN e.opens_at <= now() THEN 'sale_paused'
		    ELSE 'sale_not_open'
		  END,
		  coalesce(e.order_limit, 0), coalesce(e.account_limit, 0),
		  own.held, own.by_pass, own.pending,
		  own.lapses, coalesce(e.lapse_limit, 0), coalesce(own.lapsed_at + e.cool_down - now(), interval '0'),
		  code.uses IS NOT NULL, coalesce(code.uses, 0), coalesce(code.seats, 0), coalesce(code.coming, 0), coalesce(code.back, 0), code.lapsed,
		  coalesce(e.tier_limits IS NOT NULL AND EXISTS (`+overTier+`), false),
		  coalesce(e.presales IS NOT NULL AND EXISTS (`+kept+`), false),
		  CASE WHEN e.presales IS NOT NULL THEN ARRAY(
		    SELECT w.seat_id FROM unnest($17::int[], $18::bigint[]) AS w (i, seat_id)
		    JOIN LATERAL (SELECT s.price_tier AS tier, s.section FROM seats s WHERE s.id = w.seat_id) p ON `+keptPart+`
		    WHERE w.i = a.i ORDER BY w.seat_id) END,
		  named.taken,
		  coalesce(pools.free, 0), coalesce(pools.coming, 0), own.lapsed, coalesce(named.lapsed, pools.lapsed)
		FROM asked a
		LEFT JOIN events e ON e.id = a.event_id
		LEFT JOIN orders prior ON prior.event_id = a.event_id AND prior.account = a.account AND prior.attempt = a.attempt
		LEFT JOIN named ON named.i = a.i
		LEFT JOIN pools ON pools.event_id = a.event_id AND pools.tier = a.tier
		CROSS JOIN LATERAL (
		  SELECT coalesce(sum(o.seat_count - o.given_back) FILTER (WHERE live), 0) AS held,
		    coalesce(sum(o.seat_count - o.given_back) FILTER (WHERE live AND o.epoch = a.epoch AND o.take = a.take), 0) AS by_pass,
		    (array_agg(o.id) FILTER (WHERE live AND o.status = 'pending'))[1] AS pending,
		    array_agg(o.id) FILTER (WHERE NOT live AND o.status = 'pending') AS lapsed,
		    count(*) FILTER (WHERE NOT live) AS lapses, max(o.pay_by) FILTER (WHERE NOT live) AS lapsed_at
		  FROM orders o CROSS JOIN LATERAL (SELECT o.status = 'paid' OR o.status = 'pending' AND o.pay_by > now() AS live) l
		  WHERE o.event_id = a.event_id AND o.account = a.account AND o.status <> 'cancelled'
		) own
		LEFT JOIN LATERAL (
		  SELECT c.uses - c.used AS uses, c.seats - c.seats_used AS seats, l.orders AS coming, l.seats AS back, l.ids AS lapsed
		  FROM presale_codes c CROSS JOIN LATERAL (
		    SELECT count(*) AS orders, sum(seat_count) AS seats, array_agg(id) AS ids
		    FROM lapsed l WHERE l.event_id = c.event_id AND l.code = c.hash) l
		  WHERE c.event_id = a.event_id AND c.hash = a.code
		) code ON true
		ORDER BY a.i`,
		c.all()...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (verdict, error) {
		var s standing
		var prior, pending *uuid.UUID
		err := row.Scan(&s.i, &prior, &s.sameBody, &s.shut, &s.orderLimit, &s.accountLimit,
			&s.held, &s.heldByPass, &pending, &s.lapses, &s.lapseLimit, &s.cooling,
			&s.codeKnown, &s.codeUses, &s.codeSeats, &s.codeComing, &s.codeBack, &s.lapsedByCode,
			&s.overTier, &s.kept, &s.keptSeats, &s.taken, &s.free, &s.coming, &s.lapsedOwn, &s.lapsed)
		if err != nil {
			return verdict{}, err
		}
		s.prior, s.pending = orNil(prior), orNil(pending)
		return attempts[s.i].judge(s), nil
	})
}

func orNil(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
