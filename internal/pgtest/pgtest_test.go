package pgtest_test

import (
	"testing"
	"time"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// A fresh database is migrated, keeps what it acknowledges, and is no other
// test's.
func TestFreshDatabase(t *testing.T) {
	began := time.Now()
	one := pgtest.New(t)
	first := time.Since(began)
	began = time.Now()
	two := pgtest.New(t, pgtest.Conns(2))
	t.Logf("first database with its server: %d ms; second: %d ms", first.Milliseconds(), time.Since(began).Milliseconds())
	if err := pg.Fit(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	insert := `INSERT INTO events (id, title, currency, opens_at) VALUES ('hall', 'Hall', 'EUR', now())`
	if _, err := one.Exec(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := two.QueryRow(t.Context(), `SELECT count(*) FROM events`).Scan(&n); err != nil || n != 0 {
		t.Fatalf("the other test's database has %d events (%v), want 0", n, err)
	}
	if got := two.Config().MaxConns; got != 2 {
		t.Errorf("pool of %d connections, want 2", got)
	}
}

// Many tests at once, each with its own pool, fit on one server.
func TestManyAtOnce(t *testing.T) {
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if _, err := pgtest.New(t).Exec(t.Context(), `SELECT 1`); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		pgtest.New(b).Close()
	}
}
