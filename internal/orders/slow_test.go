package orders_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/inventory"
	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
)

// The provider takes its time: claims go on as before, no connection to
// Postgres waits for it, the calls in flight are bounded, and whoever comes on
// top is told at once to ask again.
func TestSlowProviderHoldsUpNoClaim(t *testing.T) {
	const inFlight, more, claims = 8, 40, 300
	h := open(t, inFlight+more+2*claims)
	holders := orderstest.Holders(inFlight + more)
	var carts []uuid.UUID
	for _, holder := range holders {
		carts = append(carts, h.Order(t, holder, 1))
	}
	calm := h.claims(t, "calm", claims)

	answer, asked := make(chan struct{}), make(chan struct{}, inFlight+more)
	c := &counter{before: func(context.Context, orders.NewPayment) (orders.AtProvider, error) {
		asked <- struct{}{}
		<-answer
		return orders.AtProvider{}, nil
	}}
	own := pgtest.Open(t, h.Pool.Config().ConnString(), pgtest.Conns(2))
	p := orders.NewPayments(own, c, "stripe", inFlight)
	var waiting sync.WaitGroup
	opened := make(chan orders.Opening, inFlight)
	for i := range inFlight {
		waiting.Go(func() {
			got, _, err := p.Open(t.Context(), carts[i], holders[i], "a")
			if err != nil {
				t.Error(err)
			}
			opened <- got
		})
	}
	for range inFlight {
		<-asked
	}
	held(t, own, p, inFlight)
	for i := inFlight; i < inFlight+more; i++ {
		wantOpening(t, p, carts[i], holders[i], "a", orders.Busy)
	}
	stuck := h.claims(t, "stuck", claims)
	held(t, own, p, inFlight)
	t.Logf("claims/s: %.0f with the provider calm, %.0f while it kept %d payments waiting", calm, stuck, inFlight)
	close(answer)
	waiting.Wait()
	close(opened)
	for got := range opened {
		if got != orders.Opened {
			t.Errorf("after the provider's answer: %s", got)
		}
	}
	if n := c.payments(); n != inFlight {
		t.Errorf("the provider was asked for %d payments, want %d", n, inFlight)
	}
	wantOpening(t, p, carts[inFlight], holders[inFlight], "a", orders.Opened)
}

// held wants that many openings to be waiting for the provider, without a
// connection of the pool's.
func held(t *testing.T, pool *pgxpool.Pool, p *orders.Payments, inFlight int) {
	t.Helper()
	if n, used := p.InFlight(), pool.Stat().AcquiredConns(); n != inFlight || used != 0 {
		t.Errorf("%d payments in flight hold %d connections, want %d and 0", n, used, inFlight)
	}
}

// claims has n people claim a seat each, all at once, and returns claims/s.
func (h *till) claims(t *testing.T, who string, n int) float64 {
	t.Helper()
	rows, err := h.Pool.Query(t.Context(), `SELECT id FROM seats WHERE event_id = $1 AND order_id IS NULL
		ORDER BY id LIMIT $2`, h.Event, n)
	must(t, err)
	seats, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	must(t, err)
	sizes := inventory.Sizes{Queue: n, Workers: 2, Batch: 50}
	claimer := inventory.NewClaimer(h.Pool, sizes, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var running, asking sync.WaitGroup
	running.Go(func() { claimer.Run(t.Context()) })
	began := time.Now()
	for i, seat := range seats {
		asking.Go(func() {
			account := fmt.Sprint(who, "-", i)
			answer := claimer.Claim(t.Context(), inventory.Attempt{
				Event: h.Event, Account: account, Holder: account, Epoch: 1, Place: seat, Take: seat, Quota: 4,
				Key: "a", BodyHash: sha256.Sum256(nil), Seats: []int64{seat},
			})
			if answer.Outcome != inventory.Claimed {
				t.Errorf("claim of seat %d: %s", seat, answer.Outcome)
			}
		})
	}
	asking.Wait()
	took := time.Since(began)
	claimer.Stop()
	running.Wait()
	return float64(n) / took.Seconds()
}
