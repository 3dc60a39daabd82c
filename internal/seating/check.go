package seating

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// draft is a seat before the checks that need the whole file.
type draft struct {
	Seat
	line   int
	at     *place // nil in a CSV, where the field is the column
	broken bool   // a flaw of it is told already
}

// field names one of the seat's own fields as its file does.
func (d draft) field(key string) string {
	if d.at == nil {
		return strings.TrimPrefix(key, "seat_")
	}
	return d.at.field(key)
}

// finish checks the seats against each other and the categories, and gives the
// whole plan or nothing of it.
func finish(f *flaws, p Plan, drafts []draft) (Plan, error) {
	declared := map[string]bool{}
	for _, c := range p.Categories {
		declared[c.Name] = true
	}
	first := make(map[string]draft, len(drafts))
	p.Seats = make([]Seat, 0, len(drafts))
	for _, d := range drafts {
		if !d.broken {
			f.seat(d, declared)
			f.double(d, first)
		}
		if d.Kind == "" {
			d.Kind = kindOf(d.Seat)
		}
		p.Seats = append(p.Seats, d.Seat)
	}
	if err := f.err(); err != nil {
		return Plan{}, err
	}
	p.remarkOddities()
	return p, nil
}

func (f *flaws) seat(d draft, declared map[string]bool) {
	switch {
	case strings.TrimSpace(d.GUID) == "":
		f.add(d.line, d.field("seat_guid"), "empty; every seat needs an id of its own")
	default:
		f.check(d.line, d.field("seat_guid"), d.GUID, MaxLabel)
	}
	f.check(d.line, d.field("seat_number"), d.Number, MaxLabel)
	switch {
	case d.Category == "":
		f.add(d.line, d.field("category"), "empty; give the seat one of the plan's categories")
	case !declared[d.Category]:
		f.add(d.line, d.field("category"), "%q is not among the plan's categories", clip(d.Category))
	}
	if !within(d.X) || !within(d.Y) {
		f.add(d.line, d.field("position"), "(%v, %v) is out of range, at most %d either way", d.X, d.Y, MaxPosition)
	}
}

func (f *flaws) double(d draft, first map[string]draft) {
	o, twice := first[d.GUID]
	switch {
	case d.GUID == "":
	case !twice:
		first[d.GUID] = d
	case o.line == d.line:
		f.add(d.line, d.field("seat_guid"), "%q is also %s", clip(d.GUID), o.field("seat_guid"))
	default:
		f.add(d.line, d.field("seat_guid"), "%q stands on line %d too", clip(d.GUID), o.line)
	}
}

// check says whether a label can be kept and shown: not too long, and nothing
// in it that a terminal or Postgres would take as more than a character.
func (f *flaws) check(line int, field, s string, most int) bool {
	n := utf8.RuneCountInString(s)
	switch {
	case n > most:
		f.add(line, field, "%d characters, at most %d", n, most)
	case strings.ContainsFunc(s, unicode.IsControl):
		f.add(line, field, "%q holds a control character", clip(s))
	default:
		return true
	}
	return false
}

// within says whether v is a position that a plan may have. Sums of offsets can
// leave the range that each kept.
func within(v float64) bool { return math.Abs(v) <= MaxPosition }

// wheelchairs are the words by which a hall marks its wheelchair places.
var wheelchairs = [...]string{
	"wheelchair", "rollstuhl", "rolstoel", "fauteuil roulant", "silla de ruedas",
	"輪椅", "轮椅", "車椅子", "휠체어", "♿",
}

// kindOf is the rule for files that have no field for it: a seat is accessible
// when its category, section, row or number names a wheelchair, in any case of
// letters.
func kindOf(s Seat) Kind {
	label := strings.ToLower(s.Category + "\n" + s.Section + "\n" + s.Row + "\n" + s.Number)
	if slices.ContainsFunc(wheelchairs[:], func(w string) bool { return strings.Contains(label, w) }) {
		return Accessible
	}
	return Numbered
}

// remarkOddities tells of what is allowed but may not have been meant.
func (p *Plan) remarkOddities() {
	type label struct{ section, row, number string }
	type spot struct{ x, y float64 }
	labels, spots := map[label]bool{}, map[spot]bool{}
	used := map[string]bool{}
	sameLabel, sameSpot := "", ""
	doubleLabels, doubleSpots := 0, 0
	for _, s := range p.Seats {
		used[s.Category] = true
		if s.Kind == General {
			continue
		}
		if l := (label{s.Section, s.Row, s.Number}); labels[l] {
			doubleLabels++
			sameLabel = pick(sameLabel, fmt.Sprintf("%s, row %q, seat %q", s.Section, s.Row, s.Number))
		} else {
			labels[l] = true
		}
		if at := (spot{s.X, s.Y}); spots[at] {
			doubleSpots++
			sameSpot = pick(sameSpot, fmt.Sprintf("%s at (%g, %g)", s.GUID, s.X, s.Y))
		} else {
			spots[at] = true
		}
	}
	if doubleLabels > 0 {
		p.remark("%d seats are called like another of their section (%s)", doubleLabels, sameLabel)
	}
	if doubleSpots > 0 {
		p.remark("%d seats stand where another does (%s)", doubleSpots, sameSpot)
	}
	for _, c := range p.Categories {
		if !used[c.Name] {
			p.remark("category %q has no seats", c.Name)
		}
	}
}
