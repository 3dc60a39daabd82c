package edgetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

const (
	public       = "/v1/public/events/" + demotest.EventID
	availability = public + "/availability"
)

// Two thousand pages that look at a sale, and follow its seats by their cursors,
// are a request a second and document to the origin, or two where one second is
// cut in two.
func TestTwoThousandClientsAreTwoRequestsASecond(t *testing.T) {
	e := open(t, demo.Build{OpensIn: time.Hour}, nil)
	const clients, looks = 2000, 3
	carry := &http.Transport{MaxIdleConns: clients, MaxIdleConnsPerHost: clients, DisableCompression: true}
	t.Cleanup(carry.CloseIdleConnections)
	client := &http.Client{Transport: carry, Timeout: time.Minute}
	begun := time.Now()
	var looking sync.WaitGroup
	for i := range clients {
		looking.Go(func() {
			cursor := ""
			pause(t, time.Duration(i)*time.Second/clients)
			for range looks {
				if a := ask(t, client, e.url, call{path: status, header: map[string]string{"Accept-Encoding": "gzip"}}); a.status != 200 {
					t.Errorf("client %d: status %d", i, a.status)
				}
				a := ask(t, client, e.url, call{path: availability + cursor})
				var seats struct{ Cursor string }
				if err := json.Unmarshal([]byte(a.body), &seats); err != nil || a.status != 200 || seats.Cursor == "" {
					t.Errorf("client %d: %d %.80q", i, a.status, a.body)
					return
				}
				cursor = "?since=" + seats.Cursor
				pause(t, time.Second)
			}
		})
	}
	looking.Wait()
	took := time.Since(begun)
	for document, asked := range e.origin.counts() {
		if most := 2 * (int(took/time.Second) + 1); asked > most && strings.HasPrefix(document, public) {
			t.Errorf("%s was asked %d times in %s, want at most %d", document, asked, took, most)
		}
		t.Logf("%d at the origin in %s: %s", asked, took.Round(10*time.Millisecond), document)
	}
	t.Logf("%d clients asked %d times", clients, 2*clients*looks)
}

// counts is how often each document was asked for, the most often asked last.
func (w *watched) counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := map[string]int{}
	for _, a := range w.asked {
		n[a.path]++
	}
	return n
}

