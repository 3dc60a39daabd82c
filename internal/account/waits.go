package account

import (
	"context"
	"sync"
	"time"
)

const (
	waitFree = 100 * time.Millisecond // anybody may
	waitMost = 20                     // longer, of one event's joins at once
)

// waits bounds, event by event, who stands and waits for an issuer that is slow:
// each is a connection that the replica's other events cannot have. Whoever is one
// too many is asked to come again.
type waits struct {
	mu sync.Mutex
	by map[string]int
}

// begin is the time that somebody may wait; done ends it.
func (w *waits) begin(ctx context.Context, event string) (limited context.Context, done func()) {
	limited, cancel := context.WithCancel(ctx)
	counted, over := false, false
	late := time.AfterFunc(waitFree, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case over:
		case w.by[event] >= waitMost:
			cancel()
		default:
			w.by[event]++
			counted = true
		}
	})
	return limited, func() {
		late.Stop()
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		if over = true; !counted {
			return
		}
		if w.by[event]--; w.by[event] == 0 {
			delete(w.by, event)
		}
	}
}
