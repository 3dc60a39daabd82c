// Package seating reads what an organiser writes: seating plans (JSON or CSV)
// and event files (YAML). It is pure: bytes in, a whole value or the list of
// flaws out. Nothing is guessed: where a file's meaning is not certain, it is
// refused with the place named, because a seat that was read wrongly is sold
// wrongly.
package seating

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// What one file may hold. Larger is a mistake or an attack, not a hall: the
// largest stadium has 114,000 seats.
const (
	MaxSeats      = 200_000
	MaxLabel      = 100       // characters of a guid, section, row, number, category
	MaxText       = 200       // characters of a plan's name and of an area's text
	MaxAreas      = 10_000    // areas in a plan
	MaxPoints     = 10_000    // points of one polygon
	MaxCategories = 500       // categories in a plan
	MaxPosition   = 1_000_000 // plan units from the origin
	MaxBytes      = 64 << 20
)

// Kind says how a seat is sold.
type Kind string

// The kinds of the seats table.
const (
	Numbered   Kind = "numbered"   // picked by name
	Accessible Kind = "accessible" // picked by name; never offered to who did not ask
	General    Kind = "general"    // a unit of general admission, one like the other
)

// Seat is one sellable unit. Its index in Plan.Seats is its pos: its bit in the
// availability bitmap, and for general admission the order of sale.
type Seat struct {
	GUID     string
	Kind     Kind
	Section  string
	Row      string // may be empty: a table, a box, a loose chair
	Number   string
	X, Y     float64 // plan units from the plan's own origin, y downwards
	Category string
}

// Category is what a price is set for.
type Category struct {
	Name  string
	Color string // CSS; empty when the file gives none
}

// Plan is a hall as drawn, without prices. Seats stand in the file's order:
// zones, rows, seats.
type Plan struct {
	Name       string
	Width      float64 // 0 when the file gives no size
	Height     float64
	Categories []Category
	Seats      []Seat
	Areas      []Area
	// Remarks are oddities that are allowed but that the organiser may not
	// have meant; for a person's eye.
	Remarks []string

	groups []Admission // what its general seats were made from
}

func (p *Plan) remark(format string, args ...any) {
	if len(p.Remarks) < flawsKept {
		p.Remarks = append(p.Remarks, fmt.Sprintf(format, args...))
	}
}

// Parse reads a plan. The file's name decides the format (.json, .csv); any
// other name is JSON if it starts with a brace. The error is a *Flaws.
func Parse(file string, data []byte) (Plan, error) {
	f := &flaws{file: file}
	data = text(f, data)
	if f.err() != nil {
		return Plan{}, f.err()
	}
	switch ext := strings.ToLower(path.Ext(file)); {
	case ext == ".csv":
		return parseCSV(f, data)
	case ext == ".json", bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		return parseJSON(f, data)
	}
	return parseCSV(f, data)
}

// text refuses what no text editor would show as the author meant it, and
// takes off a byte-order mark.
func text(f *flaws, data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) > MaxBytes:
		f.add(0, "", "%d bytes, at most %d are read", len(data), MaxBytes)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		f.add(1, "", "the file is UTF-16; save it as UTF-8")
	case !utf8.Valid(data):
		f.add(firstInvalid(data), "", "the file is not UTF-8; save it as UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		f.add(0, "", "the file is empty")
	}
	return data
}

// firstInvalid is the line on which the first byte stands that is not UTF-8.
func firstInvalid(data []byte) int {
	for line, rest := 1, data; ; line++ {
		this, after, _ := bytes.Cut(rest, []byte("\n"))
		if !utf8.Valid(this) {
			return line
		}
		rest = after
	}
}
