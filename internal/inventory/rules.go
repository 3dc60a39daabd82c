package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/block"
	"waitroom/internal/pg"
)

// TierLimits are the seats of a tier that one account may hold and have paid for,
// where a tier has a limit of its own.
type TierLimits map[string]int

// wantedParts are what an attempt wants of each tier and section: of the seats
// that it names, or that were chosen for it, and of general admission, whose
// sections say nothing.
const wantedParts = `
		SELECT s.price_tier AS tier, s.section, count(*) AS n
		FROM unnest($17::int[], $18::bigint[]) AS w (i, seat_id) JOIN seats s ON s.id = w.seat_id
		WHERE w.i = a.i GROUP BY s.price_tier, s.section
		UNION ALL SELECT a.tier, NULL, a.size WHERE a.tier <> ''`

// overTier are the tiers of which the attempt wants more than its account may
// have. What the account has cannot change meanwhile: it is locked.
const overTier = `
		SELECT FROM (SELECT tier, sum(n) AS n FROM (` + wantedParts + `) part GROUP BY tier) p
		WHERE e.tier_limits ? p.tier AND p.n + (` + heldOfTier + `) > (e.tier_limits ->> p.tier)::int`

// heldOfTier is how much of a tier the attempt's account has. Orders whose time is
// over are about to end.
const heldOfTier = `
		SELECT count(*) FROM orders h JOIN order_lines l ON l.order_id = h.id JOIN seats s ON s.id = l.seat_id
		WHERE h.event_id = a.event_id AND h.account = a.account AND l.given_back_by IS NULL AND s.price_tier = p.tier
		  AND (h.status = 'paid' OR h.status = 'pending' AND h.pay_by > statement_timestamp())`

// kept are the parts that are sold to presale codes, of which the attempt's is
// none.
const kept = `
		SELECT FROM (` + wantedParts + `) p WHERE ` + keptPart

const keptPart = `EXISTS (
		  SELECT FROM jsonb_to_recordset(e.presales) AS k (name text, tiers jsonb, sections jsonb, until timestamptz)
		  WHERE (k.until IS NULL OR statement_timestamp() < k.until) AND (k.tiers ? p.tier OR k.sections ? p.section)
		  HAVING bool_and(k.name IS DISTINCT FROM
		    (SELECT c.presale FROM presale_codes c WHERE c.event_id = a.event_id AND c.hash = a.code)))`

// orNull is what is set as JSON; nil, where nothing is.
func orNull[T TierLimits | []Presale](v T) *string {
	if len(v) == 0 {
		return nil
	}
	text, _ := json.Marshal(v) // texts, numbers and times always marshal
	return new(string(text))
}

// rules are what an event says of who may have which of its seats.
type rules struct {
	limits   TierLimits
	presales []Presale // those that are not over
}

func rulesOf(limits TierLimits, presales []Presale, now time.Time) (r rules) {
	r.limits = limits
	for _, p := range presales {
		if p.Until == nil || now.Before(*p.Until) {
			r.presales = append(r.presales, p)
		}
	}
	return r
}

func (r rules) none() bool { return len(r.limits) == 0 && len(r.presales) == 0 }

// standingOf is who asks, as far as rules care.
type standingOf struct {
	presale string         // that the code opens; empty: none
	held    map[string]int // seats of each tier
}

// kept says that a seat is sold to codes of which the asker has none.
func (r rules) kept(who standingOf, tier, section string) (kept bool) {
	for _, p := range r.presales {
		if slices.Contains(p.Tiers, tier) || slices.Contains(p.Sections, section) {
			if p.Name == who.presale {
				return false
			}
			kept = true
		}
	}
	return kept
}

// room is how many seats of a tier may still be the asker's.
func (r rules) room(who standingOf, tier string) int {
	if limit, limited := r.limits[tier]; limited {
		return limit - who.held[tier]
	}
	return mostSeats
}

