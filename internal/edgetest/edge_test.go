package edgetest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
	"waitroom/internal/stack"
)

// edge is nginx, a house behind it, and an application that only those let in
// may use.
type edge struct {
	*demo.House
	t      *testing.T
	url    string
	origin *watched // the house, as nginx reaches it
	shop   *watched
	client *http.Client
}

// open starts all of it. own are more files in the place of the edge's.
func open(t *testing.T, b demo.Build, own map[string]string) *edge {
	t.Helper()
	b.TrustedProxies = []string{"127.0.0.0/8"}
	e := &edge{House: demotest.Open(t, b), t: t}
	at, err := url.Parse(e.Public)
	if err != nil {
		t.Fatal(err)
	}
	e.origin = watch(t, httputil.NewSingleHostReverseProxy(at))
	e.shop = watch(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "seats") }))
	e.url = start(t, map[string]string{"waitroom": e.origin.addr(), "shop": e.shop.addr(), "paycallback": strings.TrimPrefix(e.Pay, "http://")}, own)
	carry := &http.Transport{MaxConnsPerHost: 300, MaxIdleConnsPerHost: 300, DisableCompression: true}
	t.Cleanup(carry.CloseIdleConnections)
	e.client = &http.Client{Transport: carry, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return e
}

// start runs the project's own configuration with these servers behind it.
func start(t *testing.T, upstreams, own map[string]string) string {
	t.Helper()
	s, err := stack.Nginx(t.Context(), "infra/nginx", func(port int) map[string]string {
		files := map[string]string{"listen.conf": fmt.Sprintf("listen 127.0.0.1:%d;", port), "origin.conf": servers(upstreams)}
		for name, text := range own {
			files[name] = text
		}
		return files
	})
	if errors.Is(err, stack.ErrNoNginx) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("nginx: %v", err)
		}
	})
	return s.URL
}

// servers writes upstreams, each of one or more addresses.
func servers(upstreams map[string]string) string {
	var b strings.Builder
	for _, name := range []string{"waitroom", "paycallback", "shop"} {
		fmt.Fprintf(&b, "upstream %s {\n", name)
		for addr := range strings.SplitSeq(upstreams[name], " ") {
			if addr == "" {
				addr = "127.0.0.1:9" // nobody
			}
			fmt.Fprintf(&b, "server %s;\n", addr)
		}
		b.WriteString("keepalive 128;\nkeepalive_timeout 60s;\n}\n")
	}
	return b.String()
}

// altered is a file of the configuration with one thing changed, to see that
// somebody notices.
func altered(t *testing.T, name, old, now string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../infra/nginx/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q to change", name, old)
	}
	return map[string]string{name: strings.Replace(string(text), old, now, 1)}
}

// watched counts what reaches a server and can hold its answers.
type watched struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
	hold  chan struct{} // nil, or closed: answers at once
}

type asked struct {
	method, path string
	header       http.Header
	at           time.Time
}

func watch(t *testing.T, serve http.Handler) *watched {
	t.Helper()
	w := &watched{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, asked{r.Method, r.URL.RequestURI(), r.Header.Clone(), time.Now()})
		hold := w.hold
		w.mu.Unlock()
		if hold != nil {
			<-hold
		}
		serve.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *watched) addr() string { return strings.TrimPrefix(w.URL, "http://") }

// holding keeps every answer back until it is called.
func (w *watched) holding() (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hold := make(chan struct{})
	w.hold = hold
	return sync.OnceFunc(func() { close(hold) })
}

// of is what was asked of a path so far.
func (w *watched) of(path string) (some []asked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asked {
		if at, _, _ := strings.Cut(a.path, "?"); at == path {
			some = append(some, a)
		}
	}
	return some
}

type answer struct {
	status int
	header http.Header
	body   string
}

type call struct {
	method, path, body string
	header             map[string]string
}

func (e *edge) do(c call) answer { e.t.Helper(); return ask(e.t, e.client, e.url, c) }

func ask(t *testing.T, client *http.Client, base string, c call) answer {
	t.Helper()
	method := c.method
	if method == "" {
		method = "GET"
	}
	req, err := http.NewRequestWithContext(t.Context(), method, base+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Error(err)
		return answer{}
	}
	req.GetBody = nil
	for k, v := range c.header {
		req.Header.Set(k, v)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Errorf("%s %s: %v", method, c.path, err)
		return answer{}
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, c.path, err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

// sign makes a pass as the house would.
func (e *edge) sign(event string, life time.Duration) string {
	e.t.Helper()
	ring, err := admission.ParsePassKeys("waitroom", []byte(e.Keys.PassKeys))
	if err != nil {
		e.t.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	text, err := ring.Sign(admission.Pass{
		Event: event, Holder: admission.HolderOf(event + life.String()), Epoch: 1, Place: 11, Take: 5,
		IssuedAt: now.Add(-time.Minute), ExpiresAt: now.Add(life), Quota: 4,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return text
}

func pause(t *testing.T, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
