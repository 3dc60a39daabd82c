// Package outlet is the one gate to the payment provider for everything that
// has to do with refunds: sends, retries, looks and what a person pushes. It is
// an http.RoundTripper, so that no call passes it by: whoever has a client of
// it has its limits.
//
// Two resources are guarded, and one does not stand for the other: how often
// calls start, and how many of ours are under way. Starts are Apart from each
// other where they happen, as the request is handed to the transport; there is
// no permit that could be kept and spent later. Time in which nothing started
// is lost: nothing is made up for.
package outlet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Limits of an Outlet. All must be set.
type Limits struct {
	Apart    time.Duration // between two starts, at least
	InFlight int           // calls under way at most, each until its body is closed
	Call     time.Duration // ends a call: from its start to its answer's last byte, name look-up and TLS included
	// Fresh is how long a word that the outlet is ours stands. A turn that is
	// older asks again before it starts.
	Fresh time.Duration
}

// Account is what the provider's account was assumed to bear: five starts a
// second, ten calls under way, three seconds for each.
func Account() Limits {
	return Limits{Apart: 200 * time.Millisecond, InFlight: 10, Call: 3 * time.Second, Fresh: time.Second}
}

// ErrClosed: the call was not started, because it could not be known that the
// outlet is ours. Nothing left us.
var ErrClosed = errors.New("outlet: closed")

// Outlet lets calls out.
type Outlet struct {
	limits Limits
	next   http.RoundTripper
	ours   func(context.Context) error // nil error: the outlet is ours now
	began  time.Time
	slots  chan struct{} // one for each call under way
	clock  chan struct{} // held by whoever is about to start; guards last
	last   time.Time     // the last start, monotonic

	mu       sync.Mutex
	inFlight int
	starts   int64
}

// New makes an outlet before next, which must make one send of one request.
// ours is asked before a start whenever the last answer is not fresh.
func New(next http.RoundTripper, l Limits, ours func(context.Context) error) (*Outlet, error) {
	if l.Apart <= 0 || l.InFlight < 1 || l.Call <= 0 || l.Fresh <= l.Apart {
		return nil, fmt.Errorf("outlet: with limits of %+v it would let out all or nothing", l)
	}
	return &Outlet{
		limits: l, next: next, ours: ours, began: time.Now(),
		slots: make(chan struct{}, l.InFlight), clock: make(chan struct{}, 1),
	}, nil
}

// InFlight is how many calls are under way, and Starts how many there were.
func (o *Outlet) InFlight() int { o.mu.Lock(); defer o.mu.Unlock(); return o.inFlight }

// Starts is how many calls were handed to the transport.
func (o *Outlet) Starts() int64 { o.mu.Lock(); defer o.mu.Unlock(); return o.starts }

// RoundTrip waits for a slot, unless the request brings a turn, then for its
// time, and makes one send.
func (o *Outlet) RoundTrip(req *http.Request) (*http.Response, error) {
	t := turnOf(req.Context())
	if t == nil {
		var err error
		if t, err = o.Turn(req.Context()); err != nil {
			return nil, err
		}
	}
	if !t.use() {
		return nil, fmt.Errorf("%w: one turn is one call", ErrClosed)
	}
	resp, err := o.start(t, req)
	if err != nil {
		t.end()
		return nil, err
	}
	resp.Body = &body{resp.Body, t}
	return resp, nil
}

// body keeps the call's slot until it is closed.
type body struct {
	io.ReadCloser
	turn *Turn
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.turn.end()
	return err
}
