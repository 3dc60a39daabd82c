// Package stack finds or starts the servers that a demo or a test needs:
// Postgres, NATS, Redis, DynamoDB's stand-in. What it starts is real wherever
// the machine has the real one, listens on this machine only, and is gone when
// the process that asked for it is gone, however that ended.
//
// It must stay out of the production binaries: an in-process NATS server
// brings flags and metrics of its own.
package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Server is one server that runs for us.
type Server struct {
	URL  string
	Kind string // what answers, for the log: "postgres 15", "redis-server", "miniredis"

	stop func() error
	once sync.Once
	err  error

	crash  func(context.Context) error // nil: nothing of this server does
	signal func(syscall.Signal) error
}

// Crash ends the server without a word to anybody and starts it again where it
// was, with what it had kept: Postgres all that was committed, NATS nothing.
func (s *Server) Crash(ctx context.Context) error {
	if s.crash == nil {
		return fmt.Errorf("%s: cannot be crashed", s.Kind)
	}
	return s.crash(ctx)
}

// Signal sends the server's process a signal.
func (s *Server) Signal(sig syscall.Signal) error {
	if s.signal == nil {
		return fmt.Errorf("%s: has no process of its own", s.Kind)
	}
	return s.signal(sig)
}

// Stop ends the server and removes what it kept for the run only. It may be
// called more than once, by anybody.
func (s *Server) Stop() error {
	s.once.Do(func() { s.err = s.stop() })
	return s.err
}

// patience is how long a server may take to answer for the first time.
const patience = 30 * time.Second

// poll asks until it is told yes, the server is dead, or the time is over.
func poll(ctx context.Context, dead <-chan struct{}, ask func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !ask(ctx) {
		select {
		case <-dead:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", ctx.Err())
		case <-again.C:
		}
	}
	return nil
}

// projectFile finds a path of the project from any folder inside it, "" if
// there is none: tests run in their package's folder, the demo at the top.
func projectFile(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if found := filepath.Join(dir, path); exists(found) {
			return found
		}
		up := filepath.Dir(dir)
		if up == dir || exists(filepath.Join(dir, "go.mod")) {
			return ""
		}
		dir = up
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
