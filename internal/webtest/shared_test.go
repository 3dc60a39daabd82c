package webtest

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// shared: what a cache may keep is the same for everyone, to the letter, sets
// no cookie and knows nobody.
func (w *world) shared(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t), soon)
	b := w.tab(t)
	b.join(e)
	var cookies []string
	for _, c := range b.cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	for _, path := range []string{"/", "/e/" + e, "/v1/public/events", "/v1/public/events/" + e + "/status", "/v1/public/events/" + e + "/availability"} {
		stranger, header := get(t, w.house.Public+path, "")
		known, _ := get(t, w.house.Public+path, strings.Join(cookies, "; "))
		if steady(stranger) != steady(known) {
			t.Errorf("%s is another page for who has cookies:\n%s\n%s", path, stranger, known)
		}
		if header.Get("Set-Cookie") != "" || header.Get("Vary") != "" && header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Set-Cookie %q, Vary %q", path, header.Get("Set-Cookie"), header.Get("Vary"))
		}
		if got := header.Get("Cache-Control"); !strings.HasPrefix(got, "public, max-age=0, s-maxage=1") {
			t.Errorf("%s: Cache-Control %q", path, got)
		}
		for _, c := range b.cookies() {
			if len(c.Value) > 8 && strings.Contains(known, c.Value) {
				t.Errorf("%s contains the cookie %s", path, c.Name)
			}
		}
	}
	for _, path := range []string{"/e/" + e + "/place", "/e/" + e + "/seats", "/e/nowhere"} {
		if _, header := get(t, w.house.Public+path, strings.Join(cookies, "; ")); header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: Cache-Control %q", path, header.Get("Cache-Control"))
		}
	}
}

// steady leaves out what changes by the second.
func steady(page string) string {
	return regexp.MustCompile(`"(as_of|version|state|reason)":[^,}]*|data-left="\d+"`).ReplaceAllString(page, "")
}

func get(t *testing.T, address, cookies string) (string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cookies != "" {
		req.Header.Set("Cookie", cookies)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), res.Header
}

// guarded: cookies that no script reads, pages that run nothing but our files,
// and no form from elsewhere.
func (w *world) guarded(t *testing.T) {
	t.Parallel()
	e := w.sale(t, stalls(t))
	b := w.tab(t)
	b.goIn(e)
	b.take("A-1")
	names := map[string]bool{}
	for _, c := range b.cookies() {
		names[strings.TrimSuffix(c.Name, "."+e)] = true
		if !c.HTTPOnly || c.SameSite != network.CookieSameSiteLax || c.Path != "/e/"+e {
			t.Errorf("cookie %s: HttpOnly %v, SameSite %q, Path %q", c.Name, c.HTTPOnly, c.SameSite, c.Path)
		}
	}
	for _, want := range []string{"secret", "ticket", "pass", "orders"} {
		if !names[want] {
			t.Errorf("there is no cookie %s", want)
		}
	}
	if got := ask[string](b, "document.cookie"); got != "" {
		t.Errorf("a script reads the cookies %q", got)
	}
	for _, path := range []string{"/", "/e/" + e, "/e/" + e + "/place", "/e/nowhere"} {
		_, header := get(t, w.house.Public+path, "")
		policy := header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self' " + w.house.Pay} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %q: %s", path, want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: policy %s, X-Content-Type-Options %q", path, policy, header.Get("X-Content-Type-Options"))
		}
	}
	for _, path := range []string{"join", "leave", "standby", "pass", "claim", "done", "alive"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.house.Public+"/e/"+e+"/"+path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://elsewhere.example")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() //nolint:errcheck // nothing is read
		if res.StatusCode != http.StatusForbidden || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s from another site: %d, Set-Cookie %q", path, res.StatusCode, res.Header.Get("Set-Cookie"))
		}
	}
}

// quick: what a buyer on a slow network has to fetch stays small.
func (w *world) quick(t *testing.T) {
	t.Parallel()
	b := w.tab(t)
	b.goIn(w.sale(t, concertHall(t)))
	b.sees("the map", "document.querySelector('canvas').drawn")
	type sizes struct {
		Page, Sent, Scripts, Map, Until float64
		Seats                           int
	}
	s := ask[sizes](b, `(() => {
		const page = performance.getEntriesByType("navigation")[0], all = performance.getEntriesByType("resource");
		const sum = (like) => all.filter(e => e.name.match(like)).reduce((n, e) => n + e.encodedBodySize, 0);
		return {page: page.decodedBodySize, sent: page.encodedBodySize, scripts: sum(/\.js$/), map: sum(/seatmap/), until: page.domContentLoadedEventEnd - page.responseStart,
			seats: document.querySelectorAll("input[name=seat]").length} })()`)
	t.Logf("%d seats: page %.0f bytes (%.0f sent), scripts %.0f, map %.0f; ready %.0f ms after the first byte", s.Seats, s.Page, s.Sent, s.Scripts, s.Map, s.Until)
	if s.Seats != 1756 || s.Sent > 30_000 || s.Scripts > 14*1024 {
		t.Errorf("%d seats, page %.0f bytes sent, scripts %.0f: want 1756, at most 30,000 and 14 kB", s.Seats, s.Sent, s.Scripts)
	}
}
