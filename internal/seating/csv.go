package seating

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A plan as a spreadsheet: UTF-8, fields parted by commas, quoted where needed.
// The first line names the columns, in any order and case; others than these
// are ignored.
//
//	guid,section,row,number,x,y,category,kind,count
//
// A line with a guid is one seat: section, category, x and y are needed; row
// and number may be empty; kind is numbered, accessible or empty, and then the
// wheelchair rule decides. A line without a guid is general admission: count
// units of section and category, and nothing else but kind general. Columns
// that no line needs may be left out.

var columns = [...]string{"guid", "section", "row", "number", "x", "y", "category", "kind", "count"}

func parseCSV(f *flaws, data []byte) (Plan, error) {
	s := &sheet{flaws: f, in: csv.NewReader(bytes.NewReader(data))}
	s.in.FieldsPerRecord = -1
	s.in.ReuseRecord = true
	if !s.header(data) {
		return Plan{}, f.err()
	}
	for !s.over && s.next() {
		s.seat()
	}
	return finish(f, s.plan, s.drafts)
}

// sheet walks a CSV line by line.
type sheet struct {
	*flaws
	in     *csv.Reader
	fields []string
	column map[string]int
	width  int
	plan   Plan
	drafts []draft
	over   bool
}

// next reads a line that is not empty. After broken quoting nothing has a
// certain meaning, so that ends the walk.
func (s *sheet) next() bool {
	for {
		fields, err := s.in.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return false
		case errors.As(err, &broken):
			s.add(broken.Line, "", "column %d: %v", broken.Column, broken.Err)
			return false
		case err != nil:
			s.add(0, "", "%v", err)
			return false
		}
		if s.fields = fields; slices.ContainsFunc(fields, func(v string) bool { return strings.TrimSpace(v) != "" }) {
			return true
		}
	}
}

func (s *sheet) line() int {
	line, _ := s.in.FieldPos(0)
	return line
}

func (s *sheet) get(column string) string {
	if i, ok := s.column[column]; ok && i < len(s.fields) {
		return strings.TrimSpace(s.fields[i])
	}
	return ""
}

func (s *sheet) header(data []byte) bool {
	if !bytes.Contains(data, []byte("\n")) && bytes.Contains(data, []byte("\r")) {
		s.add(1, "", "lines end in a bare CR; save it with LF or CRLF line ends")
		return false
	}
	if !s.next() {
		return false
	}
	s.column, s.width = map[string]int{}, len(s.fields)
	for i, name := range s.fields {
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(columns[:], name) {
			continue
		}
		if _, twice := s.column[name]; twice {
			s.add(1, name, "the column stands twice")
		}
		s.column[name] = i
	}
	if len(s.fields) == 1 && strings.ContainsAny(s.fields[0], ";\t") {
		s.add(1, "", "the fields are parted by semicolons or tabs; save it parted by commas")
		return false
	}
	s.needColumns("section", "category")
	if s.has("guid") {
		s.needColumns("x", "y")
	} else {
		s.needColumns("count")
	}
	return s.err() == nil
}

func (s *sheet) has(column string) bool { _, ok := s.column[column]; return ok }

func (s *sheet) needColumns(want ...string) {
	for _, c := range want {
		if !s.has(c) {
			s.add(1, c, "the header lacks this column (%s)", strings.Join(columns[:], ","))
		}
	}
}

func (s *sheet) seat() {
	line, told := s.line(), len(s.Kept)+s.More
	if n := len(s.fields); n != s.width {
		s.add(line, "", "%d fields, the header has %d", n, s.width)
		return
	}
	d := draft{line: line, Seat: Seat{
		GUID: s.get("guid"), Section: s.get("section"), Row: s.get("row"),
		Number: s.get("number"), Category: s.get("category"),
	}}
	if d.Section == "" {
		s.add(line, "section", "empty")
	}
	s.check(line, "section", d.Section, MaxLabel)
	s.check(line, "row", d.Row, MaxLabel)
	s.check(line, "category", d.Category, MaxLabel)
	if d.GUID == "" {
		s.general(d, told)
		return
	}
	if s.get("count") != "" {
		s.add(line, "count", "a seat with a guid is one seat; leave it empty")
	}
	d.X, d.Y, d.Kind = s.position("x"), s.position("y"), s.kind()
	d.broken = told != len(s.Kept)+s.More
	s.keep(d)
}

// keep takes a draft in, and its category as declared.
func (s *sheet) keep(d draft) {
	if len(s.drafts) == MaxSeats {
		s.add(d.line, "", "more than %d seats", MaxSeats)
		s.over = true
		return
	}
	named := func(c Category) bool { return c.Name == d.Category }
	if d.Category != "" && !slices.ContainsFunc(s.plan.Categories, named) {
		if len(s.plan.Categories) == MaxCategories {
			s.add(d.line, "category", "more than %d categories", MaxCategories)
			s.over = true
			return
		}
		s.plan.Categories = append(s.plan.Categories, Category{Name: d.Category})
	}
	s.drafts = append(s.drafts, d)
}

func (s *sheet) position(column string) float64 {
	v, err := strconv.ParseFloat(s.get(column), 64)
	switch plain := strings.Trim(s.get(column), "+-.0123456789eE") == ""; {
	case s.get(column) == "":
		s.add(s.line(), column, "empty")
	case strings.Contains(s.get(column), ","):
		s.add(s.line(), column, "%q: write a decimal point, not a comma", clip(s.get(column)))
	case err != nil || !plain || !within(v):
		s.add(s.line(), column, "%q is not a number up to %d either way", clip(s.get(column)), MaxPosition)
	default:
		return v
	}
	return 0
}

func (s *sheet) kind() Kind {
	switch k := Kind(strings.ToLower(s.get("kind"))); k {
	case "", Numbered, Accessible:
		return k
	case General:
		s.add(s.line(), "kind", "general admission has a count and no guid")
	default:
		s.add(s.line(), "kind", "%q is not numbered, accessible or general", clip(s.get("kind")))
	}
	return ""
}

// general takes in a line of general admission.
func (s *sheet) general(d draft, told int) {
	if s.get("count") == "" {
		s.add(d.line, "guid", "empty; a seat needs a guid, general admission a count")
		return
	}
	for _, c := range []string{"row", "number", "x", "y"} {
		if s.get(c) != "" {
			s.add(d.line, c, "general admission has none; leave it empty, or give the seat a guid")
		}
	}
	if k := strings.ToLower(s.get("kind")); k != "" && k != string(General) {
		s.add(d.line, "kind", "%q: a line with a count is general admission", clip(k))
	}
	n, err := strconv.Atoi(s.get("count"))
	if err != nil || n < 1 || n > MaxSeats {
		s.add(d.line, "count", "%q is not a whole number from 1 to %d", clip(s.get("count")), MaxSeats)
		return
	}
	group := Admission{Section: d.Section, Category: d.Category, Count: n}
	if slices.ContainsFunc(s.plan.groups, group.sameAs) {
		s.add(d.line, "section", "general admission of %q in %q stands twice", clip(d.Category), clip(d.Section))
		return
	}
	s.plan.groups = append(s.plan.groups, group)
	for _, unit := range group.seats(len(s.plan.groups)) {
		if s.over {
			return
		}
		s.keep(draft{Seat: unit, line: d.line, broken: told != len(s.Kept)+s.More})
	}
}
