package daemon_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// An alert on a metric that no process has never rings.
func TestAlertsAreOfMetricsThatThereAre(t *testing.T) {
	files, err := filepath.Glob("../../infra/alerts/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no alerts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rules struct {
			Groups []struct {
				Rules []struct {
					Alert, Expr string
					Annotations struct{ Summary, Do string }
				}
			}
		}
		if err := yaml.Unmarshal(text, &rules); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, g := range rules.Groups {
			for _, r := range g.Rules {
				names := regexp.MustCompile(`waitroom_[a-z0-9_]+`).FindAllString(r.Expr, -1)
				if len(names) == 0 || r.Annotations.Summary == "" || r.Annotations.Do == "" {
					t.Errorf("%s watches %q, says %q and %q", r.Alert, names, r.Annotations.Summary, r.Annotations.Do)
				}
				for _, name := range names {
					out, err := exec.CommandContext(t.Context(), "grep", "-rlF", "--include=*.go", "--exclude=*_test.go", `"`+name+`"`, "..").Output()
					if err != nil || strings.TrimSpace(string(out)) == "" {
						t.Errorf("%s watches %s, which nothing has", r.Alert, name)
					}
				}
			}
		}
	}
}
