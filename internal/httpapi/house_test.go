package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/pgtest"
)

// house is every process of a sale, asked over HTTP. Every exchange is held
// against the contract.
type house struct {
	*demo.House
	t        *testing.T
	pool     *pgxpool.Pool
	contract *contract
	client   *http.Client
}

func open(t *testing.T, b demo.Build) *house {
	t.Helper()
	if b.DatabaseURL == "" {
		b.DatabaseURL = pgtest.URL(t)
	}
	carry := &http.Transport{MaxConnsPerHost: 500, MaxIdleConnsPerHost: 500, DisableCompression: true}
	t.Cleanup(carry.CloseIdleConnections)
	return &house{
		House: demotest.Open(t, b), t: t, pool: pgtest.Open(t, b.DatabaseURL, pgtest.Conns(3)), contract: readContract(t),
		client: &http.Client{
			Transport: carry, Timeout: 20 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// call is one request. body is sent as it is if it is text, else as JSON.
type call struct {
	method, path string
	token, key   string
	body         any
	header       map[string]string
	base         string // "": the public listener
	page         bool   // not described by the contract
}

type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // nothing came back
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %s", a.status, a.body)
}

// code is the problem's.
func (a answer) code() string {
	var p struct{ Code string }
	json.Unmarshal(a.body, &p) //nolint:errcheck // "" then
	return p.Code
}

func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
}

// do sends one request, once, and holds the exchange against the contract.
func (h *house) do(c call) answer { return h.doIn(h.t.Context(), c) }

func (h *house) doIn(ctx context.Context, c call) answer {
	x, a := h.send(ctx, c)
	if a.err == nil && !c.page {
		h.judge(x)
	}
	return a
}

// judge holds an exchange against the contract.
func (h *house) judge(x exchange) {
	h.t.Helper()
	for _, fault := range h.contract.broken(context.WithoutCancel(h.t.Context()), x) {
		h.t.Errorf("%s %s: %v\n\tasked %.200s\n\tanswered %d %.300s", x.request.Method, x.request.URL, fault, x.sent, x.status, x.body)
	}
}

func (h *house) send(ctx context.Context, c call) (exchange, answer) {
	var sent []byte
	switch body := c.body.(type) {
	case nil:
	case string:
		sent = []byte(body)
	default:
		sent, _ = json.Marshal(body)
	}
	base := c.base
	if base == "" {
		base = h.Public
	}
	req, err := http.NewRequestWithContext(ctx, c.method, base+c.path, bytes.NewReader(sent))
	if err != nil {
		h.t.Errorf("%s %s: %v", c.method, c.path, err)
		return exchange{}, answer{err: err}
	}
	req.GetBody = nil // else the transport would send twice, for a key is named
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	for k, v := range c.header {
		req.Header.Set(k, v)
	}
	res, err := h.client.Do(req)
	if err != nil {
		return exchange{}, answer{err: err}
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	a := answer{res.StatusCode, res.Header, body, err}
	return exchange{req, sent, a.status, a.header, a.body}, a
}

// want fails unless the answer has that status and, if it refuses, that code.
func (h *house) want(a answer, status int, code string) answer {
	h.t.Helper()
	if a.err != nil || a.status != status || a.code() != code {
		h.t.Errorf("answered %s, want %d %s", a, status, code)
	}
	return a
}
