package trial_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"waitroom/internal/pgtest"
	"waitroom/internal/trial"
)

// The outlet's acceptance in its short form: `make outlet-proof` is the long one.
func TestTheOutletKeepsWhatItPromises(t *testing.T) {
	s := trial.Short()
	s.Bin, s.DatabaseURL, s.Out = t.TempDir(), pgtest.URL(t), t.Output()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", s.Bin, "waitroom/cmd/refunder", "waitroom/cmd/payprov")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	began := time.Now()
	r, err := trial.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	r.Fprint(&table)
	t.Logf("%.0f s\n%s", time.Since(began).Seconds(), table.String())
	if !r.Kept() {
		t.Error("not all of it is so")
	}
}
