package outlet

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// start keeps the clock until the transport has taken the request up: from
// there the distance to the next start counts. Whoever waits for the clock
// holds no connection.
func (o *Outlet) start(t *Turn, req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	select {
	case o.clock <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrClosed, ctx.Err())
	}
	letGo := sync.OnceFunc(func() { <-o.clock })
	defer letGo()
	if err := o.due(ctx, t); err != nil {
		return nil, err
	}
	stamp := sync.OnceFunc(func() { o.stamp(t); letGo() })
	ctx, t.cancel = context.WithTimeout(ctx, o.limits.Call)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { stamp() },
		WroteHeaders: t.wrote,
	})
	resp, err := o.next.RoundTrip(oneSend(req.WithContext(ctx)))
	stamp() // a transport that turned it down without a try: it counts all the same
	return resp, err
}

// due returns when the next start is allowed and the outlet is known to be
// ours. Whoever stood still meanwhile (a stopped process, a machine asleep) asks
// again, and waits a whole distance from then: what was handed to the transport
// before the standstill may be leaving only now.
func (o *Outlet) due(ctx context.Context, t *Turn) error {
	for {
		if err := pause(ctx, time.Until(o.last.Add(o.limits.Apart))); err != nil {
			return fmt.Errorf("%w: %w", ErrClosed, err)
		}
		sure := t.lastSure()
		if !sure.IsZero() && time.Since(sure) <= o.limits.Fresh {
			return nil
		}
		if err := o.ours(ctx); err != nil {
			return fmt.Errorf("%w: %w", ErrClosed, err)
		}
		t.Sure()
		if !sure.IsZero() {
			o.last = time.Now()
		}
	}
}

// stamp is the start. Its caller holds the clock.
func (o *Outlet) stamp(t *Turn) {
	o.last = time.Now()
	o.mu.Lock()
	o.inFlight++
	o.starts++
	n := o.inFlight
	o.mu.Unlock()
	t.mu.Lock()
	t.start.At, t.start.Since, t.start.InFlight = o.last, o.last.Sub(o.began), n
	t.mu.Unlock()
	close(t.started)
}

func (o *Outlet) landed() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight--
}

// wrote counts what left: the transport may not send a request twice.
func (t *Turn) wrote() { t.mu.Lock(); t.start.Wrote++; t.mu.Unlock() }

// oneSend takes away what a transport could rewind, and so send again.
func oneSend(req *http.Request) *http.Request {
	req.GetBody = nil // req is our own copy
	return req
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
