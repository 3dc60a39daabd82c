package payprov_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"waitroom/internal/payprov"
)

const key = "sk_test_stand_in"

// start serves a provider on loopback for the length of a test.
func start(t testing.TB, cfg payprov.Config) (*payprov.Provider, string) {
	t.Helper()
	cfg.SecretKey = key
	p := payprov.New(cfg)
	t.Cleanup(p.Close)
	s := httptest.NewServer(p.Handler())
	t.Cleanup(s.Close)
	return p, s.URL
}

// said is an answer as its reader sees it.
type said struct {
	status int
	header http.Header
	body   string
	ID     string `json:"id"`
	Status string `json:"status"`
	Error  struct {
		Type, Code    string
		PaymentIntent struct{ Status string } `json:"payment_intent"`
	} `json:"error"`
}

func post(t testing.TB, address, idempotencyKey string, pairs ...string) said {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", idempotencyKey)
	}
	return do(t, req)
}

func get(t testing.TB, address string) said {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req)
}

func do(t testing.TB, req *http.Request) said {
	t.Helper()
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Error(err) // not Fatal: some callers are no test's goroutine
		return said{}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	s := said{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(body, &s); err != nil && !strings.HasPrefix(s.body, "[") {
			t.Errorf("%s %s: %v in %s", req.Method, req.URL, err, body)
		}
	}
	return s
}

func wantRefused(t testing.TB, what string, got said, status int, kind, code string) {
	t.Helper()
	if got.status != status || got.Error.Type != kind || got.Error.Code != code {
		t.Errorf("%s: %d %s %q, want %d %s %q", what, got.status, got.Error.Type, got.Error.Code, status, kind, code)
	}
}

// listOf reads a page: the ids on it, and whether there are more.
func listOf(t testing.TB, page said) (ids []string, more bool) {
	t.Helper()
	var list struct {
		Object  string
		HasMore bool `json:"has_more"`
		Data    []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(page.body), &list); err != nil || list.Object != "list" {
		t.Fatalf("no list: %v in %d %s", err, page.status, page.body)
	}
	for _, v := range list.Data {
		ids = append(ids, v.ID)
	}
	return ids, list.HasMore
}
