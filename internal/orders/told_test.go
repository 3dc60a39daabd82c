package orders_test

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"waitroom/internal/notice"
	"waitroom/internal/orders"
	"waitroom/internal/stack"
)

// hints counts what was heard over NATS, by kind and subject.
type hints struct {
	mu    sync.Mutex
	heard map[string]int
}

func (h *hints) hear(n notice.Hint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard[n.Kind+" "+n.Subject]++
}

func (h *hints) all() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.heard)
}

// within polls until is holds.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	over, again := time.NewTimer(time.Minute), time.NewTicker(10*time.Millisecond)
	defer over.Stop()
	defer again.Stop()
	for !is() {
		select {
		case <-over.C:
			t.Fatalf("not within a minute: %s", what)
		case <-again.C:
		}
	}
}

// dial connects to a server of its own; a stopped one is never there.
func dial(t *testing.T, stopped bool) *nats.Conn {
	t.Helper()
	srv, err := stack.NATS()
	must(t, err)
	if stopped {
		must(t, srv.Stop())
	} else {
		t.Cleanup(func() { srv.Stop() })
	}
	nc, err := notice.Connect(srv.URL, "test", slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// NATS is down when money comes: the provider is answered, its money counts, and
// the notices of it are there with it. They go out once when NATS is back, however
// often the provider has told of the money meanwhile.
func TestWhatMoneyDidWhileNATSWasDownIsToldOnce(t *testing.T) {
	h := open(t, 3)
	relay := notice.NewRelay(h.Pool, dial(t, true))
	paid, late := h.Order(t, "anna", 1), h.Order(t, "ben", 1)
	h.Lapse(t, late)
	h.expire(t, 1)
	want := map[string]int{}
	for range 3 {
		h.receive(t, success(late, "pi_late"), orders.PaidTooLate)
		outcome, err := h.in.Receive(t.Context(), body(t, success(paid, "pi_paid")))
		if err != nil || outcome != orders.Paid && outcome != orders.AlreadyPaid {
			t.Fatalf("%s, %v", outcome, err)
		}
		if did, err := relay.Step(t.Context()); did.Published != 0 || !errors.Is(err, notice.ErrNoHints) {
			t.Fatalf("relayed %+v (%v) with NATS down", did, err)
		}
	}
	relay.Close(t.Context())
	var payment uuid.UUID
	h.Scan(t, `SELECT id FROM payments WHERE order_id = $1`, []any{late}, &payment)
	want["order.paid "+paid.String()] = 1
	want["order.expired "+late.String()] = 1
	want[fmt.Sprintf("refund.queued refund:%s:%s", late, payment)] = 1

	nc, ears := dial(t, false), hints{heard: map[string]int{}}
	stop, err := notice.Listen(nc, ">", ears.hear)
	must(t, err)
	defer stop() //nolint:errcheck // the connection is closed next
	must(t, nc.FlushTimeout(10*time.Second))
	relay = notice.NewRelay(h.Pool, nc)
	defer relay.Close(t.Context())
	again := false // a NATS that is too busy to say that it has them is given them once more
	within(t, "all of it is relayed and heard", func() bool {
		_, err := relay.Step(t.Context())
		if again = again || err != nil; err != nil && !errors.Is(err, notice.ErrNoHints) {
			t.Fatal(err)
		}
		b, err := notice.ReadBacklog(t.Context(), h.Pool)
		must(t, err)
		heard := ears.all()
		maps.DeleteFunc(heard, func(what string, _ int) bool { return want[what] == 0 })
		return b.Unrelayed == 0 && len(heard) == len(want)
	})
	if did, err := relay.Step(t.Context()); did != (notice.Relayed{}) && !again || err != nil && !again {
		t.Errorf("relayed %+v more (%v), want nothing", did, err)
	}
	must(t, nc.FlushTimeout(10*time.Second))
	for what, n := range ears.all() {
		if want[what] != 0 && n != want[what] && !again {
			t.Errorf("%s was told %d times, want once", what, n)
		}
	}
}
