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
	for flag, says := range map[string]string{
		"--rate=0": "no rate is set", "--rate=NaN": "no rate is set", "--orders=-5": "--orders:", "--orders=NaN": "--orders:", "--writes=NaN": "--writes:",
		"--tickets=0": "--tickets:", "--tickets=NaN": "--tickets:", "--replicas=0": "--replicas:", "--replicas=1001": "--replicas:",
	} {
		rehearse(2, []string{says}, "-f", event, flag)
	}
	rehearse(2, []string{"want SHARE:FROM:UNTIL"}, "-f", event, "--arrive", "all")
	rehearse(2, []string{"is no demo's report"}, "--against", event)
	rehearse(2, []string{"does not say what was sold"}, "--against", write(t, "{}"))
}

// A sale that closes is told to have closed: who was in its line, and that the seats are
// left for that. Where nothing was paid for, nothing was last.
func TestARehearsedSaleThatClosesSaysSo(t *testing.T) {
	event := write(t, `{id: gala, title: Gala, currency: EUR, opens_at: 2030-03-01T10:00:00Z, closes_at: 2030-03-01T10:01:00Z, rate: 2,
  prices: {Floor: 10}, general_admission: [{section: Floor, category: Floor, count: 600}]}`)
	report := func(args ...string) (r rehearsal.Report, printed string) {
		t.Helper()
		told := filepath.Join(t.TempDir(), "told.json")
		var out, complaints strings.Builder
		if code := run(t.Context(), append([]string{"rehearse", "-f", event, "--fans", "2000", "--json", told}, args...), &out, &complaints); code != 0 {
			t.Fatalf("exit %d: %s", code, complaints.String())
		}
		text, err := os.ReadFile(told)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r, out.String()
	}
	r, printed := report()
	if !r.Closed || r.StillInLine < 500 || !strings.Contains(printed, "seats are free when the sale closes") || strings.Contains(printed, "nobody is left who would") {
		t.Errorf("closed: %t, %d in the line\n%s", r.Closed, r.StillInLine, printed)
	}
	if r, printed := report("--share", "0"); r.PaidLast != 0 || !strings.Contains(printed, "last paid for   never") {
		t.Errorf("nothing is paid for, the last after %g s\n%s", r.PaidLast, printed)
	}
}

// The same seed plays the same sale, whenever it is played.
func TestASaleThatOpensNowIsPlayedAgain(t *testing.T) {
	event := write(t, `{id: gala, title: Gala, currency: EUR, opens_at: now, rate: 20,
  prices: {Floor: 10}, general_admission: [{section: Floor, category: Floor, count: 300}]}`)
	var sold [3]string
	for i := range sold {
		var out, complaints strings.Builder
		if code := run(t.Context(), []string{"rehearse", "-f", event, "--fans", "1500"}, &out, &complaints); code != 0 {
			t.Fatalf("exit %d: %s", code, complaints.String())
		}
		_, sold[i], _ = strings.Cut(out.String(), "\n\n") // the line before, and what to change, name the time of day
		sold[i], _, _ = strings.Cut(sold[i], "\n* ")
	}
	if sold[0] != sold[1] || sold[0] != sold[2] {
		t.Errorf("three sales of one seed:\n%s\n%s\n%s", sold[0], sold[1], sold[2])
	}
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
