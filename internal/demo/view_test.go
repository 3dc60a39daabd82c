package demo

import (
	"strings"
	"testing"

	"waitroom/internal/course"
)

// However wide the terminal, each second is drawn over the last: no line wraps,
// and why a sale is closed is said.
func TestTheViewStaysInItsPlace(t *testing.T) {
	s := course.Sample{
		T: 123456, State: "closed_on_doubt", Reason: "stock_unknown", Wave: 12, Line: 1234567, Front: 1234567, AtDoor: 12345, Inside: 12345,
		Free: 100000, Pending: 100000, Sold: 100000, LetIn: 10000, Rate: 10000, Claims: 10000,
	}
	for _, columns := range []int{40, 80, 200} {
		var out strings.Builder
		v := view{out: &out, columns: func() int { return columns }}
		for range 3 {
			v.show(s, 100000)
		}
		if up := strings.Count(out.String(), "\x1b[4A"); up != 2 {
			t.Errorf("%d columns: up 4 lines %d times in 3 draws, want 2", columns, up)
		}
		for l := range strings.Lines(out.String()) {
			_, text, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\x1b[2K")
			if n := len([]rune(text)); n >= columns {
				t.Errorf("%d columns: a line of %d wraps: %q", columns, n, text)
			}
		}
		if columns >= 80 && !strings.Contains(out.String(), "stock_unknown") {
			t.Errorf("%d columns: the reason is not said:\n%s", columns, out.String())
		}
	}
}

// An ordinary second fits the usual terminal whole.
func TestTheViewFitsEightyColumns(t *testing.T) {
	var out strings.Builder
	v := view{out: &out, columns: func() int { return 80 }}
	v.show(course.Sample{T: 99.9, State: "on_sale", Wave: 2, Line: 17056, Front: 2944, AtDoor: 123, Inside: 456, Free: 1234, Pending: 234, Sold: 1234, LetIn: 50, Rate: 50, Claims: 20.5}, 20000)
	for _, end := range []string{"free 1234\n", "456 inside\n", "fans through 20000\n"} {
		if !strings.Contains(out.String(), end) {
			t.Errorf("%q is cut off:\n%s", end, out.String())
		}
	}
}

// Without a terminal there is a line a second, and one legend.
func TestTheLogHasOneLegend(t *testing.T) {
	var out strings.Builder
	v := view{out: &out}
	for range 3 {
		v.show(course.Sample{State: "closed_on_doubt", Reason: "no_claimers"}, 1)
	}
	if n := strings.Count(out.String(), legend); n != 1 || strings.Count(out.String(), "no_claimers") != 3 {
		t.Errorf("%d legends, want 1, and the reason in every line:\n%s", n, out.String())
	}
}
