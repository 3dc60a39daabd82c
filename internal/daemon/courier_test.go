package daemon_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/daemon"
	"waitroom/internal/notice"
	"waitroom/internal/orders/orderstest"
	"waitroom/internal/pgtest"
	"waitroom/internal/process"
)

func courierConfig(db string) daemon.CourierConfig {
	return daemon.CourierConfig{
		Common: daemon.Common{Ops: ops(), DatabaseURL: db, Logs: io.Discard},
		Every:  20 * time.Millisecond, InFlight: 32, Failing: 0.5, Limit: 3 * time.Second, Lease: 6 * time.Second, Conns: 4,
		Factor: 2, SuccessMin: 200, SuccessMax: 299, DisableAfter: 20, WaitAtMost: time.Hour, Loopback: true,
	}
}

func startCourier(t *testing.T, c daemon.CourierConfig) *running {
	t.Helper()
	up := make(chan string, 1)
	c.Listening = func(_, addr string) { up <- "http://" + addr }
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- daemon.Courier(ctx, c) }()
	r := &running{stop: sync.OnceFunc(func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("courier ended with %v", err)
		}
	})}
	t.Cleanup(func() { r.stop() })
	select {
	case r.ops = <-up:
	case err := <-ended:
		t.Fatalf("courier: %v", err)
	}
	return r
}

// mailbox is an organiser's receiver: the webhook-ids that came, in order.
type mailbox struct {
	*httptest.Server
	mu  sync.Mutex
	ids []string
}

func openMailbox(t *testing.T, answer func(r *http.Request, nth int)) *mailbox {
	t.Helper()
	m := &mailbox{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // what came of it is enough
		m.mu.Lock()
		m.ids = append(m.ids, r.Header.Get("webhook-id"))
		nth := len(m.ids)
		m.mu.Unlock()
		answer(r, nth)
	}))
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

func (m *mailbox) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.ids...)
}

func addEndpoint(t *testing.T, pool *pgxpool.Pool, url string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `INSERT INTO endpoints (id, organiser, url, secret, min_interval, backoff_base)
		VALUES ('shop', 'house', $1, decode(repeat('5a', 32), 'hex'), '0', '10 ms')`, url)
	if err != nil {
		t.Fatal(err)
	}
}

