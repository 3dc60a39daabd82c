package outlet

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Turn is a slot for one call, taken before the call is written down, so that
// what is written down can start at once.
type Turn struct {
	outlet  *Outlet
	used    atomic.Bool
	ended   sync.Once
	cancel  context.CancelFunc // of the call's own limit; set before it starts
	started chan struct{}      // closed at the start, or when there will be none

	mu    sync.Mutex
	sure  time.Time // when the outlet was last known to be ours
	start Start
}

// Start is what is known of a call's start.
type Start struct {
	At       time.Time     // zero: it never started
	Since    time.Duration // since the outlet began, monotonic
	InFlight int           // calls under way, this one among them
	Wrote    int           // requests that the transport wrote
}

// Turn takes a slot, and waits for one as long as ctx lasts.
func (o *Outlet) Turn(ctx context.Context) (*Turn, error) {
	select {
	case o.slots <- struct{}{}:
		return &Turn{outlet: o, started: make(chan struct{})}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Sure says that the outlet is known to be ours now.
func (t *Turn) Sure() { t.mu.Lock(); t.sure = time.Now(); t.mu.Unlock() }

// Started is closed when the call has started, or never will.
func (t *Turn) Started() <-chan struct{} { return t.started }

// Start tells of the call's start.
func (t *Turn) Start() Start { t.mu.Lock(); defer t.mu.Unlock(); return t.start }

// GiveBack ends a turn whose call is not made.
func (t *Turn) GiveBack() {
	if t.use() {
		t.end()
	}
}

// use is true once.
func (t *Turn) use() bool { return t.used.CompareAndSwap(false, true) }

func (t *Turn) end() {
	t.ended.Do(func() {
		if t.cancel != nil {
			t.cancel()
		}
		if !t.Start().At.IsZero() {
			t.outlet.landed()
		} else {
			close(t.started)
		}
		<-t.outlet.slots
	})
}

// lastSure is when the outlet was last known to be ours; zero: never asked.
func (t *Turn) lastSure() time.Time { t.mu.Lock(); defer t.mu.Unlock(); return t.sure }

type turnKey struct{}

// With is a context whose next call is this turn's.
func (t *Turn) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

func turnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// Ago is how long ago the call started; 0 if it never did.
func (s Start) Ago() time.Duration {
	if s.At.IsZero() {
		return 0
	}
	return time.Since(s.At)
}
