// Package pgtest gives each test a Postgres database of its own, migrated and
// empty, on a real server with fsync on.
//
// The first test of a process that asks starts a server (in memory where the
// machine has room); it ends with the process, however that ends. With
// WAITROOM_TEST_POSTGRES set to the URL of a server on which we may create
// databases, that one is used.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/pg"
)

// Option changes the pool that New opens.
type Option func(*pg.Limits)

// Conns sets how many connections the pool may have; without it, 8.
func Conns(n int) Option { return func(l *pg.Limits) { l.Conns = n } }

// Limits sets everything that the server enforces on the pool's connections.
func Limits(limits pg.Limits) Option { return func(l *pg.Limits) { *l = limits } }

// New opens a pool, with the limits of production, on a fresh database.
func New(t testing.TB, opts ...Option) *pgxpool.Pool {
	t.Helper()
	return Open(t, URL(t), opts...)
}

// Open opens one more pool on a database of URL's. Tests of several processes
// give each its own.
func Open(t testing.TB, url string, opts ...Option) *pgxpool.Pool {
	t.Helper()
	limits := pg.Limits{Conns: 8}
	for _, o := range opts {
		o(&limits)
	}
	pool, err := pg.Open(t.Context(), url, "test", limits)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// URL creates a fresh database, which is dropped when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	// The server outlives the test that happened to be the first.
	ctx := context.WithoutCancel(t.Context())
	s, err := shared.get(ctx)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := "test_" + uuid.NewString()[:13]
	if err := s.exec(ctx, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(s.template)+s.strategy); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.exec(ctx, "DROP DATABASE "+quote(name)+" WITH (FORCE)"); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return s.at(name)
}

// exec runs one statement on a connection of its own, so that nothing of ours
// stays open on the server between tests.
func (s *server) exec(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement's error is the one that counts
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// at is the URL of a database on this server.
func (s *server) at(database string) string {
	u := url.URL(*s.url)
	u.Path = "/" + database
	return u.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
