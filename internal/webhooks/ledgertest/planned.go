package ledgertest

import (
	"os"
	"path/filepath"
	"testing"

	"waitroom/internal/webhooks/plan"
)

// Made is the plan of a folder.
func Made(t testing.TB, dir string) plan.Report {
	t.Helper()
	facts, err := plan.FromDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	report, err := plan.Make(facts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Planned is the plan of a folder, written into it.
func Planned(t testing.TB, dir string) []byte {
	t.Helper()
	path := filepath.Join(dir, "report.json")
	if err := Made(t, dir).Keep(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
