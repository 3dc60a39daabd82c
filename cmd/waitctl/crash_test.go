package main

import (
	"strings"
	"testing"
)

// crashing is an output that no program survives.
type crashing struct{}

func (crashing) Write([]byte) (int, error) { panic("the disk is upside down") }

// A command that crashes is no success, and no refusal: an audit that ends so has
// found nothing in order.
func TestACrashIsNoSuccess(t *testing.T) {
	var complaints strings.Builder
	code := run(t.Context(), []string{"rehearse", "-f", "../../examples/event.yaml", "--fans", "100"}, crashing{}, &complaints)
	if code != 1 || !strings.Contains(complaints.String(), "waitctl: crashed") || !strings.Contains(complaints.String(), "the disk is upside down") || !strings.Contains(complaints.String(), "rehearse.go") {
		t.Errorf("exit %d with %q, want 1, the reason and where it was", code, complaints.String())
	}
}

// A rehearsal takes as many replicas as a house may have.
func TestALargeHouseIsRehearsed(t *testing.T) {
	var out, complaints strings.Builder
	code := run(t.Context(), []string{"rehearse", "-f", "../../examples/event.yaml", "--fans", "2000", "--replicas", "200"}, &out, &complaints)
	if code != 0 || !strings.Contains(out.String(), "last paid for") {
		t.Errorf("exit %d with %q and %q, want a rehearsal", code, out.String(), complaints.String())
	}
}