// A sale with NATS away from the beginning: what is told of it arrives at its
// organiser all the same, and the processes that only hint stay ready.
func TestOrganisersAreToldWhileNATSIsAway(t *testing.T) {
	db := pgtest.URL(t)
	h := orderstest.NewHall(t, pgtest.Open(t, db), 20)
	box := openMailbox(t, func(*http.Request, int) {})
	addEndpoint(t, h.Pool, box.URL)
	expirer := startExpirer(t, db, "nats://127.0.0.1:1")
	courier := startCourier(t, courierConfig(db))
	anna, ben := h.Order(t, "anna", 3), h.Order(t, "ben", 2)
	h.Lapse(t, anna, ben)
	within(t, time.Minute, "all four notices arrived", func() bool { return len(box.all()) == 4 })
	within(t, time.Minute, "and are written down", func() bool {
		return h.Count(t, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`) == 4
	})
	metric(t, expirer.ops, "waitroom_notices_unaddressed 0")
	metric(t, expirer.ops, "waitroom_notices_unrelayed 4")
	metric(t, courier.ops, `waitroom_webhook_attempts_total{outcome="delivered"} 4`)
	metric(t, courier.ops, "waitroom_webhook_courier_up 1")
	for name, r := range map[string]*running{"expirer": expirer, "courier": courier} {
		if ok, why := r.ready(t); !ok {
			t.Errorf("%s is not ready: %s", name, why)
		}
	}
	orderstest.Judge(t, h.Pool)
}

// TestACourierOfItsOwn is no test but the process that the one below kills.
func TestACourierOfItsOwn(t *testing.T) {
	db := os.Getenv("COURIER_TEST_DB")
	if db == "" {
		t.Skip("it is started by the test of a killed courier alone")
	}
	c := courierConfig(db)
	c.Logs, c.Listening = os.Stderr, func(_, addr string) { os.Stdout.WriteString("ops http://" + addr + "\n") }
	if err := daemon.Courier(process.Signals(context.WithoutCancel(t.Context())), c); err != nil {
		t.Fatal(err)
	}
}

// A courier is killed by SIGKILL after a delivery was sent and before that was
// written down: it is delivered again, under the same id, and the ledger has both
// attempts.
func TestACourierKilledAfterSendingSendsAgainUnderTheSameID(t *testing.T) {
	db := pgtest.URL(t)
	h := orderstest.NewHall(t, pgtest.Open(t, db), 5)
	arrived, answer := make(chan struct{}, 10), make(chan struct{})
	box := openMailbox(t, func(_ *http.Request, nth int) {
		if nth == 1 {
			arrived <- struct{}{}
			<-answer
		}
	})
	addEndpoint(t, h.Pool, box.URL)
	h.Scan(t, `WITH n AS (
		  INSERT INTO notices (kind, event_id, subject, version, body, addressed) SELECT 'event.paused', id, id, 9, '{}', 1 FROM events RETURNING id
		) INSERT INTO deliveries (notice_id, endpoint_id) SELECT id, 'shop' FROM n RETURNING id`, nil, new(int64))

	cmd := exec.Command(os.Args[0], "-test.run=^TestACourierOfItsOwn$")
	cmd.Env = append(os.Environ(), "COURIER_TEST_DB="+db)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it has ended
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
		}
	}()
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		t.Fatal("nothing was sent within a minute")
	}
	cmd.Process.Kill() //nolint:errcheck // waited for
	cmd.Wait()         //nolint:errcheck // it was killed
	close(answer)
	if n := h.Count(t, `SELECT count(*) FROM deliveries WHERE status = 'sending' AND attempts = 1`); n != 1 {
		t.Fatal("it was killed too late: the attempt had ended")
	}

	next := startCourier(t, courierConfig(db))
	within(t, time.Minute, "it is delivered", func() bool {
		return h.Count(t, `SELECT count(*) FROM deliveries WHERE status = 'delivered' AND attempts = 2`) == 1
	})
	if ids := box.all(); len(ids) != 2 || ids[0] != ids[1] || !strings.HasPrefix(ids[0], "ntc_") {
		t.Errorf("it came under %q, want one id twice", ids)
	}
	if n := h.Count(t, `SELECT count(*) FROM delivery_attempts WHERE attempt_no = 1 AND status IS NULL AND error LIKE 'lost:%'
		OR attempt_no = 2 AND status = 200`); n != 2 {
		t.Error("the ledger is not whole")
	}
	metric(t, next.ops, "waitroom_webhook_leases_lost_total 1")
}

// Postgres goes and comes back under a courier that runs: it is not ready while it
// cannot take, and goes on by itself.
func TestACourierOutlivesAnAwayDatabase(t *testing.T) {
	db := pgtest.URL(t)
	h := orderstest.NewHall(t, pgtest.Open(t, db), 5)
	box := openMailbox(t, func(*http.Request, int) {})
	addEndpoint(t, h.Pool, box.URL)
	startExpirer(t, db, "nats://127.0.0.1:1")
	courier := startCourier(t, courierConfig(db))
	for i, account := range []string{"anna", "ben", "cleo"} {
		h.Scan(t, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name IN ('waitroom courier deliveries', 'waitroom relay')`, nil, new(int))
		within(t, time.Minute, "it is ready", func() bool { ok, _ := courier.ready(t); return ok })
		h.Lapse(t, h.Order(t, account, 1))
		within(t, time.Minute, "told", func() bool { return len(box.all()) >= 2*(i+1) })
	}
	within(t, time.Minute, "written down", func() bool {
		return h.Count(t, `SELECT count(*) FROM deliveries WHERE status = 'delivered'`) == 6
	})
}

// A connection to NATS that is away comes back; one that is closed does not, and its
// process says that it is not ready.
func TestAClosedNATSClientIsNotReady(t *testing.T) {
	nc, err := notice.Connect("nats://127.0.0.1:1", "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.NotClosed(nc); err != nil {
		t.Errorf("while it is away: %v", err)
	}
	nc.Close()
	if err := daemon.NotClosed(nc); err == nil {
		t.Error("a closed one counts as ready")
	}
}
