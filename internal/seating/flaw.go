package seating

import (
	"fmt"
	"strings"
)

// A Flaw is one thing that a file says wrongly, with the place to mend.
type Flaw struct {
	File   string
	Line   int    // 1-based; 0 when the fault has no line (a missing file part)
	Field  string // a column, a YAML key, or a path: zones[2].rows[0].seats[13].seat_number
	Reason string
}

func (f Flaw) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if f.Field != "" {
		b.WriteString(": " + f.Field)
	}
	b.WriteString(": " + f.Reason)
	return b.String()
}

// flawsKept is how many flaws of one file are told. A file that is wrong
// throughout is wrong in one way; twenty lines show it.
const flawsKept = 20

// Flaws refuses a file: the first twenty flaws found, and how many more
// there were. Whoever gets one gets nothing of the file.
type Flaws struct {
	Kept []Flaw
	More int
}

func (f *Flaws) Error() string {
	lines := make([]string, 0, len(f.Kept)+1)
	for _, k := range f.Kept {
		lines = append(lines, k.Error())
	}
	if f.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", f.More))
	}
	return strings.Join(lines, "\n")
}

// flaws collects what is wrong with one file.
type flaws struct {
	file string
	Flaws
}

func (f *flaws) add(line int, field, format string, args ...any) {
	if len(f.Kept) == flawsKept {
		f.More++
		return
	}
	f.Kept = append(f.Kept, Flaw{f.file, line, field, fmt.Sprintf(format, args...)})
}

// err is nil for a file without a flaw.
func (f *flaws) err() error {
	if len(f.Kept) == 0 {
		return nil
	}
	return &f.Flaws
}