// standings reads who asks, for those that leave the choice to us in halls with
// rules.
func standings(ctx context.Context, tx pgx.Tx, attempts []*asked, open map[string]*openHall) (map[int]standingOf, error) {
	if !slices.ContainsFunc(attempts, func(a *asked) bool {
		h := open[a.Event]
		return a.Best != nil && h != nil && !h.rules.none()
	}) {
		return nil, nil
	}
	c := columnsOf(attempts)
	rows, err := tx.Query(ctx, `
		SELECT a.i, coalesce((SELECT c.presale FROM presale_codes c WHERE c.event_id = a.event_id AND c.hash = a.code), ''),
		  (SELECT jsonb_object_agg(p.tier, (`+heldOfTier+`)) FROM events e, jsonb_object_keys(e.tier_limits) AS p (tier) WHERE e.id = a.event_id)
		FROM unnest($1::int[], $2::text[], $3::text[], $4::bytea[]) AS a (i, event_id, account, code)`, c.i, c.event, c.account, c.code)
	if err != nil {
		return nil, err
	}
	who := map[int]standingOf{}
	var i int
	var one standingOf
	_, err = pgx.ForEachRow(rows, []any{&i, &one.presale, &one.held}, func() error {
		who[i], one = one, standingOf{}
		return nil
	})
	return who, err
}

// most is how many seats of a tier may be among those wished for, where not all may.
func (h *openHall) most(who standingOf, wish Best) map[int]int {
	most := map[int]int{}
	for i, tier := range h.tiers {
		if room := h.rules.room(who, tier); room < wish.Count {
			most[i] = room
		}
	}
	return most
}

// open are the seats of which the rules leave any to who asks.
func (h *openHall) open(who standingOf, wish Best) func(block.Seat) bool {
	among := h.among(wish)
	if h.rules.none() {
		return among
	}
	return func(s block.Seat) bool {
		tier := h.tiers[s.Tier]
		return (among == nil || among(s)) && h.rules.room(who, tier) > 0 && !h.rules.kept(who, tier, s.Section)
	}
}

// Parts are what a hall's rules may name: its tiers, and its sections with
// numbered seats.
type Parts struct{ Tiers, Sections []string }

// PartsOf are an event's; all empty: it has nothing to sell yet.
func PartsOf(ctx context.Context, pool *pgxpool.Pool, event string) (Parts, error) {
	var p Parts
	err := pg.InTx(ctx, pool, func(tx pgx.Tx) (err error) {
		p, err = partsOf(ctx, tx, event)
		return err
	})
	if err != nil {
		return Parts{}, fmt.Errorf("parts of %s: %w", event, err)
	}
	return p, nil
}

func partsOf(ctx context.Context, tx pgx.Tx, event string) (p Parts, err error) {
	return p, tx.QueryRow(ctx, `
		SELECT ARRAY(SELECT id FROM price_tiers WHERE event_id = $1 ORDER BY id),
		  ARRAY(SELECT DISTINCT section FROM seats WHERE event_id = $1 AND kind <> 'general' ORDER BY section)`,
		event).Scan(&p.Tiers, &p.Sections)
}

// Lack is the first thing that rules name and the hall has not, and the setting
// that names it: a limit of a misspelt tier would be no limit. A hall that is not
// there yet lacks nothing.
func (p Parts) Lack(limits TierLimits, presales []Presale) (setting, name string) {
	if len(p.Tiers) == 0 {
		return "", ""
	}
	for tier := range limits {
		if !slices.Contains(p.Tiers, tier) {
			return "tier_limits", tier
		}
	}
	for _, presale := range presales {
		for _, tier := range presale.Tiers {
			if !slices.Contains(p.Tiers, tier) {
				return "presales", tier
			}
		}
		for _, section := range presale.Sections {
			if !slices.Contains(p.Sections, section) {
				return "presales", section
			}
		}
	}
	return "", ""
}

// Senses names the setting that no sale could have, and what it may be; empty:
// both may be so.
func Senses(limits TierLimits, presales []Presale) (setting, want string) {
	if limits != nil && (len(limits) == 0 || len(limits) > 1000) {
		return "tier_limits", "tiers with 1 to 10000 tickets each, or null: no tier has a limit of its own"
	}
	for tier, n := range limits {
		if !text(tier, 400) || n < 1 || n > 10_000 {
			return "tier_limits", "tiers with 1 to 10000 tickets each, or null: no tier has a limit of its own"
		}
	}
	if presales != nil && (len(presales) == 0 || len(presales) > 100) {
		return "presales", "1 to 100 presales, or null: everything is sold to everybody"
	}
	names := map[string]bool{}
	for _, p := range presales {
		if !text(p.Name, 100) || names[p.Name] || len(p.Tiers)+len(p.Sections) == 0 || len(p.Tiers)+len(p.Sections) > 1000 {
			return "presales", "each a name of its own of 1 to 100 bytes, and tiers or sections"
		}
		names[p.Name] = true
	}
	return "", ""
}
