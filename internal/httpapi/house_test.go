package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/admission"
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

const places = "/v1/events/" + demotest.EventID + "/places"

type joined struct {
	Place struct {
		Number int64
		State  string
	}
	Ticket, Secret string
	status         int
}

func (h *house) join(secret string) (j joined) {
	h.t.Helper()
	a := h.do(call{method: "POST", path: places, token: secret})
	if a.status != 201 && a.status != 200 {
		h.t.Fatalf("join: %s", a)
	}
	a.into(h.t, &j)
	j.status = a.status
	return j
}

// guest is somebody with a pass.
type guest struct {
	secret, ticket, pass string
	number, take         int64
}

// letIn joins and waits at the door.
func (h *house) letIn() guest {
	h.t.Helper()
	secret := admission.NewSecret()
	j := h.join(secret)
	return h.enter(secret, j)
}

func (h *house) enter(secret string, j joined) guest {
	h.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		a := h.do(call{method: "POST", path: places + "/me/pass", token: j.Ticket})
		var got struct {
			Pass         string
			Take, Number int64
		}
		switch a.status {
		case 200:
			a.into(h.t, &got)
			return guest{secret, j.Ticket, got.Pass, got.Number, got.Take}
		case 202, 503:
			h.pause(50 * time.Millisecond)
		default:
			h.t.Fatalf("pass: %s", a)
		}
	}
	h.t.Fatalf("place %d was not let in within 30 s: %+v", j.Place.Number, h.status())
	return guest{}
}

// pause waits a while, less if the test ends.
func (h *house) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-h.t.Context().Done():
	}
}

// until asks until it is told yes.
func (h *house) until(what string, yes func() bool) {
	h.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !yes() {
		if time.Now().After(deadline) {
			h.t.Fatalf("not within 20 s: %s", what)
		}
		h.pause(20 * time.Millisecond)
	}
}

type status struct {
	State, Reason                      string
	Front, Tail, Waiting, Taken, Epoch int64
	Version                            int64
	AtDoor                             int64 `json:"at_door"`
	Seats                              struct{ Free, Pending, Sold int64 }
}

func (h *house) status() (s status) {
	h.t.Helper()
	a := h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/status"})
	a.into(h.t, &s)
	return s
}

// claim asks for seats with a pass.
func (h *house) claim(g guest, key string, wish any) answer {
	return h.do(call{method: "POST", path: "/v1/events/" + demotest.EventID + "/orders", token: g.pass, key: key, body: wish})
}

type seats map[string]any

func named(guids ...string) seats { return seats{"seats": guids} }

func standing(n any) seats { return seats{"tier": "Standing", "quantity": n} }

type order struct {
	Order struct {
		ID, Status  string
		AmountMinor int64 `json:"amount_minor"`
		Seats       []struct{ GUID string }
		PayURL      string `json:"pay_url"`
	}
}

func (h *house) order(a answer) (o order) {
	h.t.Helper()
	a.into(h.t, &o)
	return o
}

// one reads one number of the database.
func (h *house) one(sql string, args ...any) (n int64) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), sql, args...).Scan(&n); err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// facts is a count and a checksum of every table, but for those that change by
// themselves: what the claimers report, the credit that flows, and that a
// notice was relayed. A buyer who holds nothing is a lock to take turns at, and
// no fact.
func (h *house) facts() map[string]string {
	h.t.Helper()
	var tables string
	err := h.pool.QueryRow(h.t.Context(), `
		SELECT string_agg(quote_ident(tablename), ' ' ORDER BY tablename) FROM pg_tables
		WHERE schemaname = 'public' AND tablename NOT IN ('claim_reports', 'release_log')`).Scan(&tables)
	if err != nil {
		h.t.Fatal(err)
	}
	facts := map[string]string{}
	for _, table := range strings.Fields(tables) {
		var n int64
		var sum string
		err := h.pool.QueryRow(h.t.Context(), `
			SELECT count(*), coalesce(md5(string_agg(fact, chr(10) ORDER BY fact)), '') FROM (SELECT (to_jsonb(r) - 'relayed_at')::text AS fact FROM `+table+` r`+map[string]string{"buyers": ` WHERE held > 0`}[table]+`) facts`).Scan(&n, &sum)
		if err != nil {
			h.t.Fatal(err)
		}
		facts[table] = fmt.Sprint(n, " ", sum)
	}
	if len(facts) < 15 {
		h.t.Fatalf("facts of %d tables: %v", len(facts), facts)
	}
	return facts
}
