package daemon_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"waitroom/internal/daemon"
	"waitroom/internal/inventory"
	"waitroom/internal/notice"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
	"waitroom/internal/stack"
)

// Two claimers claim for whoever asks over NATS, report each second that they
// do, and one of them may go while the crowd is asking: nobody is left without
// an answer, and its report goes with it.
func TestTwoClaimers(t *testing.T) {
	db := pgtest.URL(t)
	h := orderstest.NewHall(t, pgtest.Open(t, db), 100)
	server, err := stack.NATS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() })
	stopFirst, _ := startClaimer(t, db, server.URL), startClaimer(t, db, server.URL)
	reports := func(n int) func() bool {
		return func() bool {
			r, err := inventory.Reports(t.Context(), h.Pool)
			return err == nil && len(r) == n && r[0].Age < 3*time.Second
		}
	}
	within(t, 10*time.Second, "both report", reports(2))

	nc, err := notice.Connect(server.URL, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	var seats []int64
	h.Scan(t, `SELECT array_agg(id) FROM seats`, nil, &seats)
	answers := make(chan error, len(seats))
	for i, seat := range seats {
		go func() { answers <- claimed(t.Context(), nc, h.Event, fmt.Sprint("fan-", i), seat) }()
		if i == len(seats)/2 {
			go stopFirst()
		}
	}
	for range seats {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if n := h.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NOT NULL`); n != len(seats) {
		t.Errorf("%d seats are claimed, want %d", n, len(seats))
	}
	stopFirst()
	within(t, 10*time.Second, "one reports", reports(1))
}

func claimed(ctx context.Context, nc *nats.Conn, event, account string, seat int64) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	answer, err := inventory.Ask(ctx, nc, inventory.Attempt{
		Event: event, Account: account, Holder: account, Epoch: 1, Place: seat, Take: seat, Quota: 4,
		Key: "k", BodyHash: sha256.Sum256([]byte(account)), Seats: []int64{seat},
	})
	if err != nil || answer.Outcome != inventory.Claimed {
		return fmt.Errorf("%s: %+v, %w", account, answer, err)
	}
	return nil
}

func startClaimer(t *testing.T, db, natsURL string) (stop func()) {
	t.Helper()
	up := make(chan string, 1)
	c := daemon.ClaimerConfig{
		Common: daemon.Common{
			Ops: ops(), DatabaseURL: db, Logs: io.Discard,
			Listening: func(_, addr string) { up <- addr },
		},
		NATSURL: natsURL, Queue: 100, Workers: 2, Batch: 16,
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- daemon.Claimer(ctx, c) }()
	stop = sync.OnceFunc(func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("claimer ended with %v", err)
		}
	})
	t.Cleanup(stop)
	select {
	case <-up:
	case err := <-ended:
		t.Fatalf("claimer: %v", err)
	}
	return stop
}
