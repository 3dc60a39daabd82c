package pg_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// All connections of a pool fall silent, and nobody says so: whoever asks without a
// deadline of his own is told, and the pool goes on over new ones (P16).
func TestASilentServerIsLeftForOneThatAnswers(t *testing.T) {
	path := pgtest.Through(t, pgtest.URL(t))
	pool := pgtest.Open(t, path.URL, pgtest.Limits(pg.Limits{Conns: 3, Statement: 500 * time.Millisecond}))
	within, end := context.WithTimeout(t.Context(), 2*time.Minute) // far more than it takes
	defer end()
	err := pg.InTx(within, pool, func(tx pgx.Tx) error {
		path.Silence()
		_, err := tx.Exec(within, `SELECT 1`)
		return err
	})
	if err == nil || within.Err() != nil {
		t.Fatalf("over a connection that is silent: %v, and %v; want an error of its own", err, within.Err())
	}
	for range 3 {
		if _, err := pool.Exec(within, `SELECT 1`); err == nil {
			path.Cut()
			return
		}
	}
	t.Error("three times more it was not asked over a new one")
}

// A connection waits for as long as its statement may take, and what its caller's
// deadline ends has that deadline's error.
func TestASlowServerIsWaitedFor(t *testing.T) {
	t.Parallel() // it waits, mostly
	pool := pgtest.New(t, pgtest.Limits(pg.Limits{Conns: 1, Statement: 500 * time.Millisecond}))
	err := pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		if err := pg.Longer(t.Context(), tx, time.Minute); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `SELECT pg_sleep(6)`) // longer than silence was borne before
		return err
	})
	if err != nil {
		t.Errorf("a statement that was given a minute: %v", err)
	}
	soon, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	err = pg.InTx(t.Context(), pool, func(tx pgx.Tx) error {
		if err := pg.Longer(t.Context(), tx, time.Minute); err != nil {
			return err
		}
		_, err := tx.Exec(soon, `SELECT pg_sleep(30)`)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its caller's deadline: %v", err)
	}
}
