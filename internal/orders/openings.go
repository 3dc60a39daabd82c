package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// openings are what the provider said to those who open payments of one event. It
// may refuse one order for what it is, and all of an event for what that is: its
// price, its currency. Who reads the reports decides what that shuts (admission).
type openings struct {
	opened, refused time.Time
	refusing        time.Time              // when the first refusal began, after the last opening
	orders          map[uuid.UUID]struct{} // whose openings were refused since then; refusedOrders at most
	told            bool                   // reported as it is
}

// As many orders as anybody asks for: more would say no more.
const refusedOrders = 5

// An event of which nobody opens payments for so long is forgotten, here and by
// whoever reads.
const openingsKept = time.Hour

// of is under the lock.
func (w *Watched) of(event string) *openings {
	o := w.openings[event]
	if o == nil {
		o = &openings{orders: map[uuid.UUID]struct{}{}}
		w.openings[event] = o
	}
	return o
}

func (o *openings) saw(refused bool, order uuid.UUID, began, now time.Time) {
	o.told = false
	if !refused {
		o.opened, o.refusing = now, time.Time{}
		clear(o.orders)
		return
	}
	o.refused = now
	if o.refusing.IsZero() {
		o.refusing = began
	}
	if o.refusing.Before(o.opened) { // others were opened while it waited
		o.refusing = o.opened
	}
	if len(o.orders) < refusedOrders {
		o.orders[order] = struct{}{}
	}
}

// openingRows are rows to write, by column; times are ages, nil if it never was.
type openingRows struct {
	events                    []string
	opened, refused, refusing []*time.Duration
	orders                    []int16
	of                        []*openings
}

// news are the events of which something was seen since the last report.
func (w *Watched) news(now time.Time) (r openingRows) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for event, o := range w.openings {
		if now.Sub(o.opened) > openingsKept && now.Sub(o.refused) > openingsKept {
			delete(w.openings, event)
			continue
		}
		if o.told {
			continue
		}
		o.told = true
		r.events, r.of, r.orders = append(r.events, event), append(r.of, o), append(r.orders, int16(len(o.orders)))
		r.opened, r.refused, r.refusing = append(r.opened, age(now, o.opened)), append(r.refused, age(now, o.refused)), append(r.refusing, age(now, o.refusing))
	}
	return r
}

// reportOpenings writes the news. What could not be written is news again.
func (w *Watched) reportOpenings(ctx context.Context, pool *pgxpool.Pool, replica string) error {
	r := w.news(time.Now())
	_, err := pool.Exec(ctx, `
		WITH forgotten AS (
		  DELETE FROM opening_reports WHERE at < clock_timestamp() - $7::interval AND NOT (replica = $1 AND event_id = ANY ($2))
		)
		INSERT INTO opening_reports (replica, event_id, at, opened_at, refused_at, refusing_since, refused_orders)
		SELECT $1, event, clock_timestamp(), clock_timestamp() - opened, clock_timestamp() - refused, clock_timestamp() - refusing, orders
		FROM unnest($2::text[], $3::interval[], $4::interval[], $5::interval[], $6::smallint[]) AS r (event, opened, refused, refusing, orders)
		ON CONFLICT (replica, event_id) DO UPDATE SET at = excluded.at, opened_at = excluded.opened_at, refused_at = excluded.refused_at,
		  refusing_since = excluded.refusing_since, refused_orders = excluded.refused_orders`,
		replica, r.events, r.opened, r.refused, r.refusing, r.orders, openingsKept)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, o := range r.of {
			o.told = false
		}
		return fmt.Errorf("opening report of %s: %w", replica, err)
	}
	return nil
}
