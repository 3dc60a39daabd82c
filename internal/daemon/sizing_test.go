package daemon_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/pgtest"
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
