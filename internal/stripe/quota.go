package stripe

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// ErrQuota: the call was not sent, because the calls that this use may make a
// second are used up. It comes with ErrNotSent.
var ErrQuota = errors.New("stripe: this use's share of the account's calls is used up")

// Quota is one use's share of the calls a second that the provider's account
// may be asked. It is a transport, so that no call passes it by: a call waits
// for its turn as long as patience allows, or is not sent.
type Quota struct {
	next      http.RoundTripper
	limiter   *rate.Limiter
	perSecond float64
	patience  time.Duration

	sent, refused atomic.Int64
}

// NewQuota lets perSecond calls through to next; in any second a tenth more
// after a pause, which is never banked beyond that.
func NewQuota(next http.RoundTripper, perSecond float64, patience time.Duration) *Quota {
	burst := max(1, int(perSecond/10))
	return &Quota{next: next, limiter: rate.NewLimiter(rate.Limit(perSecond), burst), perSecond: perSecond, patience: patience}
}

// Room says whether a call that is made now would be sent.
func (q *Quota) Room() bool {
	return q.limiter.Tokens()+q.patience.Seconds()*q.perSecond >= 1
}

// Calls are how many were sent, and how many were not for want of room.
func (q *Quota) Calls() (sent, refused int64) { return q.sent.Load(), q.refused.Load() }

// RoundTrip sends the call in its turn.
func (q *Quota) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), q.patience)
	err := q.limiter.Wait(ctx)
	cancel()
	if err == nil {
		q.sent.Add(1)
		return q.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // a transport's duty, whatever happens
	}
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	q.refused.Add(1)
	return nil, ErrQuota
}
