// Package mutant shows that the suite has teeth. It seeds a defect against a
// promise, proves that the compiler built it, and wants the tests that keep that
// promise to fail: first they pass without it.
//
// Defects are edits of the product's own source, laid over it as it is compiled
// (go's -overlay): the product has no seams for them, and an edit that no longer
// fits the source ends the run instead of passing.
package mutant

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Mutant is a defect against a promise.
type Mutant struct {
	Name    string
	Promise string // P1 … P16
	Says    string // what goes wrong
	File    string // below the module's root
	Edits   []Edit
	Pkg     string // whose tests have to catch it
	Tests   string // these, as go test's -run
}

// Edit changes one passage of a file; Old has to be there exactly once.
type Edit struct{ Old, New string }

// seed is the mutant's source.
func (m Mutant) seed(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	for _, e := range m.Edits {
		if n := bytes.Count(text, []byte(e.Old)); n != 1 || e.Old == e.New {
			return nil, fmt.Errorf("%s has %d times: %s", m.File, n, e.Old)
		}
		text = bytes.Replace(text, []byte(e.Old), []byte(e.New), 1)
	}
	return text, nil
}
