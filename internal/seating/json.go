package seating

import (
	"fmt"
	"slices"
	"strings"
)

// The seating-plan JSON that pretix defined and the editor at seats.pretix.eu
// writes (schema: pretix, static/seating/seating-plan.schema.json):
//
//	{ "name", "size": {"width","height"}, "categories": [{"name","color"}],
//	  "zones": [{ "name", "zone_id", "position", "areas": […],
//	    "rows": [{ "row_number", "row_label", "position",
//	      "seats": [{ "seat_guid", "seat_number", "position", "category" }] }] }] }
//
// A row's position is relative to its zone, a seat's to its row. What older and
// other editors leave out and what is certain all the same: a row's or an
// area's position (0,0), a plan's name, its size, areas, a zone's name (its
// zone_id, else "Zone 3"), a row's number (its label, else none). A true
// "wheelchair" or "accessible" on a seat, which some generators write, counts.

func parseJSON(f *flaws, data []byte) (Plan, error) {
	p := &planReader{reader: newReader(f, data)}
	have := p.object(nil, "", func(key string) {
		switch key {
		case "name":
			p.plan.Name, _ = p.maybeText(nil, key)
			p.check(p.line(), key, p.plan.Name, MaxText)
		case "size":
			p.maybe(nil, key, func(side string) { p.size(&place{nil, "size", -1}, side) })
		case "categories":
			p.list(nil, key, p.category)
		case "zones":
			p.list(nil, key, p.zone)
		default:
			p.skip()
		}
	})
	p.need(nil, have, "categories", "zones")
	p.end()
	return finish(f, p.plan, p.drafts)
}

// planReader builds a plan while it walks.
type planReader struct {
	*reader
	plan   Plan
	drafts []draft
	zones  int
}

func (p *planReader) size(at *place, side string) {
	to := map[string]*float64{"width": &p.plan.Width, "height": &p.plan.Height}[side]
	if to == nil {
		p.skip()
		return
	}
	v, ok := p.number(at, side)
	if ok && v < 0 {
		p.flaw(at, side, "%v is negative", v)
	}
	*to = max(v, 0)
}

func (p *planReader) category(at *place) {
	var c Category
	ok := true
	have := p.object(at, "", func(key string) {
		switch key {
		case "name":
			c.Name, ok = p.text(at, key)
		case "color":
			c.Color, _ = p.maybeText(at, key)
		default:
			p.skip()
		}
	})
	if !p.need(at, have, "name") || !ok || p.over {
		return
	}
	switch field := at.field("name"); {
	case c.Name == "":
		p.flaw(at, "name", "empty")
	case slices.ContainsFunc(p.plan.Categories, func(o Category) bool { return o.Name == c.Name }):
		p.flaw(at, "name", "%q is declared twice", clip(c.Name))
	case len(p.plan.Categories) == MaxCategories:
		p.flaw(at, "", "more than %d categories", MaxCategories)
		p.over = true
	case p.check(p.line(), field, c.Name, MaxLabel):
		c.Color = color(c.Color)
		p.plan.Categories = append(p.plan.Categories, c)
	}
}

func (p *planReader) zone(at *place) {
	p.zones++
	var name, id string
	var origin Point
	first, firstArea := len(p.drafts), len(p.plan.Areas)
	have := p.object(at, "", func(key string) {
		switch key {
		case "name":
			name, _ = p.maybeText(at, key)
		case "zone_id":
			id, _ = p.maybeText(at, key)
		case "position":
			origin = p.position(at, key)
		case "rows":
			p.list(at, key, p.row)
		case "areas":
			p.maybeList(at, key, p.area)
		default:
			p.skip()
		}
	})
	p.need(at, have, "position", "rows")
	section := pick(name, id, fmt.Sprintf("Zone %d", p.zones))
	p.check(p.line(), at.field("name"), section, MaxLabel)
	for i := range p.drafts[first:] {
		d := &p.drafts[first+i]
		d.Section, d.X, d.Y = section, d.X+origin.X, d.Y+origin.Y
	}
	for i := range p.plan.Areas[firstArea:] {
		a := &p.plan.Areas[firstArea+i]
		a.X, a.Y = a.X+origin.X, a.Y+origin.Y
	}
}

func (p *planReader) row(at *place) {
	var number, label string
	var origin Point
	first := len(p.drafts)
	have := p.object(at, "", func(key string) {
		switch key {
		case "row_number":
			number, _ = p.maybeText(at, key)
		case "row_label":
			label, _ = p.maybeText(at, key)
		case "position":
			origin = p.position(at, key)
		case "seats":
			p.list(at, key, p.seat)
		default:
			p.skip()
		}
	})
	p.need(at, have, "seats")
	row := pick(number, strings.TrimSpace(strings.ReplaceAll(label, "%s", "")))
	p.check(p.line(), at.field("row_number"), row, MaxLabel)
	for i := range p.drafts[first:] {
		d := &p.drafts[first+i]
		d.Row, d.X, d.Y = row, d.X+origin.X, d.Y+origin.Y
	}
}

func (p *planReader) seat(at *place) {
	if len(p.drafts) == MaxSeats {
		p.flaw(at, "", "more than %d seats", MaxSeats)
		p.over = true
		return
	}
	d := draft{at: at, line: p.line()}
	told := len(p.Kept) + p.More
	have := p.object(at, "", func(key string) {
		switch key {
		case "seat_guid":
			d.GUID, _ = p.text(at, key)
		case "seat_number":
			d.Number, _ = p.text(at, key)
		case "category":
			d.Category, _ = p.text(at, key)
		case "position":
			o := p.position(at, key)
			d.X, d.Y = o.X, o.Y
		case "wheelchair", "accessible":
			p.flag(&d, key)
		default:
			p.skip()
		}
	})
	p.need(at, have, "seat_guid", "seat_number", "position", "category")
	d.broken = told != len(p.Kept)+p.More
	p.drafts = append(p.drafts, d)
}

// flag reads a key that is not in the schema: only a plain true has a certain
// meaning.
func (p *planReader) flag(d *draft, key string) {
	var v any
	if !p.value(&v) {
		return
	}
	switch v {
	case true:
		d.Kind = Accessible
	case false, nil:
	default:
		p.plan.remark("%s is not true or false and was ignored", d.at.field(key))
	}
}

// Point is a position or a pair of measures, in plan units.
type Point struct{ X, Y float64 }

func (p *planReader) position(at *place, key string) (o Point) {
	in := at
	if key != "" {
		in = &place{at, key, -1}
	}
	have := p.object(at, key, func(axis string) {
		switch axis {
		case "x":
			o.X, _ = p.number(in, axis)
		case "y":
			o.Y, _ = p.number(in, axis)
		default:
			p.skip()
		}
	})
	p.need(in, have, "x", "y")
	return o
}

// pick is the first that says something.
func pick(of ...string) string {
	for _, s := range of {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
