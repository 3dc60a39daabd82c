package httpapi_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/admission"
	"waitroom/internal/httpapi"
)

// many are lines that nobody runs: what they say is their settings.
type many []*admission.Line

func (m many) All() []*admission.Line { return m }

func (m many) Line(event string) (*admission.Line, bool) {
	i := slices.IndexFunc(m, func(l *admission.Line) bool { return l.Event() == event })
	if i < 0 {
		return nil, false
	}
	return m[i], true
}

// The page of all events has each of any number of them once: what is on sale
// first, then what opens next, then what was over last.
func TestTheIndexHasEveryEventOnce(t *testing.T) {
	cfg := &admission.Config{Log: slog.New(slog.DiscardHandler), Metrics: admission.NewMetrics(prometheus.NewRegistry())}
	now := time.Now()
	var lines many
	add := func(id string, opens time.Time, control admission.Control) {
		lines = append(lines, admission.NewLine(cfg, admission.Sale{
			Event: id, Epoch: 1, Title: "Title of " + id, Control: control, OpensAt: opens, Rate: 10, ReadAt: now,
		}))
	}
	const each = 150
	var want []string
	for i := range each { // made in the wrong order
		add(fmt.Sprintf("over-%03d", each-1-i), now.Add(-time.Duration(i+1)*24*time.Hour), admission.Close)
		add(fmt.Sprintf("soon-%03d", each-1-i), now.Add(time.Duration(each-i)*time.Hour), admission.Run)
		add(fmt.Sprintf("paused-%03d", each-1-i), now.Add(-time.Duration(i+1)*time.Hour), admission.Pause)
	}
	for _, stage := range []string{"paused", "soon", "over"} {
		for i := range each {
			if stage == "over" {
				i = each - 1 - i
			}
			want = append(want, fmt.Sprintf("%s-%03d", stage, i))
		}
	}
	app, err := (&httpapi.API{
		Lines: lines, Halls: &httpapi.Halls{}, Money: func(int64, string) string { return "" },
		Log: slog.New(slog.DiscardHandler), Limits: httpapi.Limits{BaseCtx: t.Context()},
	}).Public()
	if err != nil {
		t.Fatal(err)
	}
	page := func(accept string) string {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.Header.Set("Accept-Encoding", accept)
		res, err := app.Test(req, 60_000)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // read only
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 || res.Header.Get("Vary") != "Accept-Encoding" || res.Header.Get("Content-Security-Policy") == "" {
			t.Fatalf("%d %v, %v", res.StatusCode, res.Header, err)
		}
		t.Logf("%d events in %d bytes as %q", len(lines), len(body), res.Header.Get("Content-Encoding"))
		if res.Header.Get("Content-Encoding") == "gzip" {
			body = unzipped(t, body)
		}
		return string(body)
	}
	plain, small := page("identity"), page("gzip")
	if plain != small {
		t.Error("the compressed page is another")
	}
	var got []string
	for _, link := range regexp.MustCompile(`<h3><a href="/e/([^"]+)">`).FindAllStringSubmatch(plain, -1) {
		got = append(got, link[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d events, want %d:\n%s", len(got), len(want), strings.Join(got, " "))
	}
	var stages []string
	for _, h := range regexp.MustCompile(`<h2>([^<]+)</h2>`).FindAllStringSubmatch(plain, -1) {
		stages = append(stages, h[1])
	}
	if !slices.Equal(stages, []string{"On sale", "Soon", "Over"}) {
		t.Errorf("in stages %q", stages)
	}
}
