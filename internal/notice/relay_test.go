package notice_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"waitroom/internal/notice"
	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

func newEvent(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `INSERT INTO events (id, title, currency, opens_at) VALUES ('hall', 'Hall', 'EUR', now())`)
	if err != nil {
		t.Fatal(err)
	}
}

func newEndpoint(t *testing.T, pool *pgxpool.Pool, id, organiser string, kinds ...string) {
	t.Helper()
	if kinds == nil {
		kinds = []string{}
	}
	_, err := pool.Exec(t.Context(), `INSERT INTO endpoints (id, organiser, url, kinds, secret)
		VALUES ($1, $2, 'https://example.org/', $3, decode(repeat('00', 32), 'hex'))`, id, organiser, kinds)
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, pool *pgxpool.Pool, notices ...notice.Notice) error {
	t.Helper()
	return pg.InTx(t.Context(), pool, func(tx pgx.Tx) error { return notice.Write(t.Context(), tx, notices...) })
}

func paid(subject string, version int64) notice.Notice {
	return notice.Notice{Kind: "order.paid", Event: "hall", Subject: subject, Version: version, Body: map[string]int{"n": 1}}
}

// natsServer runs a real server on a port that stays the same when it restarts.
type natsServer struct {
	t        *testing.T
	port     int
	password string // empty: whoever comes
	running  *server.Server
}

func newNATS(t *testing.T) *natsServer {
	t.Helper()
	s := &natsServer{t: t, port: server.RANDOM_PORT}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *natsServer) start() {
	s.t.Helper()
	opts := &server.Options{Host: "127.0.0.1", Port: s.port, NoLog: true, NoSigs: true, Authorization: s.password}
	running, err := server.NewServer(opts)
	if err != nil {
		s.t.Fatal(err)
	}
	running.Start()
	if !running.ReadyForConnections(10 * time.Second) {
		s.t.Fatal("nats: not ready within 10 s")
	}
	if s.port == server.RANDOM_PORT {
		fmt.Sscanf(running.ClientURL(), "nats://127.0.0.1:%d", &s.port)
	}
	s.running = running
}

func (s *natsServer) stop() {
	s.running.Shutdown()
	s.running.WaitForShutdown()
}

