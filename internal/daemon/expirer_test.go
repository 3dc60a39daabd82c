package daemon_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/daemon"
	"waitroom/internal/notice"
	"waitroom/internal/orders"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
	"waitroom/internal/stack"
)

func expire(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if n, err := orders.ExpireDue(t.Context(), pool, 200); n != 1 || err != nil {
		t.Fatalf("%d orders expired (%v), want 1", n, err)
	}
}

// Two expirers at work: an order of 3 and one of 2 that lapse come back whole
// and once, are told once each, and one expirer may die in the middle.
func TestTwoExpirers(t *testing.T) {
	db := pgtest.URL(t)
	h := orderstest.NewHall(t, pgtest.Open(t, db), 40)
	nats, err := stack.NATS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nats.Stop() })
	heard := hear(t, nats.URL)
	first, second := startExpirer(t, db, nats.URL), startExpirer(t, db, nats.URL)

	anna, ben, cleo := h.Order(t, "anna", 3), h.Order(t, "ben", 2), h.Order(t, "cleo", 1)
	h.Lapse(t, anna, ben)
	within(t, 20*time.Second, "both expired and told", func() bool {
		return heard.count("order.expired") == 2 && heard.count("tickets.returned") == 2
	})
	if free := h.Count(t, `SELECT count(*) FROM seats WHERE order_id IS NULL`); free != 39 {
		t.Errorf("%d seats are free, want 39", free)
	}
	if s := h.Status(t, cleo); s != "pending" {
		t.Errorf("a fresh order is %s, want pending", s)
	}
	metric(t, first.ops, "waitroom_orders_overdue_seconds 0")
	metric(t, first.ops, "waitroom_notices_unrelayed 0")

	first.stop()
	var rest []uuid.UUID
	for i := range 10 {
		rest = append(rest, h.Order(t, fmt.Sprint("late-", i), 2))
	}
	h.Lapse(t, rest...)
	within(t, 20*time.Second, "the second goes on alone", func() bool { return heard.count("order.expired") == 12 })
	second.stop()
	if n := heard.count("order.expired"); n != 12 {
		t.Errorf("told %d times, want 12", n)
	}
	orderstest.Judge(t, h.Pool)
}

type running struct {
	ops  string
	stop func()
}

func startExpirer(t *testing.T, db, natsURL string) *running {
	t.Helper()
	up := make(chan string, 1)
	c := daemon.ExpirerConfig{
		Common: daemon.Common{
			Ops: ops(), DatabaseURL: db, Logs: io.Discard,
			Listening: func(_, addr string) { up <- "http://" + addr },
		},
		NATSURL: natsURL, Every: 20 * time.Millisecond, Batch: 200,
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- daemon.Expirer(ctx, c) }()
	r := &running{stop: sync.OnceFunc(func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("expirer ended with %v", err)
		}
	})}
	t.Cleanup(func() { r.stop() })
	select {
	case r.ops = <-up:
	case err := <-ended:
		t.Fatalf("expirer: %v", err)
	}
	return r
}

// metric waits for a line of a process's metrics.
func metric(t *testing.T, ops, line string) {
	t.Helper()
	within(t, 10*time.Second, line, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ops+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return err == nil && strings.Contains(string(text), "\n"+line+"\n")
	})
}

type ears struct {
	mu    sync.Mutex
	kinds map[string]int
}

// hear counts the notices that go out.
func hear(t *testing.T, natsURL string) *ears {
	t.Helper()
	nc, err := notice.Connect(natsURL, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	e := &ears{kinds: map[string]int{}}
	if _, err := notice.Listen(nc, ">", func(h notice.Hint) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.kinds[h.Kind]++
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *ears) count(kind string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kinds[kind]
}
