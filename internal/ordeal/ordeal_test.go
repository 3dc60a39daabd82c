package ordeal_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"waitroom/internal/audit"
	"waitroom/internal/demo"
	"waitroom/internal/ordeal"
)

// A small sale, in the middle of which a courier is killed at random, a claimer
// inside its transaction, a waiting room between a credit and its pass, and
// Postgres crashes: it sells out, and keeps every promise. `make kill-demo` is the
// long one.
func TestASaleUnderTheKnifeKeepsItsPromises(t *testing.T) {
	s := ordeal.Short()
	out, logs := &end{most: 20 << 10}, &end{most: 8 << 10}
	s.Bin, s.Out, s.Logs, s.Witness = t.TempDir(), out, logs, filepath.Join(t.TempDir(), "witness.ndjson")
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
		if r.Claims != porcupine.Ok {
			t.Errorf("the claims of %d histories are as if one at a time: %s", len(r.History.Parts), r.Claims)
		}
		soldTwice(t, s.Witness, r.Sold)
	}
	if t.Failed() {
		t.Logf("%s\nthe end of the programs' log:\n%s", out, logs)
	}
}

// soldTwice: had one seat of this very run been sold to somebody else as well, its
// history would have been refused.
func soldTwice(t *testing.T, witness string, sold []ordeal.Sold) {
	t.Helper()
	log, err := os.ReadFile(witness)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sold, func(s ordeal.Sold) bool { return s.Ended.IsZero() })
	if i < 0 {
		t.Fatal("no order stands")
	}
	seat := sold[i].Seats[:1]
	log = append(log, line("again", "claimed", 0, 1, seat, nil)...)
	h, err := ordeal.ReadHistory(bytes.NewReader(log), append(sold[:len(sold):len(sold)], ordeal.Sold{Holder: "fan", Attempt: "again", Seats: seat}))
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Verdict(); got != porcupine.Illegal {
		t.Errorf("seat %s sold to another as well: %s, want it refused", seat, got)
	}
}

// whole is an ordeal that was passed.
func whole() ordeal.Report {
	r := ordeal.Report{
		Rows: []ordeal.Row{{Name: "a claimer is killed", Back: ordeal.Back{LetIn: time.Second, Claimed: time.Second, Paid: 2 * time.Second}}}, Wanted: 1,
		Sale: demo.Report{Seats: 100, Sold: 98},
	}
	r.History, r.Claims = ordeal.History{Claims: 1, Parts: make([]ordeal.Part, 1)}, porcupine.Ok
	r.Sale.Audit.Checked = map[string]int64{}
	for _, p := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P11", "P12", "P13"} {
		r.Sale.Audit.Checked[p] = 1
	}
	return r
}

// An ordeal is passed by nothing less than all that it is for: each thing that goes
// wrong alone is said, and nothing else.
func TestAnOrdealIsPassedByAllOfItOnly(t *testing.T) {
	if broken := whole().Broken(); len(broken) > 0 {
		t.Errorf("a whole one is broken: %q", broken)
	}
	for says, harm := range map[string]func(*ordeal.Report){
		"0 of 1 harms were done":          func(r *ordeal.Report) { r.Rows = nil },
		"sales went on after":             func(r *ordeal.Report) { r.Rows[0].Back.Claimed = time.Hour },
		"the audit ends with 2":           func(r *ordeal.Report) { r.Sale.Audit.Exit = audit.Broken },
		"the audit ends with 3":           func(r *ordeal.Report) { r.Sale.Audit.Exit = audit.Unusable },
		"P8 was held against nothing":     func(r *ordeal.Report) { r.Sale.Audit.Checked["P8"] = 0 },
		"P11 was held against nothing":    func(r *ordeal.Report) { delete(r.Sale.Audit.Checked, "P11") },
		"the sale does not end":           func(r *ordeal.Report) { r.Sale.Limited = true },
		"1 seats oversold, 0 pending":     func(r *ordeal.Report) { r.Sale.Oversold = 1 },
		"0 seats oversold, 3 pending":     func(r *ordeal.Report) { r.Sale.Pending = 3 },
		"there is no history":             func(r *ordeal.Report) { r.History = ordeal.History{} },
		"no order of the claims":          func(r *ordeal.Report) { r.Claims = porcupine.Illegal },
		"96 of 100 seats sold, want 97 %": func(r *ordeal.Report) { r.Sale.Sold = 96 },
		"0 of 0 seats sold, want 97 %":    func(r *ordeal.Report) { r.Sale.Seats, r.Sale.Sold = 0, 0 },
	} {
		r := whole()
		harm(&r)
		if broken := r.Broken(); len(broken) != 1 || !strings.Contains(broken[0], says) {
			t.Errorf("%s: it says %q", says, broken)
		}
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
