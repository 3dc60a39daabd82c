package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
)

// oneSeat: a thousand want the same seat at the same instant, and hear of it.
func (b *box) oneSeat(ctx context.Context, _ string, e Effort) ([]Figure, error) {
	p95 := func(each []time.Duration) float64 {
		slices.Sort(each)
		return float64(each[len(each)*95/100].Microseconds()) / 1000
	}
	n := e.Contenders
	took, err := turns(min(e.Rounds, 3),
		func() (float64, error) {
			h, err := b.hall(ctx, "numbered", 1)
			if err != nil {
				return 0, err
			}
			r, err := b.claims(ctx, n, func(int) inventory.Attempt { return h.attempt(one(h, 0)) }, inventory.Claimed, inventory.Taken)
			return p95(r.each), err
		},
		func() (float64, error) {
			h, err := b.hall(ctx, "numbered", 1)
			if err != nil {
				return 0, err
			}
			each := make([]time.Duration, n)
			err = together(n, n, func(i int) error {
				asked := time.Now()
				err := claimAlone(ctx, h, i, h.seats[0])
				each[i] = time.Since(asked)
				if errors.Is(err, errNotSold) {
					err = nil
				}
				return err
			})
			return p95(each), err
		})
	if err != nil {
		return nil, err
	}
	return []Figure{faster("one_seat_contended_p95", "ms", took[0], took[1])}, nil
}

const (
	hot     = 64 // seats that everybody wants
	wanted  = 4  // of these, by each
	workers = 16 // transactions at once, on either side
)

// hotSeats: attempts a second that are decided where everybody wants 4 of 64 seats,
// and whoever gets them lets them go; against a loop that updates seat by seat.
func (b *box) hotSeats(ctx context.Context, _ string, e Effort) ([]Figure, error) {
	h, err := b.hall(ctx, "numbered", hot)
	if err != nil {
		return nil, err
	}
	pick := func() (seats []int64) {
		for _, i := range rand.Perm(hot)[:wanted] {
			seats = append(seats, h.seats[i])
		}
		return seats
	}
	var ours float64
	d, err := b.during(ctx, func() (err error) {
		ours, err = b.lettingGo(ctx, h, e, pick)
		return err
	})
	if err != nil {
		return nil, err
	}
	began, decided := time.Now(), atomic.Int64{}
	err = together(workers, workers, func(int) error {
		for time.Since(began) < e.Watch {
			if err := loop(ctx, h, int(h.takes.Add(1)), pick()); err != nil {
				return err
			}
			decided.Add(1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []Figure{
		times("hot_seats_vs_loop", "attempts/s", ours, float64(decided.Load())/time.Since(began).Seconds()),
		{Name: "hot_seats_deadlocks", Ratio: d.deadlocks, Value: d.deadlocks, Unit: "deadlocks"},
	}, nil
}

// lettingGo has buyers claim through one claimer, and end at once what they got.
func (b *box) lettingGo(ctx context.Context, h *hall, e Effort, pick func() []int64) (float64, error) {
	c, stop, err := b.claimer(ctx, workers, prometheus.NewRegistry())
	if err != nil {
		return 0, err
	}
	defer stop()
	began, decided := time.Now(), atomic.Int64{}
	err = together(4*buyers, 4*buyers, func(int) error {
		for time.Since(began) < e.Watch {
			a := c.Claim(ctx, h.attempt(func(a *inventory.Attempt) { a.Seats = pick() }))
			decided.Add(1)
			if a.Outcome == inventory.Taken {
				continue
			}
			if a.Outcome != inventory.Claimed {
				return fmt.Errorf("hot seats: %s", a.Outcome)
			}
			err := pg.InTx(ctx, b.pool, func(tx pgx.Tx) error {
				_, err := inventory.End(ctx, tx, []uuid.UUID{a.Order}, inventory.Cancelled)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return float64(decided.Load()) / time.Since(began).Seconds(), err
}

// loop is what would be written first: an order, then an update for each of its
// seats as they were named; one that is taken undoes it all, and so does a deadlock.
func loop(ctx context.Context, h *hall, i int, seats []int64) error {
	id := newID()
	err := pg.InTx(ctx, h.box.pool, func(tx pgx.Tx) error {
		if err := claimAloneIn(ctx, tx, h, i, id, seats[0]); err != nil {
			return err
		}
		for _, seat := range seats[1:] {
			tag, err := tx.Exec(ctx, `UPDATE seats SET order_id = $1, claimed_at = clock_timestamp() WHERE id = $2 AND order_id IS NULL`, id, seat)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return errNotSold
			}
		}
		return nil
	})
	if err == nil {
		_, err = h.box.pool.Exec(ctx, `UPDATE seats SET order_id = NULL, claimed_at = NULL WHERE order_id = $1`, id)
	}
	var said *pgconn.PgError
	if errors.Is(err, errNotSold) || errors.As(err, &said) && said.Code == "40P01" {
		return nil
	}
	return err
}
