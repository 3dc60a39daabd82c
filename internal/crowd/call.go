package crowd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// reply is what came back: zero status when nothing did.
type reply struct {
	status int
	body   []byte
	header http.Header
	at     time.Time
}

// code is the problem's stable code, or the status where there is none.
func (r reply) code() string {
	var p struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(r.body, &p); p.Code != "" {
		return p.Code
	}
	if r.status == 0 {
		return "no answer"
	}
	return "HTTP " + strconv.Itoa(r.status)
}

// after is how long the answer asks to wait before the next try.
func (r reply) after(otherwise time.Duration) time.Duration {
	if s, err := strconv.ParseFloat(r.header.Get("Retry-After"), 64); err == nil && s >= 0 && s < 120 {
		return time.Duration(s * float64(time.Second))
	}
	return otherwise
}

func (r reply) into(v any) bool { return json.Unmarshal(r.body, v) == nil }

// call sends one request, once.
func (c *Crowd) call(ctx context.Context, method, url, token, key string, body []byte) reply {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return reply{at: time.Now()}
	}
	// With a way to read the body again the transport would resend on its own.
	req.GetBody = nil
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return reply{at: time.Now()}
	}
	defer res.Body.Close() //nolint:errcheck // read only
	read, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	if err != nil {
		return reply{at: time.Now()}
	}
	return reply{status: res.StatusCode, body: read, header: res.Header, at: time.Now()}
}

func secret(r *rand.Rand) string {
	var b [24]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// hash names a holder as the house does: by the hash of the secret.
func hash(secret string) string {
	h := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(h[:])
}

// wait sleeps unless ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
