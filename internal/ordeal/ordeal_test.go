package ordeal_test

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"waitroom/internal/ordeal"
)

// A small sale, in the middle of which a courier is killed at random, a claimer
// inside its transaction, a waiting room between a credit and its pass, and
// Postgres crashes: it sells out, and keeps every promise. `make kill-demo` is the
// long one.
func TestASaleUnderTheKnifeKeepsItsPromises(t *testing.T) {
	s := ordeal.Short()
	out, logs := &end{most: 20 << 10}, &end{most: 8 << 10}
	s.Bin, s.Out, s.Logs = t.TempDir(), out, logs
	args := []string{"build", "-o", s.Bin}
	for _, name := range []string{"waitroom", "claimer", "expirer", "paycallback", "refunder", "courier"} {
		args = append(args, "waitroom/cmd/"+name)
	}
	if said, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	began := time.Now()
	r, err := ordeal.Run(t.Context(), s)
	var table strings.Builder
	r.Fprint(&table)
	t.Logf("%.0f s\n%s", time.Since(began).Seconds(), table.String())
	if err != nil {
		t.Error(err)
	} else {
		for _, broken := range r.Broken() {
			t.Error(broken)
		}
	}
	if t.Failed() {
		t.Logf("%s\nthe end of the programs' log:\n%s", out, logs)
	}
}

// An ordeal without what it is for is not passed.
func TestAnOrdealOfNothingIsBroken(t *testing.T) {
	if broken := (ordeal.Report{Wanted: 1}).Broken(); len(broken) < 3 {
		t.Errorf("only %q is wrong with nothing at all", broken)
	}
}

// end keeps the end of what is written to it.
type end struct {
	mu   sync.Mutex
	most int
	text []byte
}

func (e *end) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	e.text = e.text[max(0, len(e.text)-e.most):]
	return len(p), nil
}

func (e *end) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.text)
}
