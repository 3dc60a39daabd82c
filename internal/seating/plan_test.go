package seating

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"waitroom/examples"

	"github.com/google/go-cmp/cmp"
)

// concertHall is the plan that the examples sell.
func concertHall(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../examples/plans/concert-hall.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// arena has 20,560 seats in 40 blocks.
func arena(t testing.TB) []byte {
	t.Helper()
	data, err := examples.Arena()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parsed(t testing.TB, file string, data []byte) Plan {
	t.Helper()
	p, err := Parse(file, data)
	if err != nil {
		t.Fatalf("%s is refused:\n%v", file, err)
	}
	return p
}

func TestHallsAreReadWhole(t *testing.T) {
	for name, c := range map[string]struct {
		data     []byte
		kinds    map[Kind]int
		category map[string]int
	}{
		"concert hall": {
			concertHall(t),
			map[Kind]int{Numbered: 1752, Accessible: 4},
			map[string]int{"Stalls front": 255, "Stalls": 665, "Circle": 432, "Balcony": 400, "Wheelchair": 4},
		},
		"arena": {arena(t), map[Kind]int{Numbered: 20560}, map[string]int{"Lower": 10280, "Upper": 10280}},
	} {
		t.Run(name, func(t *testing.T) {
			p := parsed(t, "plan.json", c.data)
			kinds, category := map[Kind]int{}, map[string]int{}
			for _, s := range p.Seats {
				kinds[s.Kind]++
				category[s.Category]++
			}
			if diff := cmp.Diff(c.kinds, kinds); diff != "" {
				t.Errorf("seats by kind (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.category, category); diff != "" {
				t.Errorf("seats by category (-want +got):\n%s", diff)
			}
		})
	}
}

// A seat's place is its zone's, its row's and its own together, and the seats
// stand in the file's order.
func TestPositionsAreAbsolute(t *testing.T) {
	p := parsed(t, "plan.json", concertHall(t))
	want := Seat{
		GUID: "ST-B-1", Kind: Numbered, Section: "Stalls", Row: "B", Number: "1",
		X: 1000 + 0 - 450, Y: 200 + 34 + 22, Category: "Stalls front",
	}
	if diff := cmp.Diff(want, p.Seats[30]); diff != "" {
		t.Errorf("seat 30 (-want +got):\n%s", diff)
	}
	stage := Area{
		Shape: "rectangle", X: 700, Y: 60, W: 600, H: 100, Color: "#444444",
		Text: AreaText{Text: "Stage", X: 300, Y: 50},
	}
	if diff := cmp.Diff([]Area{stage}, p.Areas); diff != "" {
		t.Errorf("areas (-want +got):\n%s", diff)
	}
}

// hall is a plan of one seat, for one change at a time.
const hall = `{
 "name": "Hall", "size": {"width": 100, "height": 80},
 "categories": [{"name": "A", "color": "#112233"}],
 "zones": [{"name": "Z", "position": {"x": 10, "y": 20},
  "rows": [{"row_number": "1", "position": {"x": 1, "y": 2},
   "seats": [{"seat_guid": "g1", "seat_number": "7", "position": {"x": 0.5, "y": -0.25}, "category": "A"}]}],
  "areas": []}]
}`

// edit is hall with one text replaced, which must be there.
func edit(t testing.TB, old, with string) []byte {
	t.Helper()
	if !strings.Contains(hall, old) {
		t.Fatalf("the hall has no %s", old)
	}
	return []byte(strings.Replace(hall, old, with, 1))
}

// Editors differ; where a file's meaning is certain it is read.
func TestWhatEditorsWrite(t *testing.T) {
	seat := Seat{GUID: "g1", Kind: Numbered, Section: "Z", Row: "1", Number: "7", X: 11.5, Y: 21.75, Category: "A"}
	with := func(change func(*Seat)) Seat { s := seat; change(&s); return s }
	for name, c := range map[string]struct {
		data []byte
		want Seat
	}{
		"as in the schema":     {[]byte(hall), seat},
		"byte-order mark":      {append([]byte("\xef\xbb\xbf"), hall...), seat},
		"CRLF":                 {[]byte(strings.ReplaceAll(hall, "\n", "\r\n")), seat},
		"keys of other tools":  {edit(t, `"seat_number"`, `"uuid": "u", "radius": 10, "start_direction": null, "status": {"sold": [1, {}]}, "seat_number"`), seat},
		"zones before":         {[]byte(`{"zones": ` + hall[strings.Index(hall, `[{"name": "Z"`):strings.LastIndex(hall, "}")] + `, "categories": [{"name": "A"}]}`), seat},
		"no size":              {edit(t, `"size": {"width": 100, "height": 80},`, ``), seat},
		"a new editor's size":  {edit(t, `{"width": 100, "height": 80}`, `{"width": 0, "height": 0}`), seat},
		"no name":              {edit(t, `"name": "Hall",`, ``), seat},
		"no areas":             {edit(t, `"areas": []`, `"zone_id": "z"`), seat},
		"null areas":           {edit(t, `"areas": []`, `"areas": null`), seat},
		"a row at the origin":  {edit(t, `"position": {"x": 1, "y": 2},`, ``), with(func(s *Seat) { s.X, s.Y = 10.5, 19.75 })},
		"a row without number": {edit(t, `"row_number": "1",`, ``), with(func(s *Seat) { s.Row = "" })},
		"a row with a label":   {edit(t, `"row_number": "1"`, `"row_number": "", "row_label": "Table %s"`), with(func(s *Seat) { s.Row = "Table" })},
		"a seat without one":   {edit(t, `"seat_number": "7"`, `"seat_number": ""`), with(func(s *Seat) { s.Number = "" })},
		"a zone's id":          {edit(t, `"name": "Z"`, `"name": null, "zone_id": "main"`), with(func(s *Seat) { s.Section = "main" })},
		"a nameless zone":      {edit(t, `"name": "Z",`, ``), with(func(s *Seat) { s.Section = "Zone 1" })},
		"wheelchair by flag":   {edit(t, `"seat_number"`, `"wheelchair": true, "seat_number"`), with(func(s *Seat) { s.Kind = Accessible })},
		"wheelchair by name":   {edit(t, `"name": "Z"`, `"name": "Rollstuhlplätze"`), with(func(s *Seat) { s.Kind, s.Section = Accessible, "Rollstuhlplätze" })},
		"wheelchair in CJK":    {edit(t, `"row_number": "1"`, `"row_number": "輪椅席"`), with(func(s *Seat) { s.Kind, s.Row = Accessible, "輪椅席" })},
		"no wheelchair":        {edit(t, `"seat_number"`, `"wheelchair": false, "seat_number"`), seat},
	} {
		t.Run(name, func(t *testing.T) {
			p := parsed(t, "plan.json", c.data)
			if diff := cmp.Diff([]Seat{c.want}, p.Seats); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What is wrong is refused with its file, line and path, and nothing is read.
func TestFlawsOfPlansAreNamed(t *testing.T) {
	seat := "zones[0].rows[0].seats[0]"
	long := strings.Repeat("x", MaxLabel+1)
	for name, c := range map[string]struct {
		old, with string
		want      string
	}{
		"number as a number":   {`"7"`, `7`, `plan.json:6: ` + seat + `.seat_number: the number 7, want text in quotes`},
		"number null":          {`"7"`, `null`, seat + `.seat_number: null, want text in quotes`},
		"no number":            {`"seat_number": "7",`, ``, seat + `.seat_number: missing`},
		"guid as a list":       {`"g1"`, `["g1", {"a": []}]`, seat + `.seat_guid: a list, want text in quotes`},
		"empty guid":           {`"g1"`, `" "`, seat + `.seat_guid: empty`},
		"long guid":            {`"g1"`, `"` + long + `"`, seat + `.seat_guid: 101 characters, at most 100`},
		"guid with a NUL":      {`"g1"`, `"g\u0000"`, seat + `.seat_guid: "g\x00" holds a control character`},
		"unknown category":     {`"category": "A"`, `"category": "B"`, `plan.json:6: ` + seat + `.category: "B" is not among the plan's categories`},
		"no category yet":      {`"category": "A"`, `"category": ""`, seat + `.category: empty`},
		"category missing":     {`, "category": "A"`, ``, seat + `.category: missing`},
		"position as text":     {`0.5`, `"0.5"`, seat + `.position.x: the text "0.5", want a number`},
		"position infinite":    {`0.5`, `1e999`, seat + `.position.x: 1e999 is out of range`},
		"position far off":     {`0.5`, `1000001`, seat + `.position.x: 1000001 is out of range`},
		"positions add up":     {`{"x": 10, "y": 20}`, `{"x": 999999, "y": 20}`, seat + `.position: (1.0000005e+06, 21.75) is out of range`},
		"position null":        {`{"x": 0.5, "y": -0.25}`, `null`, seat + `.position: null, want an object`},
		"half a position":      {`"x": 0.5, `, ``, seat + `.position.x: missing`},
		"zone not placed":      {`"position": {"x": 10, "y": 20},`, ``, `zones[0].position: missing`},
		"seats as an object":   {`[{"seat_guid"`, `{"a": [{"seat_guid"`, `not JSON`},
		"seats null":           {`[{"seat_guid": "g1", "seat_number": "7", "position": {"x": 0.5, "y": -0.25}, "category": "A"}]`, `null`, `zones[0].rows[0].seats: null, want a list`},
		"no rows":              {`"rows": [`, `"row": [`, `zones[0].rows: missing`},
		"no zones":             {`"zones"`, `"blocks"`, `plan.json:8: zones: missing`},
		"no categories":        {`"categories"`, `"tiers"`, `categories: missing`},
		"category twice":       {`{"name": "A", "color": "#112233"}`, `{"name": "A"}, {"name": "A"}`, `categories[1].name: "A" is declared twice`},
		"category without one": {`{"name": "A", "color": "#112233"}`, `{"color": "red"}`, `categories[0].name: missing`},
		"category a text":      {`{"name": "A", "color": "#112233"}`, `"A"`, `categories[0]: the text "A", want an object`},
		"key twice":            {`"seat_number"`, `"seat_guid": "g2", "seat_number"`, seat + `: the key "seat_guid" stands twice`},
		"negative size":        {`"width": 100`, `"width": -1`, `size.width: -1 is negative`},
		"area's measure":       {`"areas": []`, `"areas": [{"shape": "circle", "circle": {"radius": "big"}}]`, `zones[0].areas[0].circle.radius: the text "big", want a number`},
		"a list on top":        {hall, `[]`, `plan.json:1: a list, want an object`},
		"cut off":              {`"areas": []}]` + "\n}", ``, `not JSON: it ends too early`},
		"more behind":          {"\n}", "\n} {}", `there is more after the end`},
		"not UTF-8":            {`"Hall"`, "\"H\xe4ll\"", `plan.json:2: the file is not UTF-8`},
		"UTF-16":               {hall, "\xff\xfe{\x00", `the file is UTF-16`},
		"empty":                {hall, " \n", `the file is empty`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse("plan.json", edit(t, c.old, c.with))
			refused(t, err, c.want)
			if diff := cmp.Diff(Plan{}, p, cmp.AllowUnexported(Plan{})); diff != "" {
				t.Errorf("half a plan came out (-want +got):\n%s", diff)
			}
		})
	}
}

// refused wants flaws, one of which says want.
func refused(t testing.TB, err error, want string) {
	t.Helper()
	var flaws *Flaws
	if !errors.As(err, &flaws) {
		t.Fatalf("%v, want flaws", err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got:\n%v\nwant it to say %q", err, want)
	}
}

func TestEverySeatHasAGuidOfItsOwn(t *testing.T) {
	data := bytes.Replace(concertHall(t), []byte(`"ST-C-4"`), []byte(`"ST-A-1"`), 1)
	_, err := Parse("plan.json", data)
	refused(t, err, `zones[0].rows[2].seats[3].seat_guid: "ST-A-1" is also zones[0].rows[0].seats[0].seat_guid`)
}

// All flaws come at once, so that a file is mended in one go; but a file that
// is wrong throughout does not fill the screen.
func TestFlawsAreToldTogether(t *testing.T) {
	data := bytes.ReplaceAll(concertHall(t), []byte(`"seat_number":"1"`), []byte(`"seat_number":1`))
	_, err := Parse("plan.json", data)
	var flaws *Flaws
	if !errors.As(err, &flaws) || len(flaws.Kept) != 20 || len(flaws.Kept)+flaws.More != 46 {
		t.Fatalf("46 rows have a seat 1; got:\n%v", err)
	}
}

func TestAreasAreDrawnInEveryShape(t *testing.T) {
	p := parsed(t, "plan.json", edit(t, `"areas": []`, `"areas": [
		{"shape": "polygon", "position": {"x": 1, "y": 2}, "rotation": 30.5, "polygon": {"points": [{"x": 0, "y": 0}, {"x": 5, "y": 1}]},
		 "rectangle": {"width": 3, "height": 4}, "circle": null, "color": "rgba(0, 10, 20, 0.5)", "border_color": "red"},
		{"shape": "circle", "circle": {"radius": 9}},
		{"shape": "ellipse", "ellipse": {"radius": {"x": 3, "y": 4}}, "color": "url(http://evil)"},
		{"shape": "text", "text": {"text": "Bar", "position": {"x": 1, "y": 1}, "size": 20, "color": "#000"}},
		{"width": 30, "height": 40, "position": {"x": 5, "y": 6}, "text": "Stage"},
		{"shape": "spiral"}]`))
	want := []Area{
		{Shape: "polygon", X: 11, Y: 22, Rotation: 30.5, Points: []Point{{0, 0}, {5, 1}}, Color: "rgba(0, 10, 20, 0.5)", Border: "red"},
		{Shape: "circle", X: 10, Y: 20, W: 9, H: 9},
		{Shape: "ellipse", X: 10, Y: 20, W: 3, H: 4},
		{Shape: "text", X: 10, Y: 20, Text: AreaText{"Bar", 1, 1, 20, "#000"}},
		{Shape: "rectangle", X: 15, Y: 26, W: 30, H: 40, Text: AreaText{Text: "Stage"}},
	}
	if diff := cmp.Diff(want, p.Areas); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(p.Remarks) != 1 || !strings.Contains(p.Remarks[0], `zones[0].areas[5] is not drawn: shape "spiral"`) {
		t.Errorf("remarks %q, want one on areas[5]", p.Remarks)
	}
}

// Real plans call seats alike across the segments of a row; that is remarked,
// not refused.
func TestSeatsMayBeCalledAlike(t *testing.T) {
	row := `{"row_number": "1", "seats": [{"seat_guid": "g2", "seat_number": "7", "position": {"x": 0, "y": 0}, "category": "A"}]}, `
	p := parsed(t, "plan.json", edit(t, `{"row_number"`, row+`{"row_number"`))
	if len(p.Remarks) != 1 || !strings.Contains(p.Remarks[0], `1 seats are called like another of their section (Z, row "1", seat "7")`) {
		t.Errorf("remarks %q", p.Remarks)
	}
}

func TestTooManySeatsAreRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"categories": [], "zones": [{"position": {"x": 0, "y": 0}, "rows": [{"seats": [{}`)
	b.WriteString(strings.Repeat(`,{}`, MaxSeats))
	b.WriteString(`]}]}]}`)
	_, err := Parse("plan.json", []byte(b.String()))
	var flaws *Flaws
	if !errors.As(err, &flaws) || flaws.More < MaxSeats {
		t.Fatalf("%v", err)
	}
	_, err = Parse("plan.csv", []byte("section,category,count\nFloor,A,150000\nFloor,B,50001\n"))
	refused(t, err, "plan.csv:3: more than 200000 seats")
}

func FuzzPlanJSON(f *testing.F) {
	f.Add([]byte(hall))
	f.Add(edit(f, `"areas": []`, `"areas": [{"shape": "polygon", "polygon": {"points": [{"x": 0, "y": 0}]}, "text": "t"}]`))
	f.Add(edit(f, `"7"`, `[{"a": null}]`))
	f.Fuzz(func(t *testing.T, data []byte) { wholeOrNothing(t, "plan.json", data) })
}

// wholeOrNothing is what holds of any bytes.
func wholeOrNothing(t *testing.T, file string, data []byte) {
	p, err := Parse(file, data)
	if err != nil {
		var flaws *Flaws
		if !errors.As(err, &flaws) || len(flaws.Kept) == 0 || len(flaws.Kept) > flawsKept {
			t.Errorf("refused with %#v", err)
		}
		if p.Seats != nil || p.Categories != nil || p.Areas != nil {
			t.Errorf("half a plan came out: %+v", p)
		}
		return
	}
	declared, guids := map[string]bool{}, map[string]bool{}
	var prices []Price
	for _, c := range p.Categories {
		declared[c.Name] = true
		prices = append(prices, Price{Category: c.Name, AmountMinor: 1})
	}
	for _, s := range p.Seats {
		if guids[s.GUID] || s.GUID == "" || !declared[s.Category] || s.Kind == "" || !within(s.X) || !within(s.Y) {
			t.Errorf("seat %+v", s)
		}
		guids[s.GUID] = true
	}
	if h, err := Sell(p, Offer{Currency: "EUR", Prices: prices}); err == nil {
		drawsWhole(t, h)
	}
}

// The stage is the area that the plan calls so, in any of our languages.
func TestTheStageIsFound(t *testing.T) {
	at := func(text string) *Point {
		return Plan{Areas: []Area{
			{Shape: "rectangle", X: 10, Y: 10, W: 80, H: 20, Text: AreaText{Text: "Backstage bar"}},
			{Shape: "rectangle", X: 100, Y: 20, W: 200, H: 60, Text: AreaText{Text: text}},
		}}.stage()
	}
	for _, text := range []string{"Stage", "BÜHNE", "舞台", "ステージ", "Main stage (west)"} {
		if got := at(text); got == nil || *got != (Point{200, 50}) {
			t.Errorf("%q: %v, want 200, 50", text, got)
		}
	}
	if got := at("Bar"); got != nil {
		t.Errorf("without a stage: %v", got)
	}
}
