package mutant

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// The whole list takes minutes (make mutants). Here each defect still fits the
// source, each promise that code keeps has one, and those whose tests need no
// server are seeded and caught.
func TestEachPromiseHasADefectThatFits(t *testing.T) {
	promises, names := map[string]bool{}, map[string]bool{}
	for _, m := range Seeded() {
		if _, err := m.seed(filepath.FromSlash(root)); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if names[m.Name] {
			t.Errorf("two are called %s", m.Name)
		}
		names[m.Name], promises[m.Promise] = true, true
	}
	for _, p := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14"} {
		if !promises[p] {
			t.Errorf("no defect is seeded against %s", p)
		}
	}
}

func TestDefectsAreCaught(t *testing.T) {
	var quick []Mutant
	for _, m := range Seeded() {
		switch m.Name {
		case "permits", "rewound":
			quick = append(quick, m)
		}
	}
	var out bytes.Buffer
	ok, err := Run(t.Context(), root, quick, &out)
	if err != nil || !ok || !strings.Contains(out.String(), "MUTANTS 2 applied, 2 caught\n") {
		t.Errorf("%t, %v:\n%s", ok, err, out.String())
	}
}

// The run itself has teeth: what changes nothing, fits nothing, does not compile,
// or is seen by no test is not taken for caught.
func TestWhatProvesNothingIsNotCaught(t *testing.T) {
	sound := Mutant{
		Name: "x", Promise: "P11", File: "internal/outlet/start.go",
		Edits: []Edit{{"req.GetBody = nil", "req.GetBody = nil"}}, Pkg: "internal/outlet", Tests: "TestNoTransportCanSendAgain",
	}
	for name, c := range map[string]struct {
		with func(*Mutant)
		says string // "": it is tried, and nobody catches it
	}{
		"the same words":      {func(*Mutant) {}, "has 1 times"},
		"a passage not there": {func(m *Mutant) { m.Edits[0].Old = "no such words" }, "has 0 times"},
		"only a comment":      {func(m *Mutant) { m.Edits[0].New = "req.GetBody = nil /* wrong */" }, "the same code"},
		"does not compile":    {func(m *Mutant) { m.Edits[0].New = "req.GetBody = 1" }, "go list"},
		"no such test":        {func(m *Mutant) { m.Edits[0].New = "_ = req"; m.Tests = "TestThatIsNot" }, "of 1 tests"},
		"nobody looks":        {func(m *Mutant) { m.Edits[0].New = "_ = req"; m.Tests = "TestLimitsThatAreNoneAreRefused" }, ""},
	} {
		m := sound
		m.Edits = []Edit{sound.Edits[0]}
		c.with(&m)
		var out bytes.Buffer
		ok, err := Run(t.Context(), root, []Mutant{m}, &out)
		switch {
		case ok:
			t.Errorf("%s: caught", name)
		case c.says == "" && (err != nil || !strings.Contains(out.String(), "NOT CAUGHT")):
			t.Errorf("%s: %v, %s", name, err, out.String())
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}
