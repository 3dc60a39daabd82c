package bench

import (
	"context"
	"slices"
	"strings"

	"waitroom/internal/inventory"
)

// work is what a claim costs the server's log: bytes against one claim alone, and
// claims for each of its syncs against the claims of a batch.
func (b *box) work(ctx context.Context, _ string, e Effort) ([]Figure, error) {
	n := float64(e.Claims)
	h, err := b.hall(ctx, "numbered", e.Claims)
	if err != nil {
		return nil, err
	}
	var r rush
	batched, err := b.during(ctx, func() (err error) {
		r, err = b.claims(ctx, e.Claims, func(i int) inventory.Attempt { return h.attempt(one(h, i)) }, inventory.Claimed)
		return err
	})
	if err != nil {
		return nil, err
	}
	if h, err = b.hall(ctx, "numbered", e.Claims); err != nil {
		return nil, err
	}
	alone, err := b.during(ctx, func() error {
		return together(anchors, e.Claims, func(i int) error { return singly(ctx, h, i) })
	})
	return []Figure{
		times("claims_wal_vs_single", "bytes", batched.walBytes/n, alone.walBytes/n),
		times("claims_per_sync_vs_batch", "claims", n/max(1, batched.walSyncs), r.batch),
	}, err
}

// nearSoldOut: what a claim reads when of a hall's units one in a hundred is left
// and nothing was ever vacuumed, against the first claims of the same hall.
func (b *box) nearSoldOut(ctx context.Context, _ string, e Effort) (all []Figure, err error) {
	for kind, wish := range map[string]func(*hall, int) func(*inventory.Attempt){"general": unit, "numbered": one} {
		seats := 5 * e.Claims
		some := seats / 100
		h, err := b.hall(ctx, kind, seats)
		if err != nil {
			return nil, err
		}
		read := func(from int) (buffers float64, err error) {
			d, err := b.during(ctx, func() error {
				_, err := b.claims(ctx, some, func(i int) inventory.Attempt { return h.attempt(wish(h, from+i)) }, inventory.Claimed)
				return err
			})
			return d.buffers / float64(some), err
		}
		fresh, err := read(0)
		if err == nil {
			err = h.sell(ctx, some, seats-some)
		}
		if err != nil {
			return nil, err
		}
		last, err := read(seats - some)
		if err != nil {
			return nil, err
		}
		name := "claims_99_buffers"
		if kind == "numbered" {
			name = "seats_99_buffers"
		}
		all = append(all, times(name, "buffers", last, fresh))
	}
	slices.SortFunc(all, func(a, b Figure) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// sell puts the hall's seats of these pos each on an order of its own, a thousand
// at once: as many dead rows as a sale leaves.
func (h *hall) sell(ctx context.Context, from, to int) error {
	for pos := from; pos < to; pos += 1000 {
		_, err := h.box.pool.Exec(ctx, `
			WITH sold AS (
			  SELECT id, gen_random_uuid() AS order_id, 'crowd-' || pos AS fan, pos FROM seats
			  WHERE event_id = $1 AND pos >= $2 AND pos < $3 AND order_id IS NULL ORDER BY id
			), fans AS (
			  INSERT INTO buyers (event_id, account, held, seat_limit) SELECT $1, fan, 1, 100 FROM sold
			), ordered AS (
			  INSERT INTO orders (id, event_id, account, holder, epoch, place, take, attempt, body_hash, seat_count, amount_minor, currency, pay_by)
			  SELECT order_id, $1, fan, fan, 1, 1000000 + pos, 1000000 + pos, 'k', sha256(fan::bytea), 1, 5000, 'EUR', now() + interval '1 hour' FROM sold
			), lines AS (
			  INSERT INTO order_lines (order_id, seat_id, amount_minor) SELECT order_id, id, 5000 FROM sold
			)
			UPDATE seats s SET order_id = sold.order_id, claimed_at = now() FROM sold WHERE s.id = sold.id`, h.event, pos, min(pos+1000, to))
		if err != nil {
			return err
		}
	}
	return nil
}