// Nothing that a stranger may send makes a shared answer another's: not what it is
// kept under, not what the origin sees, not what the next one gets.
func TestNobodyPoisonsTheCache(t *testing.T) {
	// An origin that is as easy to mislead as can be: it answers with all it was told.
	origin := watch(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=0, s-maxage=60")
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Host, r.URL.RequestURI())
		for name, v := range r.Header {
			if name != "Accept-Encoding" {
				fmt.Fprintf(w, " %s=%s", name, v)
			}
		}
	}))
	base := start(t, map[string]string{"waitroom": origin.addr()}, nil)
	client := &http.Client{Timeout: 30 * time.Second}
	evil := []call{
		{header: map[string]string{"X-Forwarded-Host": "evil.example"}},
		{header: map[string]string{"X-Forwarded-Proto": "http", "X-Forwarded-Port": "1", "X-Forwarded-Prefix": "/evil", "Forwarded": "host=evil.example"}},
		{header: map[string]string{"X-Original-URL": "/evil", "X-Rewrite-URL": "/evil"}},
		{header: map[string]string{"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "PUT"}},
		{header: map[string]string{"Accept-Language": "evil", "User-Agent": "evil", "Accept": "evil/evil", "Origin": "https://evil.example", "Referer": "https://evil.example"}},
		{header: map[string]string{"Authorization": "Bearer evil"}},
		{header: map[string]string{"Cookie": "pass.gala=evil; ticket.gala=evil"}},
		{header: map[string]string{"Range": "bytes=0-2"}},
		{header: map[string]string{"If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 2099 00:00:00 GMT"}},
		{header: map[string]string{"Cache-Control": "no-cache, no-store", "Pragma": "no-cache"}},
		{header: map[string]string{"Transfer-Encoding": "evil", "Expect": "evil", "Upgrade": "evil", "Traceparent": "evil", "Waitroom-Suspect": "1"}},
		{method: "HEAD"},
		{path: "?evil=1"},
		{path: "?since=evil"},
		{path: "?since=abcd"},
		{path: "?since=ABC"},
		{path: "?utm_source=evil&x[]=1"},
		{path: "?since=%61%62%63%00"},
		{path: "?"},
	}
	for i, c := range evil {
		for _, first := range []bool{true, false} { // the evil one makes the copy, or finds it
			c := c
			at := fmt.Sprintf("%s/x%d-%t/status", "/v1/public/events", i, first)
			want := "GET waitroom " + at
			if first {
				c.path = at + c.path
				ask(t, client, base, c)
			}
			if a := ask(t, client, base, call{path: at}); a.status != 200 || a.body != want {
				t.Errorf("after %+v the next is told %d %q, want %q", c, a.status, a.body, want)
			}
			if !first {
				c.path = at + c.path
				if a := ask(t, client, base, c); c.method != "HEAD" && a.status == 200 && a.body != want {
					t.Errorf("%+v is told %q of its own", c, a.body)
				}
			}
			if asked := origin.of(at); len(asked) != 1 || asked[0].path != at {
				t.Errorf("%+v: %d documents at the origin, first %+v, want one", c, len(asked), asked[:min(1, len(asked))])
			}
		}
	}
	// A body does not reach the origin, nor does another method.
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE"} {
		if a := ask(t, client, base, call{method: method, path: "/v1/public/events/m/status", body: "evil"}); a.status != 405 {
			t.Errorf("%s: %d, want 405", method, a.status)
		}
	}
	if n := len(origin.of("/v1/public/events/m/status")); n != 0 {
		t.Errorf("%d of them at the origin", n)
	}
	// A cursor is a document of its own, on the one path that has them, and only there.
	for path, want := range map[string]string{
		"/v1/public/events/c/availability?since=a0f&evil=1": "/v1/public/events/c/availability?since=a0f",
		"/v1/public/events/c/availability?x=1&since=a1f":    "/v1/public/events/c/availability?since=a1f",
		"/v1/public/events/c/availability?since=a0f0":       "/v1/public/events/c/availability",
		"/v1/public/events/d/status?since=a0f":              "/v1/public/events/d/status",
		"/e/d?since=a0f":                                    "/e/d",
		"/?since=a0f":                                       "/",
	} {
		if a := ask(t, client, base, call{path: path}); a.body != "GET waitroom "+want {
			t.Errorf("%s is asked for as %q, want %q", path, a.body, want)
		}
	}
	// A personal page is not reached under a shared name.
	for _, path := range []string{"/assets/..%2fe/gala/place", "/v1/public/%2e%2e/%2e%2e/e/gala/place", "/v1/public/../../e/gala/orders/7", "/e/gala/place/", "/e/gala/place;x.css", "/e/gala/place.css", "/e/gala%2fplace"} {
		if a := ask(t, client, base, call{path: path}); a.header.Get("X-Cache") != "" {
			t.Errorf("%s is kept: %s", path, a.body)
		}
	}
}

// An origin by whose mistake a shared path carries something personal is not
// believed: nothing of it is kept, and no cookie goes on.
func TestWhatIsNotTheSameForEveryoneIsNotKept(t *testing.T) {
	const shared = "public, max-age=0, s-maxage=60"
	answers := map[string]http.Header{
		"cookie":      {"Cache-Control": {shared}, "Set-Cookie": {"pass=1"}},
		"vary-cookie": {"Cache-Control": {shared}, "Vary": {"Cookie"}},
		"vary-lang":   {"Cache-Control": {shared}, "Vary": {"Accept-Encoding, Accept-Language"}},
		"vary-all":    {"Cache-Control": {shared}, "Vary": {"*"}},
		"private":     {"Cache-Control": {"private, no-store"}},
		"no-word":     {},
		"kept":        {"Cache-Control": {shared}, "Vary": {"Accept-Encoding"}},
	}
	origin := watch(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, v := range answers[strings.Split(r.URL.Path, "/")[4]] {
			w.Header()[name] = v
		}
		fmt.Fprint(w, "seats")
	}))
	base := start(t, map[string]string{"waitroom": origin.addr()}, nil)
	client := &http.Client{Timeout: 30 * time.Second}
	for name := range answers {
		path := "/v1/public/events/" + name + "/status"
		for range 3 {
			if a := ask(t, client, base, call{path: path}); a.status != 200 || a.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %d, Set-Cookie %q", name, a.status, a.header.Get("Set-Cookie"))
			}
		}
		want := 3
		if name == "kept" {
			want = 1
		}
		if n := len(origin.of(path)); n != want {
			t.Errorf("%s: %d of 3 requests reached the origin, want %d", name, n, want)
		}
	}
}

