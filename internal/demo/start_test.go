package demo_test

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"waitroom/internal/demo"
	"waitroom/internal/demo/demotest"
)

// A newcomer gets from the page to begin at to every other one: each link is
// answered, with the key that the page shows where it is asked for.
func TestStartLeadsEverywhere(t *testing.T) {
	h := demotest.Open(t, demo.Build{})
	if err := h.OpenStart(t.Context(), "127.0.0.1:0", demotest.EventID); err != nil {
		t.Fatal(err)
	}
	get := func(url string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(url, h.Admin) {
			req.SetBasicAuth("newcomer", h.Key)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // read only
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	_, page := get(h.Start)
	if !strings.Contains(page, h.Key) {
		t.Error("it does not show the key")
	}
	var led []string
	for _, link := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		url := html.UnescapeString(link[1])
		led = append(led, url)
		status, _ := get(url)
		for end := time.Now().Add(20 * time.Second); status == http.StatusUnauthorized && time.Now().Before(end); status, _ = get(url) {
			again := time.NewTimer(50 * time.Millisecond) // the key is known within a second or two
			<-again.C
		}
		if status != http.StatusOK {
			t.Errorf("%s is answered %d", url, status)
		}
	}
	for _, want := range []string{h.Admin + "/console", h.Admin + "/human", h.Admin + "/webhooks", h.Public + "/docs", h.Public + "/problems", h.Public + "/e/" + demotest.EventID} {
		if !strings.Contains(page, `"`+want) {
			t.Errorf("it does not lead to %s, only to %q", want, led)
		}
	}
}
