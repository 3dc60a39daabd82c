package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"waitroom/internal/rehearsal"
)

// A sale is rehearsed from its event file alone: no database, no store.
func TestASaleIsRehearsed(t *testing.T) {
	dir := t.TempDir()
	told, page := filepath.Join(dir, "told.json"), filepath.Join(dir, "told.html")
	event := filepath.Join(dir, "event.yaml")
	file := `{id: gala, title: Gala, currency: EUR, opens_at: now, rate: 100, line_cap: 20000, pay_within: 30m,
  prices: {Floor: 10}, general_admission: [{section: Floor, category: Floor, count: 600}]}`
	if err := os.WriteFile(event, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	rehearse := func(code int, says []string, args ...string) {
		t.Helper()
		var out, complaints strings.Builder
		got := run(t.Context(), append([]string{"rehearse"}, args...), &out, &complaints)
		for _, s := range says {
			if !strings.Contains(out.String()+complaints.String(), s) {
				t.Errorf("%v does not say %q", args, s)
			}
		}
		if got != code || t.Failed() {
			t.Fatalf("exit %d, want %d\n%s%s", got, code, out.String(), complaints.String())
		}
	}
	rehearse(0, []string{
		"600 seats, 30000 people", "sold            600 of 600", "find the line full at 20000",
		"writes; a cold table takes 4000", "Set pay_within to", "times the seats", "never let in",
	}, "-f", event, "--fans", "30000", "--arrive", "0.9:-5s:-1s,0.1:0s:10s", "--json", told, "--html", page)
	var report struct {
		rehearsal.Report
		Advice []rehearsal.Advice
	}
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &report); err != nil || report.Sold != 600 || len(report.Samples) < 60 || len(report.Advice) < 3 {
		t.Errorf("the report has %d sold, %d seconds, %d advice: %v", report.Sold, len(report.Samples), len(report.Advice), err)
	}
	if html, err := os.ReadFile(page); err != nil || strings.Count(string(html), "<svg") != 4 || !strings.Contains(string(html), "What to change") {
		t.Errorf("the page: %v", err)
	}
	rehearse(0, []string{"Set the rate to"}, "-f", event, "--fans", "3000", "--think", "5s", "--orders", "5")
	rehearse(2, []string{"name an event file"})
	rehearse(2, []string{"a share is from 0 to 1"}, "-f", event, "--share", "1.5")
	rehearse(2, []string{"no rate is set"}, "-f", event, "--rate=-1")
	rehearse(2, []string{"want SHARE:FROM:UNTIL"}, "-f", event, "--arrive", "all")
	rehearse(2, []string{"is no demo's report"}, "--against", event)
	rehearse(2, []string{"does not say what was sold"}, "--against", write(t, "{}"))
}

// Told to end, a rehearsal ends and says so, and tells nothing of half a sale.
func TestARehearsalThatIsEndedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints strings.Builder
	code := run(ctx, []string{"rehearse", "-f", "../../examples/event.yaml", "--fans", "1000000"}, &out, &complaints)
	if code != 130 || complaints.String() != "waitctl: ended before the rehearsal was over\n" || out.Len() > 0 {
		t.Errorf("exit %d with %q and %q, want 130 and that it was ended", code, complaints.String(), out.String())
	}
}

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
