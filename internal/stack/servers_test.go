package stack

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
)

// Each server answers its own protocol and is gone after Stop.
func TestServers(t *testing.T) {
	for name, server := range map[string]struct {
		start  func(context.Context) (*Server, error)
		answer func(ctx context.Context, url string) bool
	}{
		"nats":      {noContext(NATS), natsAnswers},
		"redis":     {Redis, redisAnswers},
		"miniredis": {noContext(smallRedis), redisAnswers},
		"dynalite":  {Dynalite, listsTables},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			s, err := server.start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s at %s after %d ms", s.Kind, s.URL, time.Since(began).Milliseconds())
			if !server.answer(t.Context(), s.URL) {
				t.Errorf("%s does not answer", s.URL)
			}
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if server.answer(t.Context(), s.URL) { // another's may listen there by now
				t.Errorf("%s still answers after Stop", s.URL)
			}
			if err := s.Stop(); err != nil {
				t.Errorf("a second Stop: %v", err)
			}
		})
	}
}

func noContext(start func() (*Server, error)) func(context.Context) (*Server, error) {
	return func(context.Context) (*Server, error) { return start() }
}

func natsAnswers(_ context.Context, url string) bool {
	a, err := nats.Connect(url)
	if err != nil {
		return false
	}
	defer a.Close()
	b, err := nats.Connect(url)
	if err != nil {
		return false
	}
	defer b.Close()
	if _, err := a.Subscribe("echo", func(m *nats.Msg) { m.Respond(m.Data) }); err != nil || a.Flush() != nil {
		return false
	}
	m, err := b.Request("echo", []byte("here"), time.Second)
	return err == nil && string(m.Data) == "here"
}

// In the small Redis a key's time passes by itself.
func TestSmallRedisLetsTimePass(t *testing.T) {
	s, err := smallRedis()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop() //nolint:errcheck // it ends with the test
	opt, err := redis.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer c.Close()
	if err := c.Set(t.Context(), "k", "v", 200*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	over := time.After(5 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for c.Exists(t.Context(), "k").Val() == 1 {
		select {
		case <-tick.C:
		case <-over:
			t.Fatal("a key of 200 ms is still there after 5 s")
		}
	}
}

// A crashed server is back where it was: Postgres with what was committed, NATS
// with nothing; one without a process or a way to crash says so.
func TestCrash(t *testing.T) {
	db, err := Postgres(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Stop() //nolint:errcheck // it ends with the test
	ask := func(sql string) (n int) {
		conn, err := pgx.Connect(t.Context(), db.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context()) //nolint:errcheck // it ends with the test
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	conn, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if conn.Ping(t.Context()) == nil {
		t.Error("a connection outlived the crash")
	}
	if n := ask(`SELECT n FROM kept`); n != 7 {
		t.Errorf("%d after the crash, want 7", n)
	}
	bus, err := NATS()
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Stop() //nolint:errcheck // it ends with the test
	if err := bus.Crash(t.Context()); err != nil || !natsAnswers(t.Context(), bus.URL) {
		t.Errorf("nats after its crash: %v, or does not answer at %s", err, bus.URL)
	}
	if bus.Signal(syscall.SIGSTOP) == nil {
		t.Error("a server without a process took a signal")
	}
}
