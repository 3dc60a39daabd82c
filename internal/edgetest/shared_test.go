package edgetest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

const (
	status = "/v1/public/events/" + demotest.EventID + "/status"
	crowd  = 200
)

// at200 asks from 200 clients at once while the origin keeps its answer back
// until all have asked.
func (e *edge) at200(path string) (all [crowd]answer, took time.Duration) {
	e.t.Helper()
	release := e.origin.holding()
	defer release()
	var sent atomic.Int64
	carry := e.client.Transport.(*http.Transport).Clone()
	defer carry.CloseIdleConnections()
	client := &http.Client{Transport: counting{carry, func() {
		if sent.Add(1) == crowd {
			release()
		}
	}}, Timeout: 30 * time.Second}
	begun := time.Now()
	var asking sync.WaitGroup
	for i := range all {
		coding := []string{"", "gzip", "gzip, deflate, br", "identity"}[i%4]
		asking.Go(func() {
			all[i] = ask(e.t, client, e.url, call{path: path, header: map[string]string{"Accept-Encoding": coding, "Cookie": "visitor=" + string(rune('a'+i%26))}})
		})
	}
	asking.Wait()
	return all, time.Since(begun)
}

// counting says when a request is on its way.
type counting struct {
	http.RoundTripper
	sent func()
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent()
	return c.RoundTripper.RoundTrip(r)
}

// Of 200 who ask at once one reaches the origin, whatever they can unpack and
// whoever they are: on an empty edge, and when what it keeps has grown old and
// the origin is slow.
func TestACrowdIsOneRequest(t *testing.T) {
	e := open(t, demo.Build{OpensIn: time.Hour}, nil)
	for _, when := range []string{"on an empty edge", "when what is kept is old"} {
		before := len(e.origin.of(status))
		all, took := e.at200(status)
		hits := len(e.origin.of(status)) - before
		// The document is good for a second: a crowd that takes longer may ask again.
		if most := 1 + int(took/time.Second); hits < 1 || hits > most {
			t.Errorf("%s: %d requests of %d clients reached the origin in %s, want at most %d", when, hits, crowd, took, most)
		}
		for i, a := range all {
			if a.status != 200 || a.header.Get("Cache-Control") == "" || i%4 != 1 && i%4 != 2 && !strings.Contains(a.body, `"epoch":1`) ||
				len(a.header.Values("Set-Cookie")) > 0 || (i%4 == 1 || i%4 == 2) != (a.header.Get("Content-Encoding") == "gzip") {
				t.Fatalf("%s: client %d got %d %v %.100q", when, i, a.status, a.header, a.body)
			}
		}
		t.Logf("%s: %d clients, %d request at the origin, %s", when, crowd, hits, took.Round(time.Millisecond))
		pause(t, 4*time.Second) // older than it may be served while it is fetched
	}
}

// What never changes is fetched once; and a cookie, a token or a query makes no
// second copy, for the origin never sees them.
func TestSharedPathsCarryNothingPersonal(t *testing.T) {
	e := open(t, demo.Build{OpensIn: time.Hour}, nil)
	page := e.do(call{path: "/e/" + demotest.EventID})
	_, after, named := strings.Cut(page.body, `data-plan="`)
	if page.status != 200 || !named {
		t.Fatalf("the event's page: %d, no plan named", page.status)
	}
	plan, _, _ := strings.Cut(after, `"`)
	seatmap := "/v1/public/events/" + demotest.EventID + "/seatmap." + plan + ".json"
	all, _ := e.at200(seatmap)
	for i, a := range all {
		if a.status != 200 {
			t.Fatalf("client %d: %d %s", i, a.status, a.body)
		}
	}
	for _, c := range []call{
		{path: seatmap + "?nocache=1"},
		{path: seatmap, header: map[string]string{"Authorization": "Bearer x", "Cookie": "a=b", "Cache-Control": "no-cache", "X-Forwarded-For": "1.2.3.4"}},
		{path: seatmap, method: "HEAD"},
	} {
		if a := e.do(c); a.status != 200 || a.header.Get("X-Cache") != "HIT" {
			t.Errorf("%+v: %d, %s", c, a.status, a.header.Get("X-Cache"))
		}
	}
	asked := e.origin.of(seatmap)
	if len(asked) != 1 || asked[0].path != seatmap {
		t.Errorf("the origin was asked %d times, first for %q; want once and without a query", len(asked), asked[0].path)
	}
	for _, a := range asked {
		if a.header.Get("Cookie") != "" || a.header.Get("Authorization") != "" {
			t.Errorf("the origin was told %v", a.header)
		}
	}
	if a := e.do(call{method: "POST", path: status}); a.status != 405 || len(e.origin.of(status)) != 0 {
		t.Errorf("a POST to a shared path: %d, and %d at the origin", a.status, len(e.origin.of(status)))
	}
	// The browser's own revalidation is answered here.
	first := e.do(call{path: status})
	if a := e.do(call{path: status, header: map[string]string{"If-None-Match": first.header.Get("ETag")}}); a.status != 304 && a.header.Get("ETag") == first.header.Get("ETag") {
		t.Errorf("the same document again: %d, want 304", a.status)
	}
}

// A personal path is never kept, also where its address is another's to the
// letter.
func TestPersonalPathsAreNeverKept(t *testing.T) {
	e := open(t, demo.Build{OpensIn: time.Hour}, nil)
	tickets := map[string]bool{}
	for range 3 {
		a := e.do(call{method: "POST", path: "/v1/events/" + demotest.EventID + "/places"})
		if a.status != 201 || tickets[a.body] {
			t.Fatalf("join: %d %s", a.status, a.body)
		}
		tickets[a.body] = true
	}
	for _, path := range []string{"/e/" + demotest.EventID + "/place", "/v1/events/" + demotest.EventID + "/places/me", "/v1/verify"} {
		for range 3 {
			if a := e.do(call{path: path}); a.header.Get("X-Cache") != "" || !strings.Contains(a.header.Get("Cache-Control"), "no-store") {
				t.Errorf("%s: %d, kept %q, X-Cache %q", path, a.status, a.header.Get("Cache-Control"), a.header.Get("X-Cache"))
			}
		}
		if n := len(e.origin.of(path)); n != 3 {
			t.Errorf("%s: %d of 3 requests reached the origin", path, n)
		}
	}
}

// When the origin is gone, what everybody sees goes on for half a minute, with
// its age in it; what lets somebody through does not.
func TestWithoutTheOriginThePublicSeesAndNobodyPasses(t *testing.T) {
	e := open(t, demo.Build{}, nil)
	pass := map[string]string{"Authorization": "Bearer " + e.sign(demotest.EventID, time.Minute)}
	e.do(call{path: status})
	if a := e.do(call{path: shop, header: pass}); a.status != 200 {
		t.Fatalf("with the origin: %d %s", a.status, a.body)
	}
	e.origin.CloseClientConnections()
	e.origin.Close()
	pause(t, 1500*time.Millisecond) // past the second for which it is kept
	if a := e.do(call{path: status}); a.status != 200 || a.header.Get("X-Cache") == "HIT" && a.body == "" {
		t.Errorf("the status without the origin: %d %s", a.status, a.body)
	}
	before := len(e.shop.of(shop))
	other := map[string]string{"Authorization": "Bearer " + e.sign(demotest.EventID, 2*time.Minute)}
	if a := e.do(call{path: shop, header: other}); a.status != 503 || a.header.Get("Retry-After") == "" || len(e.shop.of(shop)) != before {
		t.Errorf("a pass that cannot be checked: %d %s, want 503 and nothing at the shop", a.status, a.body)
	}
}
