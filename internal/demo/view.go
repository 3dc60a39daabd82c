package demo

import (
	"fmt"
	"io"
	"strings"

	"waitroom/internal/course"
)

// view prints the sale a line a second; in a terminal it stays in one place.
type view struct {
	out     io.Writer
	columns func() int // of the terminal; nil: it is none
	drawn   int
}

// legend tells what a line without a terminal has.
const legend = `each second: seconds since the opening, state, wave; the line: people waiting, front (all numbers
below it are called), at the door, inside with a pass; let in a second and the rate set; claims; seats`

func (v *view) show(s course.Sample, fans int64) {
	total := max(s.Free+s.Pending+s.Sold, 1)
	lines := []string{
		fmt.Sprintf("  %6.1f s  %-16s wave %d  %s", s.T, s.State, s.Wave, s.Reason),
		fmt.Sprintf("  seats   [%s] sold %d  in carts %d  free %d", bar(s.Sold, s.Pending, total, 20), s.Sold, s.Pending, s.Free),
		fmt.Sprintf("  line    %d waiting, front %d, %d at the door, %d inside", s.Line, s.Front, s.AtDoor, s.Inside),
		fmt.Sprintf("  let in  %.1f/s of %.1f/s set   claims %.1f/s   fans through %d", s.LetIn, s.Rate, s.Claims, fans),
	}
	if v.columns == nil {
		v.line(s)
		return
	}
	if v.drawn > 0 {
		fmt.Fprintf(v.out, "\x1b[%dA", v.drawn)
	}
	for _, l := range lines {
		fmt.Fprintf(v.out, "\x1b[2K%s\n", cut(l, v.columns()))
	}
	v.drawn = len(lines)
}

// line is the same where nothing can be drawn over.
func (v *view) line(s course.Sample) {
	if v.drawn++; v.drawn == 1 {
		fmt.Fprintln(v.out, legend)
	}
	text := fmt.Sprintf("%6.1fs %-15s wave %d  line %d front %d door %d inside %d  in %.1f/%.4g per s  claims %.1f/s  free %d pending %d sold %d  %s",
		s.T, s.State, s.Wave, s.Line, s.Front, s.AtDoor, s.Inside, s.LetIn, s.Rate, s.Claims, s.Free, s.Pending, s.Sold, s.Reason)
	fmt.Fprintln(v.out, strings.TrimRight(text, " "))
}

// cut keeps a line from wrapping: it would be two, and drawn over as one. The
// last column stays free, for terminals that wrap once it is full.
func cut(line string, columns int) string {
	if r := []rune(line); columns > 1 && len(r) >= columns {
		return string(r[:columns-1])
	}
	return line
}

// bar draws what is sold, what is in carts and what is free.
func bar(sold, pending, total int64, width int) string {
	cells := func(n int64) int { return int(n * int64(width) / total) }
	a, b := cells(sold), cells(sold+pending)
	return strings.Repeat("█", a) + strings.Repeat("▒", b-a) + strings.Repeat("·", width-b)
}
