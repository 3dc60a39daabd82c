package health_test

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"waitroom/internal/webhooks/health"
	"waitroom/internal/webhooks/ledgertest"
)

// sound says whether the answer is what is due to a right report: clean, or, of a
// ledger with attempts of endpoints that nobody knows, these and nothing else.
func sound(c ledgertest.Case, a health.Answer) bool {
	if !c.Unknown() {
		return a.Exit == 0 && !a.Degraded && len(a.Issues) == 0
	}
	return a.Exit == 2 && a.Degraded && len(a.Issues) > 0 &&
		!slices.ContainsFunc(a.Issues, func(i string) bool { return !strings.Contains(i, "which nobody knows") })
}

// What was worked out elsewhere is found right, a hundred times.
func TestVectors(t *testing.T) {
	dir := t.TempDir()
	for i, c := range ledgertest.Vectors(t) {
		c.In(t, dir)
		ledgertest.Write(t, dir, "report.json", string(c.Report))
		if a := health.Dir(dir, ""); !sound(c, a) || len(a.Checks) != 8 {
			t.Errorf("vector %d: exit %d, %d checks, %q", i+1, a.Exit, len(a.Checks), a.Issues)
		}
	}
}

// Whatever is planned is found right, and with any one thing of it changed it is
// not.
func TestAnyPlanIsRightAndAnyChangeIsFound(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		c := ledgertest.Draw(r)
		c.In(t, dir)
		report := ledgertest.Planned(t, dir)
		if a := health.Dir(dir, ""); !sound(c, a) {
			r.Fatalf("exit %d for a plan just made: %q", a.Exit, a.Issues)
		}
		change := rapid.SampledFrom(ledgertest.Changes(t, report)).Draw(r, "change")
		ledgertest.Write(t, dir, "report.json", change.Text(t))
		if a := health.Dir(dir, ""); a.Exit != 2 || !a.Degraded || sound(c, a) {
			r.Fatalf("%s: exit %d, %q", change.What, a.Exit, a.Issues)
		}
	})
}

// Of the example every single change is found.
func TestEveryChangeOfTheExampleIsFound(t *testing.T) {
	dir, report := ledgertest.Example(t)
	changes := ledgertest.Changes(t, report)
	for _, change := range changes {
		ledgertest.Write(t, dir, "report.json", change.Text(t))
		if a := health.Dir(dir, ""); a.Exit != 2 || len(a.Issues) == 0 {
			t.Errorf("%s: exit %d, %q", change.What, a.Exit, a.Issues)
		}
	}
	t.Logf("%d changes, each found", len(changes))
	if len(changes) < 500 {
		t.Errorf("%d changes are not every one", len(changes))
	}
}

// A right report whose plan is not ok is clean: it is the report that is judged.
func TestTheReportIsJudgedAndNotTheCourier(t *testing.T) {
	dir, report := ledgertest.Example(t)
	if !bytes.Contains(report, []byte(`"ok": false`)) {
		t.Fatal("the example is not ok, or was not")
	}
	ledgertest.Write(t, dir, "report.json", string(report))
	var out bytes.Buffer
	a := health.Dir(dir, "")
	if err := a.Fprint(&out); err != nil {
		t.Fatal(err)
	}
	want := `{"degraded":false,"issues":[],"checks":["ledger","admissible_endpoints","plan","totals","counts","final_state","over_dead_letter","ok"]}` + "\n"
	if a.Exit != 0 || out.String() != want {
		t.Errorf("exit %d, %s want %s", a.Exit, out.String(), want)
	}
}

// None of the house is in it, however far down.
func TestItSharesNothing(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "waitroom/internal/webhooks/health").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if !slices.Contains(all, "encoding/json") {
		t.Fatalf("%q is not what it is built of", all)
	}
	for _, pkg := range all {
		if strings.HasPrefix(pkg, "waitroom/") && pkg != "waitroom/internal/webhooks/health" {
			t.Errorf("it is built of %s", pkg)
		}
	}
}
