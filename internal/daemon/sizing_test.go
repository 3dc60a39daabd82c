package daemon_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"waitroom/internal/daemon"
	"waitroom/internal/pgtest"
	"waitroom/internal/stack"
)

// A process that could take what is not there does not start, counts the others
// that run, and says how its sum came about. The same process with fewer
// replicas starts.
func TestAProcessThatDoesNotFitDoesNotStart(t *testing.T) {
	db := pgtest.URL(t)
	pool := pgtest.Open(t, db, pgtest.Conns(2))
	var name string
	if err := pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), fmt.Sprintf(`ALTER DATABASE "%s" CONNECTION LIMIT 50`, name)); err != nil {
		t.Fatal(err)
	}
	startExpirer(t, db, "nats://127.0.0.1:1") // takes 5
	claimer := func(replicas int) error {
		ctx, end := context.WithTimeout(t.Context(), 30*time.Second)
		defer end()
		up := func(string, string) { end() }
		return daemon.Claimer(ctx, daemon.ClaimerConfig{
			Common:  daemon.Common{Ops: ops(), DatabaseURL: db, Replicas: replicas, Logs: io.Discard, Listening: up},
			NATSURL: "nats://127.0.0.1:1", Queue: 10, Workers: 4, Batch: 10,
		})
	}
	err := claimer(6)
	want := "claimer 6 × (claims 6) + expirer 1 × (orders 4 + relay 1) = 41 connections, more than 80 % of 50 (the limit of database " + name + ")"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("six claimers: %v\nwant %s", err, want)
	}
	if err := claimer(5); err != nil {
		t.Errorf("five claimers: %v", err)
	}
}

// Replicas that could fill Redis, with the gate's connections and the limiter's, do not
// start, and say how their sum came about. A Redis that does not answer stops nobody.
func TestReplicasFitRedis(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	fits := func(url string, replicas, joins int) error {
		c := daemon.WaitroomConfig{Common: daemon.Common{Replicas: replicas}, RedisURL: url, JoinsPerNetwork: joins}
		return c.FitsRedis(t.Context(), log)
	}
	if err := fits("redis://127.0.0.1:1/0", 10_000, 6); err != nil {
		t.Errorf("no redis: %v", err)
	}
	if err := fits("", 10_000, 6); err != nil {
		t.Errorf("without redis: %v", err)
	}
	server, err := stack.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop() }) //nolint:errcheck // it keeps nothing
	if server.Kind == "miniredis" {
		t.Skip("this machine has no redis-server, and miniredis has no maxclients")
	}
	opt, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opt)
	defer c.Close() //nolint:errcheck // it keeps nothing
	if err := c.ConfigSet(t.Context(), "maxclients", "100").Err(); err != nil {
		t.Fatal(err)
	}
	for _, fit := range []struct{ replicas, joins int }{{2, 0}, {1, 6}} {
		if err := fits(server.URL, fit.replicas, fit.joins); err != nil {
			t.Errorf("64 of 100, with %d replicas: %v", fit.replicas, err)
		}
	}
	for want, few := range map[string]struct{ replicas, joins int }{
		"3 × (gate 32) = 96 connections, more than 80 % of 100 (maxclients)":               {3, 0},
		"2 × (gate 32 + limiter 32) = 128 connections, more than 80 % of 100 (maxclients)": {2, 6},
	} {
		if err := fits(server.URL, few.replicas, few.joins); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}
