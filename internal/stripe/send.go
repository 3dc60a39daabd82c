package stripe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// The two ways not to get an answer. They are never the same to the caller:
// after ErrNotSent nothing can have happened, after ErrUnknown anything can.
var (
	// ErrNotSent: no byte of the request left us.
	ErrNotSent = errors.New("stripe: not sent")
	// ErrUnknown: sent, perhaps in part, and no answer that can be believed.
	// The same call with the same key and bytes, or a look, resolves it.
	ErrUnknown = errors.New("stripe: outcome unknown")
	// ErrKept comes with ErrUnknown: the same call under this key never gets another
	// answer, because the provider keeps its own failure, or has the key for another
	// request. Only a look can resolve it.
	ErrKept = errors.New("stripe: the key has no other answer")
)

// apiVersion pins the shape of the answers to the one that this package reads.
const apiVersion = "2026-03-25.dahlia"

// maxAnswer is what is read of an answer; a longer one is unreadable.
const maxAnswer = 1 << 20

// OneSend is a transport on which one request is one send. A connection serves
// one request, because Go sends a request with an Idempotency-Key, and every
// GET, again by itself when a kept connection turns out to be dead. For the
// same reason there is no HTTP/2. There is no proxy from the environment.
func OneSend() *http.Transport {
	one := new(http.Protocols)
	one.SetHTTP1(true)
	return &http.Transport{
		Protocols:          one,
		DisableKeepAlives:  true,
		DisableCompression: true,
		DialContext:        (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		// Bounded by the call's own limit as well; these name the slow part.
		TLSHandshakeTimeout:    3 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// reply is an answer as it came: read to its end, not yet believed.
type reply struct {
	status     int
	retryAfter time.Duration
	requestID  string
	replayed   bool // the key's first answer, again
	body       []byte
}

// send makes one call and exactly one send. The request's body cannot be
// rewound: the last resort, should Transport not be OneSend.
func (c *Client) send(ctx context.Context, method, path, key string, form url.Values) (reply, error) {
	return c.sendBytes(ctx, method, path, key, form.Encode()) // sorted: the same call is the same bytes
}

func (c *Client) sendBytes(ctx context.Context, method, path, key, body string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	// A connection in hand counts as sent: from there on nobody can say.
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
	req, err := c.request(ctx, method, path, key, body)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	resp, err := c.http.Do(req)
	if err != nil && !sent.Load() {
		return reply{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{status: resp.StatusCode, retryAfter: retryAfter(resp.Header, time.Now()), requestID: resp.Header.Get("Request-Id")}
	r.replayed = resp.Header.Get("Idempotent-Replayed") == "true"
	if r.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return r, fmt.Errorf("%w: status %d: %w", ErrUnknown, resp.StatusCode, err)
	}
	return r, nil
}

func (c *Client) request(ctx context.Context, method, path, key, body string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Stripe-Version", apiVersion)
	req.Header.Set("User-Agent", "waitroom")
	if method == http.MethodPost {
		req.Body = io.NopCloser(strings.NewReader(body))
		req.ContentLength = int64(len(body))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Idempotency-Key", key)
	}
	return req, nil
}
