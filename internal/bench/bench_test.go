package bench

import (
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	for _, other := range []func([]string) (bool, error){Poll, Idle} {
		if asked, err := other(os.Args); asked {
			if err != nil {
				log.Fatal(err)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// Everything can be measured, and every figure is one. How good they are is not
// judged on a machine that does other things; only that those that all who wait
// ask for, and the check of a ticket, take no memory.
func TestFiguresAreFigures(t *testing.T) {
	all, err := Run(t.Context(), Effort{
		Rounds: 1, Each: time.Millisecond, Batches: 10, Joins: 64, Callers: 16, Polls: 640, Held: 50, Watch: 200 * time.Millisecond, Claims: 200, Contenders: 50,
	}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.Name] {
			t.Errorf("%s is measured twice", f.Name)
		}
		seen[f.Name] = true
		if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value < 0 || f.Unit == "" {
			t.Errorf("no figure: %s", f)
		}
	}
	for _, name := range []string{"status_allocations", "ticket_check_allocations", "draw_allocations"} {
		i := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name })
		if i < 0 || all[i].Value != 0 {
			t.Errorf("%s: want 0 of %v", name, all)
		}
	}
	if len(all) < 15 {
		t.Errorf("%d figures, want 15 at least", len(all))
	}
	if err := Write(filepath.Join(t.TempDir(), "bench", "results.json"), all); err != nil {
		t.Error(err)
	}
}
