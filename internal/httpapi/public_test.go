package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

const (
	eachSecond = "public, max-age=0, s-maxage=1, stale-while-revalidate=2, stale-if-error=30"
	forEver    = "public, max-age=31536000, immutable"
)

// What everybody is served is the same for everybody, whatever they bring, and
// says how long it may be kept.
func TestSharedDocumentsAreNobodys(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	event := "/v1/public/events/" + demotest.EventID
	var seats struct{ Plan, Cursor string }
	h.do(call{method: "GET", path: event + "/availability"}).into(t, &seats)
	for path, cache := range map[string]string{
		"/v1/public/events":                           eachSecond,
		event + "/status":                             eachSecond,
		event + "/availability":                       eachSecond,
		event + "/availability?since=" + seats.Cursor: eachSecond,
		event + "/availability?since=zzz&since=1":     eachSecond,
		event + "/seatmap." + seats.Plan + ".json":    forEver,
		"/.well-known/jwks.json":                      "public, max-age=300, stale-while-revalidate=600, stale-if-error=86400",
	} {
		// One that brings everything that a person could be known by.
		known := map[string]string{
			"Cookie":        "ticket.gala=" + g.ticket + "; pass.gala=" + g.pass + "; secret.gala=" + g.secret,
			"Authorization": "Bearer " + g.ticket, "Accept-Language": "ja", "User-Agent": "somebody",
		}
		for _, header := range []map[string]string{nil, known, {"Accept-Encoding": "gzip, br"}} {
			x, a := h.send(t.Context(), call{method: "GET", path: path, header: header})
			h.shared(a, path, cache)
			if a.header.Get("Content-Encoding") == "gzip" {
				x.body = unzipped(t, x.body)
			}
			h.judge(x)
			// Whoever has it is told that nothing changed, and is sent nothing.
			match := map[string]string{"If-None-Match": `"other", W/` + a.header.Get("ETag")}
			for k, v := range header {
				match[k] = v
			}
			if _, again := h.send(t.Context(), call{method: "GET", path: path, header: match}); again.header.Get("ETag") == a.header.Get("ETag") {
				if again.status != 304 || len(again.body) > 0 || again.header.Get("Cache-Control") != cache {
					t.Errorf("%s with its ETag: %s (%s)", path, again, again.header.Get("Cache-Control"))
				}
			}
			for _, private := range []string{g.secret, g.ticket, g.pass} {
				if bytes.Contains(a.body, []byte(private)) {
					t.Errorf("%s has something of its reader's in it", path)
				}
			}
		}
	}
	for _, page := range []string{"/", "/e/" + demotest.EventID} {
		a := h.do(call{method: "GET", path: page, page: true, header: map[string]string{"Cookie": "ticket.gala=" + g.ticket}})
		if a.status != 200 || len(a.header.Values("Set-Cookie")) > 0 || a.header.Get("Cache-Control") != eachSecond {
			t.Errorf("page %s: %d, cookies %q, %s", page, a.status, a.header.Values("Set-Cookie"), a.header.Get("Cache-Control"))
		}
	}
}

func (h *house) shared(a answer, path, cache string) {
	h.t.Helper()
	if a.status != 200 {
		h.t.Errorf("%s: %s", path, a)
	}
	if c := a.header.Values("Set-Cookie"); len(c) > 0 {
		h.t.Errorf("%s sets the cookies %q", path, c)
	}
	if v := a.header.Values("Vary"); len(v) > 0 && (len(v) > 1 || v[0] != "Accept-Encoding") {
		h.t.Errorf("%s varies by %q", path, v)
	}
	if got := a.header.Get("Cache-Control"); got != cache {
		h.t.Errorf("%s may be kept %q, want %q", path, got, cache)
	}
	if tag := a.header.Get("ETag"); !strings.HasPrefix(tag, `"`) || len(tag) < 10 {
		h.t.Errorf("%s has the ETag %s, want a strong one", path, tag)
	}
}

// The documents are compressed for whoever wants them so; the two are different
// bytes, and have different names.
func TestSharedDocumentsAreCompressedUnderTheirOwnETags(t *testing.T) {
	h := open(t, demo.Build{})
	public := "/v1/public/events/" + demotest.EventID
	var seats struct{ Plan string }
	h.do(call{method: "GET", path: public + "/availability"}).into(t, &seats)
	for _, path := range []string{public + "/status", public + "/availability", public + "/seatmap." + seats.Plan + ".json", "/v1/public/events"} {
		t.Run(path[len("/v1/public/events"):], func(t *testing.T) { h.twoWays(t, path) })
	}
}

func (h *house) twoWays(t *testing.T, path string) {
	ask := func(accept string) answer {
		x, a := h.send(t.Context(), call{method: "GET", path: path, header: map[string]string{"Accept-Encoding": accept}})
		if a.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary %q", accept, a.header.Get("Vary"))
		}
		if a.header.Get("Content-Encoding") == "gzip" {
			x.body = unzipped(t, a.body)
		}
		h.judge(x)
		a.body = x.body
		return a
	}
	for accept, want := range map[string]string{
		"gzip": "gzip", "br, gzip;q=0.5": "gzip", "deflate,GZIP": "gzip", "gzip; q=1.0": "gzip",
		"identity;q=0, gzip;q=0.1": "gzip", "*": "gzip", "gzip;q=0.5, identity": "",
		"": "", "identity": "", "gzip;q=0": "", "gzip; q=0.000": "", "br": "", "xgzip": "",
	} {
		if got := ask(accept).header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %q is answered with %q, want %q", accept, got, want)
		}
	}
	h.until("both within one second", func() bool {
		plain, small := ask(""), ask("gzip")
		if !bytes.Equal(plain.body, small.body) {
			return false // the next second's
		}
		if plain.header.Get("ETag") == small.header.Get("ETag") {
			t.Errorf("both are %s", plain.header.Get("ETag"))
		}
		return true
	})
}

