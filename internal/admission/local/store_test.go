package local

import (
	"path/filepath"
	"testing"

	"waitroom/internal/admission"
	"waitroom/internal/admission/admissiontest"
)

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "line"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	s := newStore(t)
	admissiontest.Run(t, func(testing.TB) admission.Store { return s })
}
