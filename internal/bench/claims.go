package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"waitroom/internal/inventory"
)

// claiming: seats a second, by the claimer as it is shipped, against what would
// be written first.
func claiming(ctx context.Context, dir string, e Effort, out io.Writer) (all []Figure, err error) {
	b, err := openBox(ctx)
	if err != nil {
		fmt.Fprintln(out, "no figures of claims:", err) //nolint:errcheck // as above
		return nil, nil
	}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, part := range []func(context.Context, string, Effort) ([]Figure, error){b.rates, b.work, b.nearSoldOut, b.oneSeat, b.hotSeats} {
		figures, err := part(ctx, dir, e)
		if err != nil {
			return all, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// rates are seats a second of each way to ask, and of each anchor.
func (b *box) rates(ctx context.Context, dir string, e Effort) ([]Figure, error) {
	n := e.Claims
	rate, err := turns(min(e.Rounds, 3),
		b.sells(ctx, "numbered", n, n, one),
		b.sells(ctx, "numbered", n, n/2, two),
		b.sells(ctx, "numbered", n, n/2, best2),
		b.sells(ctx, "general", n, n, unit),
		b.alone(ctx, "numbered", n, singly),
		b.alone(ctx, "general", n, skipping),
		b.alone(ctx, "numbered", max(anchors, n/8), counter),
		func() (float64, error) { return b.pgbench(ctx, dir, e.Watch/4) },
	)
	if err != nil {
		return nil, err
	}
	const unit = "seats/s"
	single, pairs, best, general := rate[0], rate[1], rate[2], rate[3]
	return []Figure{
		times("claims_batched_vs_single", unit, single, rate[4]),
		times("claims_batched_vs_skip_locked", unit, general, rate[5]),
		times("claims_batched_vs_counter", unit, single, rate[6]),
		times("claims_batched_vs_insert", unit, single, rate[7]),
		times("pairs_vs_single_seats", unit, pairs, single),
		times("best_pairs_vs_single_seats", unit, best, single),
		times("general_vs_single_seats", unit, general, single),
	}, nil
}

// The wishes.
func one(h *hall, i int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Seats = []int64{h.seats[i]} }
}

func two(h *hall, i int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Seats = []int64{h.seats[2*i], h.seats[2*i+1]} }
}

func best2(*hall, int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Best = &inventory.Best{Count: 2} }
}

func unit(*hall, int) func(*inventory.Attempt) {
	return func(a *inventory.Attempt) { a.Tier, a.Quantity = "Front", 1 }
}

// sells sells a new hall out, in so many claims.
func (b *box) sells(ctx context.Context, kind string, seats, claims int, wish func(*hall, int) func(*inventory.Attempt)) func() (float64, error) {
	return func() (float64, error) {
		h, err := b.hall(ctx, kind, seats)
		if err != nil {
			return 0, err
		}
		r, err := b.claims(ctx, claims, func(i int) inventory.Attempt { return h.attempt(wish(h, i)) }, inventory.Claimed)
		return float64(seats) / r.took.Seconds(), err
	}
}

// alone sells a new hall out with a transaction for each seat, by 64 at once.
func (b *box) alone(ctx context.Context, kind string, seats int, sell func(ctx context.Context, h *hall, i int) error) func() (float64, error) {
	return func() (float64, error) {
		h, err := b.hall(ctx, kind, seats)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		err = together(anchors, seats, func(i int) error { return sell(ctx, h, i) })
		return float64(seats) / time.Since(began).Seconds(), err
	}
}
