package edgetest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// broken reads whole requests and hangs up.
func broken(t *testing.T) (addr string, posts func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer c.Close() //nolint:errcheck // nothing is left to be said
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil && r.Method == "POST" {
					mu.Lock()
					n++
					mu.Unlock()
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); served.Wait() }) //nolint:errcheck // it ends
	return l.Addr().String(), func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// A request that may have had its effect is never sent again: two origins that
// read it and hang up see it once between them. An edge that resends is seen.
func TestAPostIsSentOnce(t *testing.T) {
	client := &http.Client{Timeout: 30 * time.Second}
	for _, c := range []struct {
		name string
		own  map[string]string
		most int
	}{
		{"as it is", nil, 1},
		{"with a configuration that resends", altered(t, "personal.conf", "proxy_next_upstream off", "proxy_next_upstream error timeout non_idempotent"), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, atOne := broken(t)
			two, atTwo := broken(t)
			base := start(t, map[string]string{"waitroom": one + " " + two, "paycallback": one + " " + two, "shop": one}, c.own)
			for i, path := range []string{
				"/v1/events/gala/places", "/v1/events/gala/orders", "/v1/orders/0/payments", "/v1/provider/notices", "/e/gala/claim",
			} {
				before := atOne() + atTwo()
				a := ask(t, client, base, call{method: "POST", path: path, body: "{}", header: map[string]string{"Idempotency-Key": "k"}})
				sent := atOne() + atTwo() - before
				if a.status != 502 {
					t.Errorf("POST %s: %d, want 502", path, a.status)
				}
				// Both are known to be broken after the first: then one is tried.
				if sent > c.most || i == 0 && sent != c.most {
					t.Errorf("POST %s was sent %d times, want %d", path, sent, c.most)
				}
			}
		})
	}
}

// Who asks is who the edge says, and it says what it knows: what a stranger
// forges is dropped, what a trusted CDN adds is taken.
func TestTheOriginIsToldWhoAsks(t *testing.T) {
	const path = "/v1/events/" + demotest.EventID + "/places/me"
	forged := map[string]string{"X-Forwarded-For": "203.0.113.9, 198.51.100.7", "Forwarded": "for=203.0.113.9", "X-Real-IP": "203.0.113.9", "Waitroom-Suspect": "0"}
	for _, c := range []struct{ name, trusted, want string }{
		{"a stranger", "", "127.0.0.1"},
		{"a CDN", "set_real_ip_from 127.0.0.0/8;\n", "198.51.100.7"},
		{"two of ours", "set_real_ip_from 127.0.0.0/8;\nset_real_ip_from 198.51.100.0/24;\n", "203.0.113.9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := altered(t, "trusted.conf", "real_ip_header", c.trusted+"real_ip_header")
			e := open(t, demo.Build{OpensIn: time.Hour}, own)
			e.do(call{path: path, header: forged})
			for _, r := range e.origin.of(path) {
				if got := r.header.Values("X-Forwarded-For"); len(got) != 1 || got[0] != c.want {
					t.Errorf("the origin was told %q, want %s", got, c.want)
				}
				if r.header.Get("Forwarded") != "" || r.header.Get("X-Real-IP") != "" || r.header.Get("Waitroom-Suspect") != "" {
					t.Errorf("what a stranger wrote went on: %v", r.header)
				}
			}
		})
	}
}

// One network that floods is slowed, and told when to come again; the others do
// not notice. More networks than the limiter can remember are let through, all
// of them.
func TestTheEdgesLimiterFailsOpen(t *testing.T) {
	origin := watch(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
	own := altered(t, "nginx.conf", "zone=joins:32m", "zone=joins:32k")
	own["trusted.conf"] = "set_real_ip_from 127.0.0.0/8;\nreal_ip_header X-Forwarded-For;\nreal_ip_recursive on;\n"
	base := start(t, map[string]string{"waitroom": origin.addr()}, own)
	carry := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(carry.CloseIdleConnections)
	client := &http.Client{Transport: carry, Timeout: 30 * time.Second}
	const places = "/v1/events/gala/places"
	from := func(method, path, addr string) answer {
		return ask(t, client, base, call{method: method, path: path, header: map[string]string{"X-Forwarded-For": addr}})
	}
	refused := 0
	begun := time.Now()
	for i := range 600 { // from one household's many addresses
		if a := from("POST", places, fmt.Sprintf("2001:db8:1:2::%x", i+1)); a.status == 429 {
			refused++
			if a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "too_many_requests") {
				t.Fatalf("refused without a word: %v %s", a.header, a.body)
			}
		}
	}
	if most := 201 + int(10*time.Since(begun).Seconds()+1); refused < 600-most || refused == 0 {
		t.Errorf("%d of 600 joins of one network were refused, want %d at least", refused, 600-most)
	}
	if a := from("GET", "/v1/events/gala/places/me", "2001:db8:1:2::1"); a.status != 201 {
		t.Errorf("anything but a join: %d", a.status)
	}
	var asking sync.WaitGroup
	for k := range 8 { // far more than 32k can remember
		asking.Go(func() {
			for i := range 500 {
				addr := fmt.Sprintf("10.%d.%d.%d", k, i/250, i%250)
				if i%2 == 0 {
					addr = fmt.Sprintf("2001:db8:%x:%x::1", k+16, i)
				}
				if a := from("POST", places, addr); a.status != 201 {
					t.Errorf("%s: %d, want 201", addr, a.status)
					return
				}
			}
		})
	}
	asking.Wait()
	t.Logf("one network: %d of 600 refused; 4,000 networks in a memory for some 250: none", refused)
}