// The origin says how long its last copy may stand in for it. Until then it does,
// and then nobody is told what is long over. (In earnest it is half a minute; here
// the origin says three seconds.)
func TestAnOldCopyStandsInForAsLongAsItMay(t *testing.T) {
	const good, standIn = time.Second, 3 * time.Second
	tag := `"seats"`
	origin := watch(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=0, s-maxage=1, stale-while-revalidate=2, stale-if-error=3")
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "seats")
	}))
	base := start(t, map[string]string{"waitroom": origin.addr()}, nil)
	client := &http.Client{Timeout: 30 * time.Second}
	look := func() answer { return ask(t, client, base, call{path: status}) }
	look()
	// What did not change is not fetched again: the origin is asked by its ETag.
	for len(origin.of(status)) < 2 {
		pause(t, 100*time.Millisecond)
		if a := look(); a.status != 200 || a.body != "seats" {
			t.Fatalf("%d %q", a.status, a.body)
		}
	}
	if again := origin.of(status)[1]; again.header.Get("If-None-Match") != tag {
		t.Errorf("asked again with %v, want the ETag", again.header)
	}
	origin.CloseClientConnections()
	origin.Close()
	asked := origin.of(status)
	last := asked[len(asked)-1].at
	stale := 0
	for gone := 0; gone < 3; pause(t, 50*time.Millisecond) {
		before := time.Since(last)
		a := look()
		after := time.Since(last)
		switch {
		case a.status == 200:
			stale++
			if before > good+standIn+2*time.Second { // counted in whole seconds, at both ends
				t.Fatalf("%s after it was fetched it is served still", before)
			}
		case after < good+standIn-time.Second:
			t.Fatalf("%s after it was fetched: %d, want the last copy", after, a.status)
		default:
			gone++
		}
	}
	if stale == 0 {
		t.Error("the last copy was never served")
	}
}

// The headers that a browser gets of a shared document say nothing of the origin's.
func TestASharedAnswerNamesNobody(t *testing.T) {
	e := open(t, demo.Build{OpensIn: time.Hour}, nil)
	known := map[string]string{"Cookie": "ticket.gala=secretsecret; pass.gala=secretsecret", "Authorization": "Bearer secretsecret", "X-Forwarded-For": "198.51.100.7"}
	for _, path := range []string{"/", "/e/" + demotest.EventID, "/v1/public/events", status, availability, "/.well-known/jwks.json"} {
		for range 2 {
			a := e.do(call{path: path, header: known})
			text := fmt.Sprint(a.header) + a.body
			for _, own := range []string{"secretsecret", "198.51.100.7"} {
				if strings.Contains(text, own) {
					t.Errorf("%s has %s in it: %s", path, own, text)
				}
			}
			if a.status != 200 || a.header.Get("Set-Cookie") != "" || !strings.HasPrefix(a.header.Get("Cache-Control"), "public, ") {
				t.Errorf("%s: %d, %v", path, a.status, a.header)
			}
		}
		for _, r := range e.origin.of(path) {
			names := []string{}
			for name := range r.header {
				if !slices.Contains([]string{"Accept-Encoding", "If-None-Match", "If-Modified-Since"}, name) {
					names = append(names, name)
				}
			}
			if len(names) > 0 {
				t.Errorf("of who asked for %s the origin was told %v", path, names)
			}
		}
	}
}
