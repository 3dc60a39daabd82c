// Package trial is the outlet's acceptance: the built refunder and the built
// stand-in provider, each a process of its own, on a real Postgres, while the
// provider is fast, slow, cuts its answers off, refuses and recovers in turn.
// First sends, retries, looks and what a person pushes are due at once; the
// refunder is stopped and let go, a second one is started beside it, and the
// first is killed in the middle of a refund. What is judged are two logs that
// know nothing of each other: ours, and the provider's.
package trial

import (
	"context"
	"errors"
	"io"
	"time"
)

// Setting is how long the trial is, and with how much.
type Setting struct {
	Bin         string // the folder of the built refunder and payprov
	DatabaseURL string // an empty Postgres
	Out         io.Writer

	Phase     time.Duration // of each way that the provider behaves
	PerSecond float64       // refunds that come while it goes on
	Batch     int           // refunds that are due at one instant
	CallLimit time.Duration // of one call; a slow provider takes as long
	// Hurry makes due what waits for a later look: as if minutes had passed.
	Hurry bool
}

// Usual is the trial as it is to be passed: several minutes.
func Usual() Setting {
	return Setting{Phase: 30 * time.Second, PerSecond: 1, Batch: 20, CallLimit: 3 * time.Second}
}

// Short is the same course in half a minute.
func Short() Setting {
	return Setting{Phase: 2 * time.Second, PerSecond: 2, Batch: 8, CallLimit: 3 * time.Second, Hurry: true}
}

// Run holds the trial. An error says that it could not be held.
func Run(ctx context.Context, s Setting) (r Report, err error) {
	b, err := open(ctx, s)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.close(ctx, err)) }()
	if err := b.course(ctx); err != nil {
		return r, err
	}
	return b.judged(ctx)
}
