package payprov

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"time"
)

// delivery is one copy of a notice on its way to one endpoint. It is tried
// until it is acknowledged: the bound is on how many wait, not on tries.
type delivery struct {
	to              Endpoint
	seq             int64 // of its notice
	id, kind, about string
	body            []byte
	odd             Oddity   // why there is this copy
	wrong           []Oddity // how its first tries are signed
	behind          bool     // it waits for a later one to be acknowledged
	due             time.Time
	tries           int
}

// oddAt is what is odd at the next try.
func (d *delivery) oddAt() Oddity {
	if d.tries < len(d.wrong) {
		return d.wrong[d.tries]
	}
	return d.odd
}

// noticeClient asks no proxy and follows no redirect: a redirect is a failure.
func noticeClient() *http.Client {
	return &http.Client{
		Timeout:       10 * time.Second,
		Transport:     &http.Transport{MaxIdleConnsPerHost: tellers, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// run is one teller.
func (n *notices) run(ctx context.Context) {
	for {
		d, ok := n.take(ctx)
		if !ok {
			return
		}
		n.finish(d, n.deliver(ctx, d))
	}
}

// deliver is one try: the endpoint's answer, 0 when there is none.
func (n *notices) deliver(ctx context.Context, d *delivery) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.to.URL, bytes.NewReader(d.body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (stand-in)")
	req.Header.Set("Stripe-Signature", d.signature(time.Now()))
	resp, err := n.client.Do(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // to its end, or the connection is not kept
	_ = resp.Body.Close()
	return resp.StatusCode
}

// signature is the next try's: right, unless that try is to be wrong.
func (d *delivery) signature(now time.Time) string {
	switch d.oddAt() {
	case Forged:
		return signature("whsec_of_somebody_else", d.body, now)
	case Stale:
		return signature(d.to.Secret, d.body, now.Add(-time.Hour))
	}
	return signature(d.to.Secret, d.body, now)
}

// signature is the v1 scheme: HMAC-SHA256 over the stamp, a dot and the body.
// Every try is stamped anew.
func signature(secret string, body []byte, now time.Time) string {
	stamp := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
