package probe_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"waitroom/internal/webhooks/ledgertest"
	"waitroom/internal/webhooks/probe"
)

// What was worked out elsewhere is found right, a hundred times.
func TestVectors(t *testing.T) {
	dir := t.TempDir()
	for i, c := range ledgertest.Vectors(t) {
		c.In(t, dir)
		ledgertest.Write(t, dir, "report.json", string(c.Report))
		if d, _ := probe.Dir(dir, ""); len(d) > 0 {
			t.Errorf("vector %d: %q", i+1, d)
		}
	}
}

// A scheduler that gets everything wrong and says that all is well differs in 26
// places, and in how two endpoints ended.
func TestTheBrokenSchedulerDiffersIn26Places(t *testing.T) {
	dir, _ := ledgertest.Example(t)
	ledgertest.Write(t, dir, "report.json", ledgertest.Broken(t))
	found, _ := probe.Dir(dir, "")
	ends := slices.DeleteFunc(slices.Clone(found), func(d string) bool { return !strings.HasPrefix(d, "final_state.") })
	if len(found)-len(ends) != 26 || len(ends) != 2 {
		t.Errorf("%d differences and %d in how endpoints ended, want 26 and 2: %s", len(found)-len(ends), len(ends), strings.Join(found, "\n"))
	}
	for _, want := range []string{
		"a-02.earliest_ts: want 1017, got 1077", "a-04.earliest_ts: want 0, got 1217",
		"totals.backoff_s: want 171, got 143", "counts.skipped: want 1, got <nil>", "ok: want false, got true",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("%q was not found", want)
		}
	}
	var out bytes.Buffer
	probe.Fprint(&out, found)
	if !strings.HasPrefix(out.String(), "RESULT: BAD (28 differences)\n  - a-02.earliest_ts: ") {
		t.Errorf("it says %s", out.String())
	}
}

// Any plan is found right, and with any one thing of it changed it is not.
func TestAnyPlanIsRightAndAnyChangeIsFound(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		c := ledgertest.Draw(r)
		c.In(t, dir)
		report := ledgertest.Planned(t, dir)
		if d, _ := probe.Dir(dir, ""); len(d) > 0 {
			r.Fatalf("of a plan just made: %q", d)
		}
		change := rapid.SampledFrom(ledgertest.Changes(t, report)).Draw(r, "change")
		ledgertest.Write(t, dir, "report.json", change.Text(t))
		if d, _ := probe.Dir(dir, ""); len(d) == 0 {
			r.Fatalf("%s: no difference", change.What)
		}
	})
}

// Of the example every single change is found.
func TestEveryChangeOfTheExampleIsFound(t *testing.T) {
	dir, report := ledgertest.Example(t)
	for _, change := range ledgertest.Changes(t, report) {
		ledgertest.Write(t, dir, "report.json", change.Text(t))
		if d, _ := probe.Dir(dir, ""); len(d) == 0 {
			t.Errorf("%s: no difference", change.What)
		}
	}
}

// What cannot be read is a difference, and never none.
func TestWhatCannotBeReadIsADifference(t *testing.T) {
	for _, name := range []string{"retry.env", "endpoints.tsv", "attempts.tsv", "report.json"} {
		for _, text := range []string{"", "what", "\xff\xff", "a\tb\tc"} {
			dir, report := ledgertest.Example(t)
			ledgertest.Write(t, dir, "report.json", string(report))
			ledgertest.Write(t, dir, name, text)
			if d, _ := probe.Dir(dir, ""); len(d) == 0 {
				t.Errorf("%s is %q: no difference", name, text)
			}
		}
		dir, report := ledgertest.Example(t)
		ledgertest.Write(t, dir, "report.json", string(report))
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if d, _ := probe.Dir(dir, ""); len(d) != 1 {
			t.Errorf("without %s: %q", name, d)
		}
	}
}

// None of the house is in it, however far down.
func TestItSharesNothing(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "waitroom/internal/webhooks/probe").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if !slices.Contains(all, "encoding/json") {
		t.Fatalf("%q is not what it is built of", all)
	}
	for _, pkg := range all {
		if strings.HasPrefix(pkg, "waitroom/") && pkg != "waitroom/internal/webhooks/probe" {
			t.Errorf("it is built of %s", pkg)
		}
	}
}
