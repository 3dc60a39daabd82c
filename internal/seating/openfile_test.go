package seating_test

import (
	"strings"
	"testing"
	"time"

	"waitroom/internal/seating"
)

// An event without a line says nothing of one, and one that has a line has no gate.
func TestAGateIsForEventsWithoutALine(t *testing.T) {
	const event = "id: gala\ntitle: Gala\ncurrency: EUR\nopens_at: now\n"
	for _, c := range []struct{ lines, flaw string }{
		{"admission: open\ngate: on\n", ""},
		{"admission: open\n", ""},
		{"admission: line\ngate: off\n", ""},
		{"gate: on\n", "gate: on is for admission: open"},
		{"admission: line\ngate: on\n", "gate: on is for admission: open"},
		{"admission: queue\n", "admission"},
		{"admission: open\ngate: perhaps\n", "gate"},
		{"admission: open\nrate: 5\n", "rate: is of a line"},
		{"admission: open\nmax_inside: 5\n", "max_inside: is of a line"},
		{"admission: open\ncodes: required\n", "codes: places use them up"},
	} {
		e, err := seating.ParseEvent("event.yaml", []byte(event+c.lines), time.Now())
		switch {
		case c.flaw == "" && err != nil:
			t.Errorf("%q: %v", c.lines, err)
		case c.flaw == "" && (e.Open != strings.Contains(c.lines, "open") || e.Gate != strings.Contains(c.lines, "gate: on")):
			t.Errorf("%q: open %t, gate %t", c.lines, e.Open, e.Gate)
		case c.flaw != "" && (err == nil || !strings.Contains(err.Error(), c.flaw)):
			t.Errorf("%q: %v, want a flaw %q", c.lines, err, c.flaw)
		}
	}
}