func (s *natsServer) connect() *nats.Conn {
	s.t.Helper()
	nc, err := notice.Connect(fmt.Sprintf("nats://127.0.0.1:%d", s.port), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(nc.Close)
	return nc
}

// ears remember what was heard.
type ears struct {
	mu    sync.Mutex
	heard []notice.Hint
}

func listen(t *testing.T, nc *nats.Conn) *ears {
	t.Helper()
	e := &ears{}
	stop, err := notice.Listen(nc, ">", func(h notice.Hint) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.heard = append(e.heard, h)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	if err := nc.FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *ears) all() []notice.Hint {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

// within polls until is holds.
func within(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	over := time.NewTimer(limit)
	defer over.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-over.C:
			t.Fatalf("not within %s: %s", limit, what)
		case <-again.C:
		}
	}
}

// What its transaction did not commit was never said.
func TestNoticeExistsWithItsFactAlone(t *testing.T) {
	pool := pgtest.New(t)
	newEvent(t, pool)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := notice.Write(t.Context(), tx, paid("a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b, err := notice.ReadBacklog(t.Context(), pool); b.Unaddressed != 0 || err != nil {
		t.Fatalf("%d notices (%v) of a fact that was rolled back, want 0", b.Unaddressed, err)
	}
	if err := write(t, pool, paid("a", 1)); err != nil {
		t.Fatal(err)
	}
	if err := write(t, pool, paid("a", 1)); err == nil {
		t.Fatal("the same transition was told twice")
	}
	if err := write(t, pool); err != nil {
		t.Fatalf("no notices: %v", err)
	}
}

// Each notice goes out once, and each subject's in the order of its versions.
func TestRelayKeepsVersionOrder(t *testing.T) {
	pool := pgtest.New(t)
	newEvent(t, pool)
	nc := newNATS(t).connect()
	ears := listen(t, nc)
	const subjects, versions = 50, 9
	for v := range int64(versions) {
		var batch []notice.Notice
		for s := range subjects {
			batch = append(batch, paid(fmt.Sprint("order-", s), v+1))
		}
		if err := write(t, pool, batch...); err != nil {
			t.Fatal(err)
		}
	}
	relay := notice.NewRelay(pool, nc)
	defer relay.Close(t.Context())
	relayed := 0
	for {
		did, err := relay.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if did.Published == 0 {
			break
		}
		relayed += did.Published
	}
	within(t, 10*time.Second, "all notices heard", func() bool { return len(ears.all()) >= subjects*versions })
	last := map[string]int64{}
	for _, h := range ears.all() {
		if h.Version != last[h.Subject]+1 {
			t.Errorf("%s: version %d after %d", h.Subject, h.Version, last[h.Subject])
		}
		last[h.Subject] = h.Version
	}
	if n := len(ears.all()); n != subjects*versions || relayed != n {
		t.Errorf("%d relayed, %d heard, want %d each", relayed, n, subjects*versions)
	}
	h := ears.all()[0]
	if h.Kind != "order.paid" || h.Event != "hall" || string(h.Body) != `{"n":1}` && string(h.Body) != `{"n": 1}` || h.At.IsZero() {
		t.Errorf("heard %+v", h)
	}
}

// NATS is down at the commit: deliveries are written down at once all the same.
// The hint waits, and goes out once when NATS is back, through the same relay.
func TestDeliveriesDoNotWaitForNATS(t *testing.T) {
	pool := pgtest.New(t)
	newEvent(t, pool)
	newEndpoint(t, pool, "shop", "house")
	srv := newNATS(t)
	nc := srv.connect()
	relay := notice.NewRelay(pool, nc)
	defer relay.Close(t.Context())
	srv.stop()
	within(t, 10*time.Second, "the connection is seen to be lost", func() bool { return !nc.IsConnected() })
	if err := write(t, pool, paid("a", 1)); err != nil {
		t.Fatalf("a fact waited for NATS: %v", err)
	}
	if did, err := relay.Step(t.Context()); did != (notice.Relayed{Addressed: 1, Deliveries: 1}) || !errors.Is(err, notice.ErrNoHints) {
		t.Fatalf("%+v (%v) with NATS down, want one notice addressed and its delivery", did, err)
	}
	if did, err := relay.Step(t.Context()); did != (notice.Relayed{}) || !errors.Is(err, notice.ErrNoHints) {
		t.Fatalf("%+v (%v) again, want nothing", did, err)
	}
	b, err := notice.ReadBacklog(t.Context(), pool)
	if b.Unaddressed != 0 || b.Unrelayed != 1 || b.OldestUnrelayed <= 0 || err != nil {
		t.Fatalf("backlog %+v (%v), want one hint and its age", b, err)
	}
	srv.start()
	ears := listen(t, srv.connect())
	within(t, 20*time.Second, "relayed after NATS came back", func() bool {
		did, _ := relay.Step(t.Context())
		return did.Published == 1
	})
	if did, err := relay.Step(t.Context()); did != (notice.Relayed{}) || err != nil {
		t.Errorf("relayed %+v more (%v), want nothing", did, err)
	}
	within(t, 10*time.Second, "heard", func() bool { return len(ears.all()) >= 1 })
	if n := len(ears.all()); n != 1 {
		t.Errorf("heard %d times, want once", n)
	}
}

// A client whose password is refused, however often, is not closed for good: it
// goes on when the server takes it again.
func TestARefusedPasswordDoesNotCloseAClient(t *testing.T) {
	srv := newNATS(t)
	nc := srv.connect()
	within(t, 10*time.Second, "connected", nc.IsConnected)
	srv.stop()
	srv.password = "changed"
	srv.start()
	var refused atomic.Int32
	nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) { refused.Add(1) })
	within(t, 20*time.Second, "it was refused three times", func() bool { return refused.Load() >= 3 })
	if nc.IsClosed() {
		t.Fatal("closed for good")
	}
	srv.stop()
	srv.password = ""
	srv.start()
	within(t, 20*time.Second, "connected again", nc.IsConnected)
}

// A connection that cannot be made yet does not stop the process.
func TestConnectDoesNotWait(t *testing.T) {
	srv := newNATS(t)
	srv.stop()
	nc := srv.connect()
	if err := nc.Publish("waitroom.claims", []byte("x")); err == nil {
		t.Error("a request was kept while NATS was down, to be sent at some other time")
	}
	srv.start()
	within(t, 20*time.Second, "connected", nc.IsConnected)
}

// Of two relays one works; when its connection to Postgres is cut, the other
// goes on, and nothing is lost.
func TestOneRelayAtATime(t *testing.T) {
	pool := pgtest.New(t)
	newEvent(t, pool)
	nc := newNATS(t).connect()
	ears := listen(t, nc)
	first, second := notice.NewRelay(pool, nc), notice.NewRelay(pool, nc)
	defer second.Close(t.Context())
	if err := write(t, pool, paid("a", 1)); err != nil {
		t.Fatal(err)
	}
	if did, err := first.Step(t.Context()); did.Published != 1 || err != nil {
		t.Fatalf("the first relayed %+v (%v), want 1", did, err)
	}
	if err := write(t, pool, paid("a", 2)); err != nil {
		t.Fatal(err)
	}
	if did, err := second.Step(t.Context()); did != (notice.Relayed{}) || err != nil {
		t.Fatalf("the second relayed %+v (%v) beside the first, want nothing", did, err)
	}
	_, err := pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted`)
	if err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "the second took over", func() bool {
		did, err := second.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return did.Addressed == 1 && did.Published == 1
	})
	if did, err := first.Step(t.Context()); did != (notice.Relayed{}) || err == nil {
		t.Errorf("the first relayed %+v (%v) without its lock", did, err)
	}
	if did, err := first.Step(t.Context()); did != (notice.Relayed{}) || err != nil {
		t.Errorf("the first relayed %+v (%v) beside the second, want nothing", did, err)
	}
	first.Close(context.WithoutCancel(t.Context()))
	within(t, 10*time.Second, "both heard", func() bool { return len(ears.all()) == 2 })
}
