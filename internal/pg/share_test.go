package pg_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

func share(process string, replicas int, conns ...int) pg.Share {
	s := pg.Share{Process: process, Replicas: replicas}
	for i, n := range conns {
		s.Uses = append(s.Uses, pg.Use{Name: string(rune('a' + i)), Conns: n})
	}
	return s
}

// limited gives the database itself a limit, as a managed one has.
func limited(t *testing.T, pool *pgxpool.Pool, conns int) string {
	t.Helper()
	var name string
	if err := pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), fmt.Sprintf("ALTER DATABASE %s CONNECTION LIMIT %d", pgx.Identifier{name}.Sanitize(), conns)); err != nil {
		t.Fatal(err)
	}
	return name
}

// All that every process declares, over all its replicas, is at most 80 % of
// what the server, the database or the role may have. The next one does not
// start, and says how the sum came about; it leaves nothing behind.
func TestAllSharesTogetherFitPostgres(t *testing.T) {
	pool := pgtest.New(t)
	ctx := t.Context()
	name := limited(t, pool, 100)
	declare := func(s pg.Share) error { return pg.Declare(ctx, pool, s) }
	for _, s := range []pg.Share{share("waitroom", 3, 6, 3, 3), share("claimer", 4, 5), share("claimer", 5, 5), share("expirer", 2, 4, 1)} {
		if err := declare(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
	}
	err := declare(share("paycallback", 1, 5, 5))
	want := "claimer 5 × (a 5) + expirer 2 × (a 4 + b 1) + paycallback 1 × (a 5 + b 5) + waitroom 3 × (a 6 + b 3 + c 3) = 81 connections, " +
		"more than 80 % of 100 (the limit of database " + name + ")"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("81 of 100: %v\nwant %s", err, want)
	}
	if err := declare(share("paycallback", 1, 4, 5)); err != nil {
		t.Errorf("80 of 100: %v", err)
	}
	if err := declare(share("claimer", 6, 5)); err == nil {
		t.Error("a claimer more was taken")
	}
	// Nobody renews what does not run any more.
	if _, err := pool.Exec(ctx, `UPDATE connection_shares SET at = now() - interval '11 minutes' WHERE process = 'waitroom'`); err != nil {
		t.Fatal(err)
	}
	if err := declare(share("claimer", 6, 5)); err != nil {
		t.Errorf("after the waitrooms went: %v", err)
	}
	if err := pg.Renew(ctx, pool, share("waitroom", 3, 6, 3, 3)); err != nil {
		t.Errorf("what runs is judged again: %v", err)
	}
	if err := declare(share("nothing", 0, 5)); err == nil {
		t.Error("no replicas is a share")
	}
	limited(t, pool, -1)
	var most int
	if err := pool.QueryRow(ctx, `SELECT current_setting('max_connections')::int`).Scan(&most); err != nil {
		t.Fatal(err)
	}
	if err := declare(share("flood", most, 1)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("80 %% of %d (max_connections)", most)) {
		t.Errorf("more than the whole server: %v", err)
	}
}

// Processes that start at the same instant are judged one after the other: all
// but those that fit are refused.
func TestSharesAreJudgedInTurn(t *testing.T) {
	pool := pgtest.New(t)
	limited(t, pool, 50)
	var taken atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if pg.Declare(context.WithoutCancel(t.Context()), pool, share(fmt.Sprint("process-", i), 2, 5)) == nil {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if n := taken.Load(); n != 4 {
		t.Errorf("%d shares of 10 were taken, want 4: 80 %% of 50", n)
	}
}

// Who starts while another declares waits for its turn, longer than any claim
// would wait for a lock.
func TestADeclarationWaitsForItsTurn(t *testing.T) {
	pool := pgtest.New(t)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock(hashtext('waitroom connection shares'))`); err != nil {
		t.Fatal(err)
	}
	declared := make(chan error, 1)
	go func() {
		declared <- pg.Declare(t.Context(), pool, share("late", 1, 1))
	}()
	select {
	case err := <-declared:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(time.Second): // twice the pool's own limit
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-declared; err != nil {
		t.Error(err)
	}
}