func unzipped(t *testing.T, body []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What is somebody's is kept by nobody else.
func TestPersonalAnswersAreNotKept(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	claimed := h.claim(g, "k", named("A-1"))
	o := "/v1/orders/" + h.order(h.want(claimed, 201, "")).Order.ID
	inside := "/v1/events/" + demotest.EventID + "/passes/me"
	cookies := map[string]string{"Cookie": "ticket.gala=" + g.ticket + "; pass.gala=" + g.pass + "; secret.gala=" + g.secret}
	for _, c := range []call{
		{method: "POST", path: places},
		{method: "POST", path: places, token: g.secret},
		{method: "GET", path: places + "/me", token: g.ticket},
		{method: "POST", path: places + "/me/pass", token: g.ticket},
		{method: "DELETE", path: places + "/me", token: g.ticket},
		{method: "POST", path: inside + "/alive", token: g.pass},
		{method: "DELETE", path: inside, token: g.pass},
		{method: "POST", path: orders, token: g.pass, key: "k", body: named("A-1")},
		{method: "GET", path: "/v1/events/" + demotest.EventID + "/attempts/k", token: g.pass},
		{method: "GET", path: o, token: g.ticket},
		{method: "POST", path: o + "/payments", token: g.ticket, key: "p", base: h.Pay},
		{method: "POST", path: o + "/cancel", token: g.ticket, key: "c"},
		{method: "GET", path: "/v1/verify", token: g.pass},
		{method: "GET", path: "/e/" + demotest.EventID + "/place", header: cookies, page: true},
		{method: "GET", path: "/e/" + demotest.EventID + "/seats", header: cookies, page: true},
		{method: "POST", path: "/e/" + demotest.EventID + "/join", header: cookies, page: true},
	} {
		a := h.do(c)
		if a.err != nil || a.status >= 400 || a.header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s %s: %s, Cache-Control %q", c.method, c.path, a, a.header.Get("Cache-Control"))
		}
	}
	left := h.order(h.do(call{method: "GET", path: o, token: g.ticket}))
	if left.Order.Status != "cancelled" {
		t.Errorf("the order is %q at the end, want cancelled", left.Order.Status)
	}
}

// The bitmap is what the seats are: a seat in a cart is 1, a free one 0.
func TestAvailabilityFollowsTheSeats(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	h.want(h.claim(g, "k", named("A-2")), 201, "")
	h.until("A-2 in a cart", func() bool {
		var seats struct {
			Bitmap   []byte
			Sections []struct {
				Section             string
				Free, Pending, Sold int64
			}
		}
		a := h.do(call{method: "GET", path: "/v1/public/events/" + demotest.EventID + "/availability"})
		if err := json.Unmarshal(a.body, &seats); err != nil || len(seats.Bitmap) != 150/4+1 {
			t.Fatalf("%s: %v", a, err)
		}
		for _, s := range seats.Sections {
			if s.Section == "Stalls" && s.Free+s.Pending+s.Sold != 100 {
				t.Errorf("stalls of 100 seats: %+v", s)
			}
		}
		return seats.Bitmap[0] == 1<<2
	})
}

// Who asks by the cursor of what they have is told the seats that changed, and
// that alone; who asks by anything else, the whole. A cursor makes no other
// document than its own.
func TestACursorTellsWhatChanged(t *testing.T) {
	h := open(t, demo.Build{})
	g := h.letIn()
	path := "/v1/public/events/" + demotest.EventID + "/availability"
	type seats struct {
		State, Cursor, Since string
		Bitmap               []byte
		Blocks               map[string]int
		Changes              *struct{ Free, Pending, Gone []int }
	}
	ask := func(query string) (s seats) {
		h.do(call{method: "GET", path: path + query}).into(t, &s)
		return s
	}
	had := ask("")
	if had.Blocks["Stalls"] != 10 {
		t.Fatalf("ten in a row are free, and told is %v", had.Blocks)
	}
	h.want(h.claim(g, "k", named("A-5", "A-6")), 201, "")
	h.until("two in a cart", func() bool {
		now := ask("?since=" + had.Cursor)
		switch {
		case now.Changes == nil: // a small hall's whole may be as short
			return now.Bitmap[1]&15 == 1|1<<2
		case now.Since != had.State:
			t.Fatalf("since %s: to be applied to %s, held is %s", had.Cursor, now.Since, had.State)
		case len(now.Changes.Pending) == 0:
			return false
		}
		if len(now.Changes.Free)+len(now.Changes.Gone) > 0 || !slices.Equal(now.Changes.Pending, []int{4, 5}) {
			t.Errorf("changed: %+v, want 4 and 5 in a cart", now.Changes)
		}
		return true
	})
	for _, query := range []string{"?since=", "?since=zzz", "?since=" + had.State, "?nocache=1", "?since=%00"} {
		if s := ask(query); s.Changes != nil || len(s.Bitmap) == 0 {
			t.Errorf("%s is answered with a change", query)
		}
	}
}
