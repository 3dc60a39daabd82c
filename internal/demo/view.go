package demo

import (
	"fmt"
	"io"
	"strings"

	"waitroom/internal/course"
)

// view prints the sale a line a second; in a terminal it stays in one place.
type view struct {
	out   io.Writer
	live  bool // redraw in place
	drawn int
}

func (v *view) show(s course.Sample, fans int64) {
	total := max(s.Free+s.Pending+s.Sold, 1)
	lines := []string{
		fmt.Sprintf("  %6.1f s  %-16s wave %d", s.T, s.State, s.Wave),
		fmt.Sprintf("  seats   [%s] sold %d  in carts %d  free %d", bar(s.Sold, s.Pending, total, 40), s.Sold, s.Pending, s.Free),
		fmt.Sprintf("  line    %d waiting, front %d, %d at the door, %d inside", s.Line, s.Front, s.AtDoor, s.Inside),
		fmt.Sprintf("  let in  %.1f/s of %.1f/s set   claims %.1f/s   fans through %d", s.LetIn, s.Rate, s.Claims, fans),
	}
	if !v.live {
		fmt.Fprintf(v.out, "%6.1fs %-15s wave %d  line %d front %d door %d inside %d  in %.1f/%.0f per s  claims %.1f/s  free %d pending %d sold %d\n",
			s.T, s.State, s.Wave, s.Line, s.Front, s.AtDoor, s.Inside, s.LetIn, s.Rate, s.Claims, s.Free, s.Pending, s.Sold)
		return
	}
	if v.drawn > 0 {
		fmt.Fprintf(v.out, "\x1b[%dA", v.drawn)
	}
	for _, l := range lines {
		fmt.Fprintf(v.out, "\x1b[2K%s\n", l)
	}
	v.drawn = len(lines)
}

// bar draws what is sold, what is in carts and what is free.
func bar(sold, pending, total int64, width int) string {
	cells := func(n int64) int { return int(n * int64(width) / total) }
	a, b := cells(sold), cells(sold+pending)
	return strings.Repeat("█", a) + strings.Repeat("▒", b-a) + strings.Repeat("·", width-b)
}
