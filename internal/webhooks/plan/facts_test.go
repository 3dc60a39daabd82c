package plan_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"waitroom/internal/webhooks/ledgertest"
	"waitroom/internal/webhooks/plan"
)

// Terms that cannot be used are told from facts that cannot be had, and nothing
// stands in for either.
func TestWhatCannotBePlanned(t *testing.T) {
	for _, c := range []struct {
		name, file, old, with string
		contract              bool
	}{
		{"a key missing", "retry.env", "WEBHOOK_BACKOFF_FACTOR=2\n", "", true},
		{"a key twice", "retry.env", "WEBHOOK_BACKOFF_FACTOR=2\n", "WEBHOOK_BACKOFF_FACTOR=2\nWEBHOOK_BACKOFF_FACTOR=2\n", true},
		{"no number", "retry.env", "FACTOR=2", "FACTOR=two", true},
		{"a sign", "retry.env", "FACTOR=2", "FACTOR=+2", true},
		{"below 0", "retry.env", "FACTOR=2", "FACTOR=-2", true},
		{"digits of another script", "retry.env", "FACTOR=2", "FACTOR=٢", true},
		{"an underscore", "retry.env", "FACTOR=2", "FACTOR=2_0", true},
		{"more than 64 bits", "retry.env", "FACTOR=2", "FACTOR=9223372036854775808", true},
		{"MIN above MAX", "retry.env", "MAX=299", "MAX=199", true},
		{"an unknown state", "endpoints.tsv", "draining", "retired", true},
		{"no state", "endpoints.tsv", "draining", "", true},
		{"an endpoint twice", "endpoints.tsv", "ep-bravo", "ep-alpha", true},
		{"an endpoint without an id", "endpoints.tsv", "ep-bravo", "", true},
		{"no number of an endpoint", "endpoints.tsv", "\t70", "\t7O", true},
		{"a column more", "endpoints.tsv", "\t70", "\t70\t", true},
		{"no text", "endpoints.tsv", "ep-bravo", "\xc3", true},
		{"a torn ledger", "attempts.tsv", "\t1121\t502\t-\n", "", false},
		{"no number in the ledger", "attempts.tsv", "\t1121\t", "\t11:21\t", false},
		{"attempt 0", "attempts.tsv", "ep-alpha\t1\t", "ep-alpha\t0\t", false},
		{"a status below 0", "attempts.tsv", "\t502\t", "\t-1\t", false},
		{"no text in the ledger", "attempts.tsv", "connect", "\xff", false},
		{"an endless line", "attempts.tsv", "connect", strings.Repeat("x", 1<<16), false},
		{"a time beyond 64 bits", "attempts.tsv", "\t1002\t", "\t9223372036854775807\t", false},
	} {
		dir, _ := ledgertest.Example(t)
		ledgertest.Write(t, dir, c.file, strings.Replace(string(read(t, dir, c.file)), c.old, c.with, 1))
		facts, err := plan.FromDir(dir)
		if err == nil {
			_, err = plan.Make(facts)
		}
		if err == nil || errors.Is(err, plan.ErrContract) != c.contract {
			t.Errorf("%s: %v; want a fault of the contract: %t", c.name, err, c.contract)
		}
	}
	for name, contract := range map[string]bool{"retry.env": true, "endpoints.tsv": false, "attempts.tsv": false} {
		dir, _ := ledgertest.Example(t)
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.FromDir(dir); err == nil || errors.Is(err, plan.ErrContract) != contract {
			t.Errorf("%s a folder: %v; want a fault of the contract: %t", name, err, contract)
		}
	}
}

// A back-off that grows beyond any number is the cap, and not what is left of it
// in 64 bits.
func TestABackoffBeyondAnyNumberIsTheCap(t *testing.T) {
	facts := plan.Facts{
		Contract:  plan.Contract{Factor: 10, Slack: 1, SuccessMin: 200, SuccessMax: 299},
		Endpoints: []plan.Endpoint{{ID: "e", State: "active", MaxAttempts: math.MaxInt64, BackoffBase: 5, Gap: 3600}},
	}
	for no := int64(1); no <= 100; no++ {
		facts.Attempts = append(facts.Attempts, plan.Attempt{ID: "a", Endpoint: "e", No: no, Start: no * 4000, Finish: no * 4000, Status: 500})
	}
	facts.Attempts[99].No = math.MaxInt64 // it ends nevertheless
	report, err := plan.Make(facts)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range report.Plan[4:] {
		if want := int64(i+4)*4000 + 3601; l.Earliest != want {
			t.Errorf("attempt %d: earliest %d, want %d", i+5, l.Earliest, want)
		}
	}
}

// Nothing times anything is nothing, also of the greatest number that there is.
func TestAFactorOf0LeavesNoBackoff(t *testing.T) {
	facts := plan.Facts{
		Contract:  plan.Contract{Factor: 0, Slack: 5, SuccessMin: 200, SuccessMax: 299},
		Endpoints: []plan.Endpoint{{ID: "e", State: "active", MaxAttempts: 3, BackoffBase: math.MaxInt64, Gap: 60}},
		Attempts: []plan.Attempt{
			{ID: "a-01", Endpoint: "e", No: 1, Start: 100, Finish: 101, Status: 500},
			{ID: "a-02", Endpoint: "e", No: 2, Start: 200, Finish: 201, Status: 500},
			{ID: "a-03", Endpoint: "e", No: 1, Start: 300, Finish: 301, Status: 200},
		},
	}
	report, err := plan.Make(facts)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{0, 101 + 5, 201 + 60 + 5} {
		if got := report.Plan[i].Earliest; got != want {
			t.Errorf("attempt %d: earliest %d, want %d", i+1, got, want)
		}
	}
}

// A report is there whole or not at all; where there is none, none is removed.
func TestAReportIsKeptWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	if err := plan.Drop(path); err != nil {
		t.Error(err)
	}
	if err := (plan.Report{}).Keep(path); err != nil {
		t.Error(err)
	}
	if err := plan.Drop(path); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	if err := (plan.Report{}).Keep(filepath.Join(dir, "none", "report.json")); err == nil {
		t.Error("kept in a folder that is not there")
	}
	if err := plan.Drop(dir); err == nil {
		t.Error("a folder was taken for a report")
	}
}
