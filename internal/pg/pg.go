// Package pg opens Postgres the way every process of the house needs it, and
// refuses a database that could not keep our promises.
//
// A pool is small and its server-side limits fire before the caller's context
// does: a cancelled context costs the connection, a lock_timeout does not. A server
// that falls silent costs it too, a little later, and the next one is tried (P16).
package pg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	schema "waitroom/sql"
)

// Limits are what the server enforces on each connection of a pool. Zero takes
// the default; every limit is finite.
type Limits struct {
	Conns     int           // connections at most; default 4
	Lock      time.Duration // lock_timeout; default 500 ms
	Statement time.Duration // statement_timeout; default 2 s
	Idle      time.Duration // idle_in_transaction_session_timeout; default 5 s

	// Replan plans each statement when it is run. A plan that is made while a table
	// is empty, and kept, reads all of it when it has grown a thousandfold.
	Replan bool
}

// Open connects a pool named app (as pg_stat_activity shows it) and checks that
// it answers. It does not judge the database: that is Fit.
func Open(ctx context.Context, url, app string, l Limits) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	cfg.MaxConns = int32(orDefault(l.Conns, 4))
	cfg.PingTimeout = pong
	cfg.ConnConfig.ConnectTimeout = 3 * time.Second
	cfg.ConnConfig.DialFunc = heard(cfg.ConnConfig.DialFunc, orDefault(l.Statement, 2*time.Second))
	p := cfg.ConnConfig.RuntimeParams
	p["application_name"] = app
	p["lock_timeout"] = millis(orDefault(l.Lock, 500*time.Millisecond))
	p["statement_timeout"] = millis(orDefault(l.Statement, 2*time.Second))
	p["idle_in_transaction_session_timeout"] = millis(orDefault(l.Idle, 5*time.Second))
	// Without it the server finishes the statement of a caller that is gone.
	p["client_connection_check_interval"] = "1000"
	// Array parameters would otherwise be planned anew at each execution.
	p["plan_cache_mode"] = "force_generic_plan"
	p["timezone"] = "UTC"
	if l.Replan {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return pool, nil
}

func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// InTx runs f in one read-committed transaction: everything it did takes
// effect, or nothing. It never retries. When the error satisfies Unknown the
// commit may have happened: the caller resolves it by key, never blindly.
func InTx(ctx context.Context, pool *pgxpool.Pool, f func(pgx.Tx) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // after Commit it is a no-op
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return &commitError{err}
	}
	return nil
}

// commitError marks a failure of COMMIT itself.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// Unknown reports whether a transaction that failed with err may have been
// committed all the same: COMMIT was sent and no answer of the server's came.
func Unknown(err error) bool {
	var c *commitError
	if !errors.As(err, &c) || errors.Is(err, pgx.ErrTxCommitRollback) {
		return false
	}
	// FATAL is the session's end and not the transaction's: it may come after
	// the commit was kept.
	var answered *pgconn.PgError
	refused := errors.As(err, &answered) && answered.SeverityUnlocalized == "ERROR"
	return !refused && !pgconn.SafeToRetry(err)
}

// Fit refuses a database that cannot keep our promises: one that acknowledges
// before it keeps, one that is a read-only replica, one whose schema is not
// exactly this binary's.
func Fit(ctx context.Context, pool *pgxpool.Pool) error {
	var fsync, syncCommit, fullPages, readOnly string
	var replica bool
	err := pool.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('synchronous_commit'),
		current_setting('full_page_writes'), current_setting('default_transaction_read_only'), pg_is_in_recovery()`).
		Scan(&fsync, &syncCommit, &fullPages, &readOnly, &replica)
	switch {
	case err != nil:
		return fmt.Errorf("postgres: %w", err)
	case replica:
		return errors.New("postgres: this is a read-only replica (pg_is_in_recovery); point DATABASE_URL at the primary")
	case readOnly != "off":
		return errors.New("postgres: default_transaction_read_only is on; a sale writes")
	case fsync != "on":
		return errors.New("postgres: fsync is off; a crash would lose sold seats")
	case syncCommit == "off":
		return errors.New("postgres: synchronous_commit is off; a crash would lose claims that were confirmed")
	case fullPages != "on":
		return errors.New("postgres: full_page_writes is off; a crash could tear the seats table")
	}
	return checkMigrated(ctx, pool)
}

func provider(db *sql.DB, opts ...goose.ProviderOption) (*goose.Provider, error) {
	dir, err := schema.Dir()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, dir, opts...)
}

// checkMigrated compares versions without writing: a serving process never
// creates goose's own table.
func checkMigrated(ctx context.Context, pool *pgxpool.Pool) error {
	want, err := schema.Version()
	if err != nil {
		return err
	}
	var have int64
	err = pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&have)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "42P01" { // undefined_table
		err = nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("postgres: read schema version: %w", err)
	case have < want:
		return fmt.Errorf("postgres: schema is at version %d, this binary needs %d; run: waitctl migrate", have, want)
	case have > want:
		return fmt.Errorf("postgres: schema is at version %d, newer than this binary's %d; deploy the newer binary", have, want)
	}
	return nil
}

// Migrate brings the schema up to this binary's. It holds a session lock, so
// that any number of callers run it once. Serving processes never call it.
func Migrate(ctx context.Context, url string) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	p, err := provider(db, goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
