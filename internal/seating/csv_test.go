package seating

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mixed = `guid,section,row,number,x,y,category,kind,count
s-1,"Stalls, left",A,1,0,10.5,A,,
s-2,"Stalls, left",A,2,20,10.5,A,accessible,
,Floor,,,,,B,general,2
s-3,Box,,,-5,0,B,numbered,
`

func TestSpreadsheetsAreRead(t *testing.T) {
	want := []Seat{
		{GUID: "s-1", Kind: Numbered, Section: "Stalls, left", Row: "A", Number: "1", Y: 10.5, Category: "A"},
		{GUID: "s-2", Kind: Accessible, Section: "Stalls, left", Row: "A", Number: "2", X: 20, Y: 10.5, Category: "A"},
		{GUID: "ga-1-1", Kind: General, Section: "Floor", Number: "1", Category: "B"},
		{GUID: "ga-1-2", Kind: General, Section: "Floor", Number: "2", Category: "B"},
		{GUID: "s-3", Kind: Numbered, Section: "Box", X: -5, Category: "B"},
	}
	for name, data := range map[string]string{
		"plain":            mixed,
		"mark and CRLF":    "\xef\xbb\xbf" + strings.ReplaceAll(mixed, "\n", "\r\n"),
		"empty lines":      strings.ReplaceAll(mixed, "\n", "\n\n") + ",,,,,,,,\n",
		"no last line end": strings.TrimSpace(mixed),
		"more columns":     strings.ReplaceAll(strings.ReplaceAll(mixed, "\n", ",note\n"), "guid", "GUID "),
	} {
		t.Run(name, func(t *testing.T) {
			p := parsed(t, "plan.csv", []byte(data))
			if diff := cmp.Diff(want, p.Seats); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]Category{{Name: "A"}, {Name: "B"}}, p.Categories); diff != "" {
				t.Errorf("categories (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGeneralAdmissionNeedsNoMore(t *testing.T) {
	p := parsed(t, "floor.csv", []byte("section,category,count\nFloor,Standing,3\nLawn,Standing,2\n"))
	if len(p.Seats) != 5 || p.Seats[4].GUID != "ga-2-2" || p.Seats[4].Section != "Lawn" {
		t.Errorf("%+v", p.Seats)
	}
}

func TestFlawsOfSpreadsheetsAreNamed(t *testing.T) {
	const header = "guid,section,row,number,x,y,category,kind,count\n"
	for name, c := range map[string]struct{ data, want string }{
		"semicolons":       {strings.ReplaceAll(mixed, ",", ";"), "plan.csv:1: the fields are parted by semicolons"},
		"tabs":             {"guid\tsection\ng\tS\n", "plan.csv:1: the fields are parted by semicolons or tabs"},
		"bare CR":          {strings.ReplaceAll(mixed, "\n", "\r"), "lines end in a bare CR"},
		"Windows-1252":     {header + "g,S\xe4al,A,1,0,0,A,,\n", "plan.csv:2: the file is not UTF-8"},
		"no column":        {"guid,section,row,number,category\n", "plan.csv:1: x: the header lacks this column"},
		"nothing to sell":  {"section,category\n", "plan.csv:1: count: the header lacks this column"},
		"column twice":     {"guid,guid,section,category,x,y\n", "plan.csv:1: guid: the column stands twice"},
		"no guid":          {header + ",S,A,1,0,0,A,,\n", "plan.csv:2: guid: empty; a seat needs a guid"},
		"guid twice":       {header + "g,S,A,1,0,0,A,,\ng,S,A,2,0,0,A,,\n", `plan.csv:3: guid: "g" stands on line 2 too`},
		"short line":       {header + "g,S,A,1,0,0,A\n", "plan.csv:2: 7 fields, the header has 9"},
		"decimal comma":    {header + `g,S,A,1,"0,5",0,A,,` + "\n", `plan.csv:2: x: "0,5": write a decimal point`},
		"no number":        {header + "g,S,A,1,left,0,A,,\n", `plan.csv:2: x: "left" is not a number`},
		"not finite":       {header + "g,S,A,1,0,NaN,A,,\n", `plan.csv:2: y: "NaN" is not a number`},
		"hex":              {header + "g,S,A,1,0,0x10,A,,\n", `plan.csv:2: y: "0x10" is not a number`},
		"no position":      {header + "g,S,A,1,,0,A,,\n", "plan.csv:2: x: empty"},
		"no section":       {header + "g,,A,1,0,0,A,,\n", "plan.csv:2: section: empty"},
		"no category":      {header + "g,S,A,1,0,0,,,\n", "plan.csv:2: category: empty"},
		"odd kind":         {header + "g,S,A,1,0,0,A,vip,\n", `plan.csv:2: kind: "vip" is not numbered`},
		"general by guid":  {header + "g,S,A,1,0,0,A,general,\n", "plan.csv:2: kind: general admission has a count"},
		"seat with count":  {header + "g,S,A,1,0,0,A,,2\n", "plan.csv:2: count: a seat with a guid is one seat"},
		"general in a row": {header + ",S,A,,,,A,,2\n", "plan.csv:2: row: general admission has none"},
		"no count":         {header + ",S,,,,,A,,2.5\n", `plan.csv:2: count: "2.5" is not a whole number`},
		"negative count":   {header + ",S,,,,,A,,-3\n", `plan.csv:2: count: "-3" is not a whole number`},
		"group twice":      {header + ",S,,,,,A,,2\n,S,,,,,A,,2\n", "plan.csv:3: section: general admission"},
		"group's guid":     {header + "ga-1-2,S,A,1,0,0,A,,\n,S,,,,,A,,2\n", `plan.csv:3: guid: "ga-1-2" stands on line 2 too`},
		"broken quotes":    {header + `g,"S,A,1,0,0,A,,` + "\n", "plan.csv:2: column"},
		"long number":      {header + "g,S,A," + strings.Repeat("9", 101) + ",0,0,A,,\n", "plan.csv:2: number: 101 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("plan.csv", []byte(c.data))
			refused(t, err, c.want)
		})
	}
}

// One flaw in each of two lines is two flaws: of the line and of the whole.
func TestFlawsOfLinesAndOfTheWholeAreToldTogether(t *testing.T) {
	_, err := Parse("plan.csv", []byte("guid,section,x,y,category\ng,S,left,0,A\nh,S,0,0,A\nh,S,0,0,A\n"))
	refused(t, err, `x: "left"`)
	refused(t, err, `"h" stands on line 3 too`)
}

func FuzzPlanCSV(f *testing.F) {
	f.Add([]byte(mixed))
	f.Add([]byte("section,category,count\nFloor,Standing,3\n"))
	f.Add([]byte("guid,section,x,y,category\ng,\"S\n2\",1e3,0,A\n"))
	f.Fuzz(func(t *testing.T, data []byte) { wholeOrNothing(t, "plan.csv", data) })
}
