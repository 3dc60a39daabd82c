package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/stack"
	schema "waitroom/sql"
)

// shared is the process's one server: Go's testing has no place of its own for
// what all tests of a process share.
var shared once

type once struct {
	mu  sync.Mutex
	got *server
	err error
}

type server struct {
	url      *url.URL
	template string
	strategy string // of copying the template
}

func (o *once) get(ctx context.Context) (*server, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.got == nil && o.err == nil {
		o.got, o.err = open(ctx)
	}
	return o.got, o.err
}

func open(ctx context.Context) (*server, error) {
	at := os.Getenv("WAITROOM_TEST_POSTGRES")
	if at == "" {
		started, err := stack.Postgres(ctx, "")
		if err != nil {
			return nil, err
		}
		at = started.URL // nobody stops it: it ends with this process
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("WAITROOM_TEST_POSTGRES: %w", err)
	}
	s := &server{url: u}
	return s, s.makeTemplate(ctx)
}

// makeTemplate migrates one database, once for each state of the migrations on
// this server, and closes it to connections: a template that somebody is
// connected to cannot be copied.
func (s *server) makeTemplate(ctx context.Context) error {
	hash, err := migrationsHash()
	if err != nil {
		return err
	}
	s.template = "template_" + hash
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // it only held the lock
	// Copying files takes half the time of logging pages; older servers know
	// nothing else and no word for it.
	err = conn.QueryRow(ctx, `SELECT CASE WHEN current_setting('server_version_num')::int >= 150000
		THEN ' STRATEGY file_copy' ELSE '' END`).Scan(&s.strategy)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('waitroom pgtest'))`); err != nil {
		return err
	}
	var made bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, s.template).Scan(&made)
	if err != nil || made {
		return err
	}
	return s.migrate(ctx)
}

// migrate works under another name: half a template is never found by its own.
func (s *server) migrate(ctx context.Context) error {
	half := s.template + "_half"
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + quote(half) + " WITH (FORCE)",
		"CREATE DATABASE " + quote(half),
	} {
		if err := s.exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := pg.Migrate(ctx, s.at(half)); err != nil {
		return err
	}
	for _, sql := range []string{
		"ALTER DATABASE " + quote(half) + " ALLOW_CONNECTIONS false",
		"ALTER DATABASE " + quote(half) + " RENAME TO " + quote(s.template),
	} {
		if err := s.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func migrationsHash() (string, error) {
	dir, err := schema.Dir()
	if err != nil {
		return "", err
	}
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}
