package seating

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// The seat map is what a browser draws: the hall and its prices, without who
// holds what. It is the same bytes for the same hall, so that it can be cached
// for ever under its hash. docs/SEATMAP.md describes it for who reads it.
//
// Seats are named by pos. A row is a run of seats with one section and row, and
// its arrays are in pos order; rows follow each other in pos order, so pos
// itself is not written. Positions are whole tenths of a plan unit, each but
// the first as the difference from the one before: neighbours stand evenly, so
// the differences repeat and compress to almost nothing.

type seatmap struct {
	Version  int       `json:"version"`
	Name     string    `json:"name"`
	Currency string    `json:"currency"`
	Decimals int       `json:"decimals"`
	Scale    int       `json:"scale"`
	Seats    int       `json:"seats"`
	Box      [4]int    `json:"box"`
	Tiers    []mapTier `json:"tiers"`
	Sections []string  `json:"sections"`
	Rows     []mapRow  `json:"rows"`
	Areas    []mapArea `json:"areas"`
}

type mapTier struct {
	ID     string `json:"id"`
	Amount int64  `json:"amount"`
	Color  string `json:"color,omitempty"`
}

type mapRow struct {
	Section int      `json:"section"`
	Row     string   `json:"row,omitempty"`
	General int      `json:"general,omitempty"` // units 1..General, not drawn
	Numbers []string `json:"numbers,omitempty"`
	Prefix  string   `json:"prefix,omitempty"` // guid = prefix + number …
	GUIDs   []string `json:"guids,omitempty"`  // … unless they are listed
	X       []int    `json:"x,omitempty"`
	Y       []int    `json:"y,omitempty"`
	Tier    any      `json:"tier"` // one for all, or one each
	// Accessible lists the indexes within the row.
	Accessible []int `json:"accessible,omitempty"`
}

type mapArea struct {
	Shape  string    `json:"shape"`
	At     [2]int    `json:"at"`
	Size   *[2]int   `json:"size,omitempty"`
	Points []int     `json:"points,omitempty"` // x, y, x, y …
	Turn   float64   `json:"turn,omitempty"`
	Color  string    `json:"color,omitempty"`
	Border string    `json:"border,omitempty"`
	Text   *areaWord `json:"text,omitempty"`
}

type areaWord struct {
	Text  string `json:"text"`
	At    [2]int `json:"at"`
	Size  int    `json:"size,omitempty"`
	Color string `json:"color,omitempty"`
}

const scale = 10

func tenths(v float64) int { return int(math.Round(v * scale)) }

// Seatmap is the document and its name: the SHA-256 of its bytes, in hex.
func (h Hall) Seatmap() (doc []byte, hash string) {
	decimals, _ := Decimals(h.Currency)
	m := seatmap{
		Version: 1, Name: h.Plan.Name, Currency: h.Currency, Decimals: decimals, Scale: scale,
		Seats: len(h.Plan.Seats), Tiers: []mapTier{}, Sections: []string{}, Areas: []mapArea{},
	}
	for _, t := range h.Tiers {
		m.Tiers = append(m.Tiers, mapTier{t.ID, t.AmountMinor, t.Color})
	}
	section := map[string]int{}
	for pos := 0; pos < len(h.Plan.Seats); {
		name := h.Plan.Seats[pos].Section
		if _, known := section[name]; !known {
			section[name] = len(m.Sections)
			m.Sections = append(m.Sections, name)
		}
		end := h.run(pos)
		m.Rows = append(m.Rows, h.mapRow(pos, end, section[name]))
		pos = end
	}
	for _, a := range h.Plan.Areas {
		m.Areas = append(m.Areas, a.drawn())
	}
	m.Box = h.Plan.box()
	doc, err := json.Marshal(m)
	if err != nil {
		panic(err) // a struct of texts and whole numbers always marshals
	}
	sum := sha256.Sum256(doc)
	return doc, hex.EncodeToString(sum[:])
}

// run is the end of the row that starts at pos.
func (h Hall) run(pos int) int {
	first := h.Plan.Seats[pos]
	for end := pos + 1; end < len(h.Plan.Seats); end++ {
		s := h.Plan.Seats[end]
		general := s.Kind == General
		if s.Section != first.Section || s.Row != first.Row || general != (first.Kind == General) ||
			general && s.Number == "1" { // the next group
			return end
		}
	}
	return len(h.Plan.Seats)
}

func (h Hall) mapRow(pos, end, section int) mapRow {
	seats := h.Plan.Seats[pos:end]
	r := mapRow{Section: section, Row: seats[0].Row}
	r.Prefix = strings.TrimSuffix(seats[0].GUID, seats[0].Number)
	r.Tier = h.tiers(pos, end)
	if seats[0].Kind == General {
		r.General = len(seats)
		return r
	}
	var last [2]int
	for i, s := range seats {
		x, y := tenths(s.X), tenths(s.Y)
		r.X, r.Y = append(r.X, x-last[0]), append(r.Y, y-last[1])
		last = [2]int{x, y}
		r.Numbers = append(r.Numbers, s.Number)
		r.GUIDs = append(r.GUIDs, s.GUID)
		if s.Kind == Accessible {
			r.Accessible = append(r.Accessible, i)
		}
	}
	if derived(r) {
		r.GUIDs = nil
	} else {
		r.Prefix = ""
	}
	return r
}

// derived says whether every guid is the row's prefix and the seat's number.
func derived(r mapRow) bool {
	for i, guid := range r.GUIDs {
		if guid != r.Prefix+r.Numbers[i] {
			return false
		}
	}
	return true
}

func (h Hall) tiers(pos, end int) any {
	of := h.TierOf[pos:end]
	if !slices.ContainsFunc(of, func(t int) bool { return t != of[0] }) {
		return of[0]
	}
	return of
}

func (a Area) drawn() mapArea {
	m := mapArea{
		Shape: a.Shape, At: [2]int{tenths(a.X), tenths(a.Y)},
		Turn: a.Rotation, Color: a.Color, Border: a.Border,
	}
	if a.W != 0 || a.H != 0 {
		m.Size = &[2]int{tenths(a.W), tenths(a.H)}
	}
	for _, p := range a.Points {
		m.Points = append(m.Points, tenths(p.X), tenths(p.Y))
	}
	if t := a.Text; t.Text != "" {
		m.Text = &areaWord{t.Text, [2]int{tenths(t.X), tenths(t.Y)}, tenths(t.Size), t.Color}
	}
	return m
}

// box is what has to be in view: the plan's own size, and every seat however
// far outside of it one stands.
func (p Plan) box() [4]int {
	left, top, right, bottom := 0, 0, tenths(p.Width), tenths(p.Height)
	const margin = 20 * scale // a seat is about 20 units wide
	empty := right == 0 || bottom == 0
	for _, s := range p.Seats {
		if s.Kind == General {
			continue
		}
		x, y := tenths(s.X), tenths(s.Y)
		if empty {
			left, top, right, bottom, empty = x-margin, y-margin, x+margin, y+margin, false
		}
		left, right = min(left, x-margin), max(right, x+margin)
		top, bottom = min(top, y-margin), max(bottom, y+margin)
	}
	return [4]int{left, top, right - left, bottom - top}
}
