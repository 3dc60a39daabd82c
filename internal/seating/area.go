package seating

import (
	"regexp"
)

// Area is something drawn that is no seat: a stage, a bar, a door, a word.
// X and Y are absolute; Points and the text's position are relative to them,
// and they are the centre that Rotation turns around.
type Area struct {
	Shape    string // rectangle, circle, ellipse, polygon, text
	X, Y     float64
	W, H     float64 // a rectangle's sides; a circle's or an ellipse's two radii
	Points   []Point // a polygon's corners
	Rotation float64 // degrees clockwise
	Color    string  // CSS; empty when the file gives none
	Border   string
	Text     AreaText
}

// AreaText is the word on an area; Text is empty when it has none.
type AreaText struct {
	Text  string
	X, Y  float64
	Size  float64 // plan units; 0 is the editor's default, 16
	Color string
}

// measures are what an area gives for each shape: an editor leaves those of
// the shape before.
type measures struct {
	rectangle, circle, ellipse *Point
	polygon                    []Point
}

func (p *planReader) area(at *place) {
	if len(p.plan.Areas) == MaxAreas {
		p.flaw(at, "", "more than %d areas", MaxAreas)
		p.over = true
		return
	}
	var a Area
	var m measures
	var old Point
	p.object(at, "", func(key string) {
		switch key {
		case "shape":
			a.Shape, _ = p.maybeText(at, key)
		case "position":
			at := p.position(at, key)
			a.X, a.Y = at.X, at.Y
		case "color":
			a.Color, _ = p.maybeText(at, key)
		case "border_color":
			a.Border, _ = p.maybeText(at, key)
		case "rotation":
			a.Rotation, _ = p.maybeNumber(at, key)
		case "width": // the schema's first version: every area was a rectangle
			old.X, _ = p.maybeNumber(at, key)
		case "height":
			old.Y, _ = p.maybeNumber(at, key)
		case "rectangle", "circle", "ellipse", "polygon":
			p.measure(&m, at, key)
		case "text":
			a.Text = p.areaText(at, key)
		default:
			p.skip()
		}
	})
	if a.Shape == "" && old != (Point{}) {
		a.Shape, m.rectangle = "rectangle", &old
	}
	p.draw(at, a, m)
}

// draw keeps what can be drawn. An area is decoration, so an unknown shape, or
// one without its measures, loses its drawing and not the plan: it is remarked.
func (p *planReader) draw(at *place, a Area, m measures) {
	a.Color, a.Border, a.Text.Color = color(a.Color), color(a.Border), color(a.Text.Color)
	side := map[string]*Point{"rectangle": m.rectangle, "circle": m.circle, "ellipse": m.ellipse}[a.Shape]
	switch {
	case side != nil:
		a.W, a.H = side.X, side.Y
	case a.Shape == "polygon" && len(m.polygon) > 0:
		a.Points = m.polygon
	case a.Text.Text != "":
		a.Shape = "text"
	default:
		p.plan.remark("%s is not drawn: shape %q without its measures", at.field(""), clip(a.Shape))
		return
	}
	p.plan.Areas = append(p.plan.Areas, a)
}

func (p *planReader) measure(m *measures, at *place, shape string) {
	in := &place{at, shape, -1}
	p.maybe(at, shape, func(key string) {
		switch shape + "." + key {
		case "rectangle.width":
			v, _ := p.number(in, key)
			m.rectangle = with(m.rectangle, func(o *Point) { o.X = v })
		case "rectangle.height":
			v, _ := p.number(in, key)
			m.rectangle = with(m.rectangle, func(o *Point) { o.Y = v })
		case "circle.radius":
			v, _ := p.number(in, key)
			m.circle = &Point{v, v}
		case "ellipse.radius":
			o := p.position(in, key)
			m.ellipse = &o
		case "polygon.points":
			p.list(in, key, func(at *place) { p.corner(m, at) })
		default:
			p.skip()
		}
	})
}

func with(o *Point, set func(*Point)) *Point {
	if o == nil {
		o = &Point{}
	}
	set(o)
	return o
}

func (p *planReader) corner(m *measures, at *place) {
	if len(m.polygon) == MaxPoints {
		p.flaw(at, "", "more than %d points", MaxPoints)
		p.over = true
		return
	}
	m.polygon = append(m.polygon, p.position(at, ""))
}

// areaText reads an area's word: an object today, a bare text in the schema's
// first version.
func (p *planReader) areaText(at *place, key string) (text AreaText) {
	t := p.token()
	if s, ok := t.(string); ok || t == nil {
		return AreaText{Text: p.word(at, key, s)}
	}
	in := &place{at, key, -1}
	p.fields(at, key, t, func(key string) {
		switch key {
		case "text":
			s, _ := p.maybeText(in, key)
			text.Text = p.word(in, key, s)
		case "position":
			at := p.position(in, key)
			text.X, text.Y = at.X, at.Y
		case "size":
			text.Size, _ = p.maybeNumber(in, key)
		case "color":
			text.Color, _ = p.maybeText(in, key)
		default:
			p.skip()
		}
	})
	return text
}

func (p *planReader) word(at *place, key, s string) string {
	if n := len([]rune(s)); n > MaxText {
		p.flaw(at, key, "%d characters, at most %d", n, MaxText)
	}
	return s
}

// cssColor is what we hand on to a browser as a colour: #hex, a name, rgb(…),
// hsl(…). Nothing in it can close an attribute or name an address.
var cssColor = regexp.MustCompile(`^(#[0-9A-Fa-f]{3,8}|[A-Za-z]{1,30}|(rgb|hsl)a?\([0-9., %/deg-]{1,40}\))$`)

// color is the colour, or nothing when it is none: a colour is not worth a
// refused hall.
func color(s string) string {
	if cssColor.MatchString(s) {
		return s
	}
	return ""
}
