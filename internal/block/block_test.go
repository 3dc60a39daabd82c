package block

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// line is a straight row of seats: a letter or digit is a seat, a space a step
// without one. & is a place for a wheelchair.
func line(section, row, drawn string, x, y float64) (seats []Seat) {
	for i, c := range drawn {
		if c != ' ' {
			seats = append(seats, Seat{
				Section: section, Row: row, Number: fmt.Sprint(i + 1),
				X: x + 26*float64(i), Y: y, Accessible: c == '&',
			})
		}
	}
	return seats
}

// ring is a row that runs all the way round, drawn as a line is.
func ring(section, row, drawn string, x, y float64) []Seat {
	seats := line(section, row, drawn, 0, 0)
	step := 2 * math.Pi / float64(len(drawn))
	radius := 13 / math.Sin(step/2)
	for i, s := range seats {
		seats[i].X, seats[i].Y = x+radius*math.Cos(step*s.X/26), y+radius*math.Sin(step*s.X/26)
	}
	return seats
}

func all(h *Hall) *Free {
	free := h.NoneFree()
	for i := range h.seats {
		free.Let(i)
	}
	return free
}

func numbers(h *Hall, seats []int) string {
	var names []string
	for _, s := range seats {
		names = append(names, h.seats[s].Row+h.seats[s].Number)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Rows are what stands side by side: aisles divide them, in x or turned by any
// angle; two rows of one label stay two; numbers say nothing where places do.
func TestRunsAreWhatStandsSideBySide(t *testing.T) {
	lengths := func(seats []Seat) (n []int) {
		for _, run := range NewHall(seats, Point{}).runs {
			n = append(n, len(run.seats))
		}
		slices.Sort(n)
		return n
	}
	turned := line("S", "A", "xxxx   xxxxx", 0, 0)
	for i, s := range turned {
		turned[i].X, turned[i].Y = 0.6*s.X-0.8*s.Y, 0.8*s.X+0.6*s.Y
	}
	upright := line("S", "A", "xxxx  xxxxx", 0, 0)
	for i, s := range upright {
		upright[i].X, upright[i].Y = s.Y, s.X
	}
	odd := line("S", "A", "xxxx", 0, 0)
	for i := range odd {
		odd[i].X, odd[i].Y, odd[i].Number = 0, 0, fmt.Sprint(2*i+1)
	}
	odd[3].Number = "11"
	var columns, oddEven, unnamed []Seat
	for i := range 6 {
		for r := range 2 {
			columns = append(columns, Seat{Section: "S", Row: "A", Number: fmt.Sprint(r*6 + i + 1), X: 26 * float64(i), Y: 26 * float64(r)})
			oddEven = append(oddEven, Seat{Section: "S", Row: "A", Number: fmt.Sprint(2*i + 1 + r), X: 26 * float64(i), Y: 22 * float64(r)})
		}
		for r := range 10 {
			unnamed = append(unnamed, Seat{Section: "S", Number: fmt.Sprint(r*6 + i + 1), X: 26 * float64(i), Y: 22 * float64(r)})
		}
	}
	for name, c := range map[string]struct {
		seats []Seat
		want  []int
	}{
		"a row all the way round":        {ring("S", "A", "xxxxxxxxxxxx", 0, 0), []int{12}},
		"a ring with two aisles":         {ring("S", "A", "xxx  xxxxx  ", 0, 0), []int{3, 5}},
		"a table of four":                {ring("S", "A", "xxxx", 0, 0), []int{4}},
		"a table of three":               {ring("S", "A", "xxx", 0, 0), []int{3}},
		"one label, two rows of two":     {append(line("S", "A", "xx", 0, 0), line("S", "A", "xx", 0, 34)...), []int{2, 2}},
		"one row":                        {line("S", "A", "xxxxx", 0, 0), []int{5}},
		"an aisle":                       {line("S", "A", "xxx  xxxx", 0, 0), []int{3, 4}},
		"an aisle, turned":               {turned, []int{4, 5}},
		"a row that runs upward":         {upright, []int{4, 5}},
		"two sections":                   {append(line("S", "A", "xxx", 0, 0), line("T", "A", "xx", 78, 0)...), []int{2, 3}},
		"one label, two rows":            {append(line("S", "A", "xxxx", 0, 0), line("S", "A", "xxxx", 0, 34)...), []int{4, 4}},
		"one label, rows closer":         {append(line("S", "A", "xxxxxx", 0, 0), line("S", "A", "xxxxxx", 0, 22)...), []int{6, 6}},
		"one label, columns in the file": {columns, []int{6, 6}},
		"one label, odd before even":     {oddEven, []int{6, 6}},
		"no label, ten rows":             {unnamed, []int{6, 6, 6, 6, 6, 6, 6, 6, 6, 6}},
		"a seat alone":                   {line("S", "A", "x", 0, 0), []int{1}},
		"no places, odd numbers, a gap":  {odd, []int{1, 3}},
	} {
		if got := lengths(c.seats); !slices.Equal(got, c.want) {
			t.Errorf("%s: runs of %v, want %v", name, got, c.want)
		}
	}
}

// A row whose seats each stand alone at an aisle has nobody side by side: its step
// is that of its section, or of the hall where the section is that row.
func TestSeatsEitherSideOfAnAisleAreNoPair(t *testing.T) {
	for _, drawn := range []string{"x x", "x  x", "x        x", "x   x   x"} {
		for _, section := range []string{"S", "T"} {
			var seats []Seat
			for r := range 5 {
				seats = append(seats, line("S", string(rune('A'+r)), "xxxx    xxxx", 0, 34*float64(r))...)
			}
			first := len(seats)
			seats = append(seats, line(section, "Z", drawn, 0, 34*6)...)
			h := NewHall(seats, Point{140, -100})
			free := h.NoneFree()
			for i := first; i < len(seats); i++ {
				free.Let(i)
			}
			if got, ok := h.Best(free, Wish{Count: 2}); ok || h.Sections(free)[section] != 1 {
				t.Errorf("%q in section %s: %s are a pair, and %d stand side by side, where seats stand 26 apart", drawn, section, numbers(h, got), h.Sections(free)[section])
			}
		}
	}
}

// In a row that runs all the way round each two neighbours are a pair, wherever the
// plan's file begins, and nobody sits alone who need not.
func TestARingHasNoEnd(t *testing.T) {
	for _, n := range []int{3, 4, 5, 6, 8, 12, 100} {
		h := NewHall(ring("S", "A", strings.Repeat("x", n), 0, 0), Point{})
		for i := range n {
			free := h.NoneFree()
			free.Let(i)
			free.Let((i + 1) % n)
			got, ok := h.Best(free, Wish{Count: 2})
			if !ok || !h.Together(got) || h.Sections(free)["S"] != 2 {
				t.Errorf("of a ring of %d, %d and %d are free: given %v, together %t, %d side by side", n, i+1, (i+1)%n+1, got, h.Together(got), h.Sections(free)["S"])
			}
		}
		for count := 1; count <= n; count++ {
			if _, ok := h.Best(all(h), Wish{Count: count, Strict: true}); ok == (count == n-1) {
				t.Errorf("strict, a whole ring of %d: %d are given: %t", n, count, ok)
			}
		}
		if n > 3 && h.Together([]int{0, 2}) {
			t.Errorf("of a ring of %d the first and the third are together", n)
		}
	}
}

// Seats that are wider than others of the hall are still side by side.
func TestWideSeatsStandSideBySide(t *testing.T) {
	wide := line("Box", "A", "xxxx", 0, 300)
	for i := range wide {
		wide[i].X *= 1.6
	}
	h := NewHall(append(line("S", "A", "xxxxxxxx", 0, 0), wide...), Point{})
	if got := h.Sections(all(h))["Box"]; got != 4 {
		t.Errorf("%d of 4 seats of a box stand side by side", got)
	}
}

// The best block is the one that the rules name, and none is made up.
func TestBestBlock(t *testing.T) {
	front := Point{26 * 4.5, -100}
	for _, c := range []struct {
		name, taken string
		seats       []Seat
		wish        Wish
		want        string
	}{
		{"the middle of the front row", "", append(line("S", "A", "xxxxxxxxxx", 0, 0), line("S", "B", "xxxxxxxxxx", 0, 34)...), Wish{Count: 2}, "A5 A6"},
		{"the row behind, where the front has no two", "A5 A6 A2 A9 A4 A7", append(line("S", "A", "xxxxxxxxxx", 0, 0), line("S", "B", "xxxxxxxxxx", 0, 34)...), Wish{Count: 2}, "B5 B6"},
		{"not across an aisle", "", line("S", "A", "xx  xx  xx", 0, 0), Wish{Count: 3}, ""},
		{"no single seat left behind", "", line("S", "A", "xxxxxx", -26, 0), Wish{Count: 2}, "A5 A6"},
		{"a single seat left behind, where nothing avoids it", "", line("S", "A", "xxx", 0, 0), Wish{Count: 2}, "A2 A3"},
		{"strict: rather nothing", "", line("S", "A", "xxx", 0, 0), Wish{Count: 2, Strict: true}, ""},
		{"no wheelchair's place unasked", "", line("S", "A", "x&x&x", 0, 0), Wish{Count: 2}, ""},
		{"a wheelchair's place and who comes along", "", line("S", "A", "xxxx&x", 0, 0), Wish{Count: 2, Accessible: 1}, "A5 A6"},
		{"two wheelchairs side by side", "", line("S", "A", "&x&&xx", 0, 0), Wish{Count: 3, Accessible: 2}, "A1 A2 A3"},
		{"not apart unless allowed", "A3", line("S", "A", "xxxxx", 0, 0), Wish{Count: 4}, ""},
		{"apart, two and two", "A3", line("S", "A", "xxxxx", 0, 0), Wish{Count: 4, Split: true}, "A1 A2 A4 A5"},
		{"nobody alone: three and two", "", append(line("S", "A", "xxx", 0, 0), line("S", "B", "xxx", 0, 34)...), Wish{Count: 5, Split: true}, "A1 A2 A3 B1 B2"},
		{"more than there are", "", line("S", "A", "xxx", 0, 0), Wish{Count: 4, Split: true}, ""},
	} {
		h := NewHall(c.seats, front)
		free := all(h)
		for i, s := range c.seats {
			if slices.Contains(strings.Fields(c.taken), s.Row+s.Number) {
				free.Take(i)
			}
		}
		got, ok := h.Best(free, c.wish)
		if ok != (c.want != "") || numbers(h, got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, numbers(h, got), c.want)
		}
	}
}

// A block is refused only where none of the size is free, whatever is taken;
// what is given is free, wished for, side by side, and the best there is.
func TestABlockIsRefusedOnlyWhereNoneIsFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var seats []Seat
		for r := range rapid.IntRange(1, 4).Draw(t, "rows") {
			drawn, is := rapid.StringMatching(`[x& ]{1,14}`).Draw(t, "row"), line
			if len(drawn) > 2 && rapid.Bool().Draw(t, "round") {
				drawn, is = strings.ReplaceAll(drawn, " ", "x"), ring
			}
			seats = append(seats, is("S", string(rune('A'+r)), drawn, 0, 34*float64(r))...)
		}
		h := NewHall(seats, Ahead(seats))
		free := h.NoneFree()
		for i := range seats {
			if rapid.Bool().Draw(t, "free") {
				free.Let(i)
			}
		}
		w := Wish{Count: rapid.IntRange(1, 5).Draw(t, "count")}
		w.Accessible = rapid.IntRange(0, w.Count).Draw(t, "accessible")
		fitting := blocksOf(h, free, w)
		got, ok := h.Best(free, w)
		if ok != (len(fitting) > 0) {
			t.Fatalf("given %v of %d fitting blocks", got, len(fitting))
		}
		if n := h.Largest(free, w); w.Accessible == 0 && (ok != (n >= w.Count) || n != h.Sections(free)["S"]) {
			t.Fatalf("%d are wished for: given %v, the largest block has %d, of the section %d", w.Count, got, n, h.Sections(free)["S"])
		}
		if !ok {
			return
		}
		mine := slices.Clone(got)
		slices.Sort(mine)
		least, orphans := -1, 0
		for _, b := range fitting {
			n := h.orphans(free, b)
			if least < 0 || n < least {
				least = n
			}
			seats := h.seatsOf(b)
			slices.Sort(seats)
			if slices.Equal(seats, mine) {
				orphans = n + 1
			}
		}
		if orphans != least+1 || !h.Together(got) {
			t.Fatalf("given %v with %d single seats left behind, want a fitting block with %d", got, orphans-1, least)
		}
	})
}

// blocksOf finds the fitting blocks by trying all.
func blocksOf(h *Hall, free *Free, w Wish) (fitting []block) {
	for r, run := range h.runs {
		for from := 0; from < run.reach() && from < len(run.seats) && (run.round || from+w.Count <= len(run.seats)) && w.Count <= len(run.seats); from++ {
			fit, accessible := true, 0
			for i := from; i < from+w.Count; i++ {
				s := run.at(i)
				fit = fit && free.is[s] && (w.Accessible > 0 || !h.seats[s].Accessible)
				accessible += one(h.seats[s].Accessible)
			}
			if fit && accessible == w.Accessible {
				fitting = append(fitting, block{run: r, from: from, to: from + w.Count})
			}
		}
	}
	return fitting
}

// A party that may sit apart is refused only where too few seats are free, and
// places for wheelchairs are given to who asked for them: to all of them, or nobody.
func TestAPartyApartIsRefusedOnlyWhereTooFewAreFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seats := line("S", "A", rapid.StringMatching(`[x& ]{1,20}`).Draw(t, "row"), 0, 0)
		h := NewHall(seats, Ahead(seats))
		free, left, wheels := h.NoneFree(), 0, 0
		for i := range seats {
			if rapid.Bool().Draw(t, "free") {
				free.Let(i)
				left, wheels = left+one(!seats[i].Accessible), wheels+one(seats[i].Accessible)
			}
		}
		n := rapid.IntRange(1, 6).Draw(t, "count")
		of := rapid.IntRange(0, n).Draw(t, "wheelchairs")
		got, ok := h.Best(free, Wish{Count: n, Accessible: of, Split: true})
		given := 0
		for _, s := range got {
			given += one(seats[s].Accessible)
		}
		if ok != (left >= n-of && wheels >= of) || ok && (len(got) != n || given != of) {
			t.Fatalf("%d and %d for wheelchairs are free, %d and %d wished for: given %v", left, wheels, n-of, of, got)
		}
		for i, s := range got {
			if !free.is[s] || slices.Contains(got[:i], s) {
				t.Fatalf("given %v: seat %d is not free, or given twice", got, s)
			}
		}
	})
}

// A party apart sits in as few parts as may be: who comes along with a wheelchair
// whose place stands alone sits together; seven are three, three and one.
func TestAPartyApartSitsInAsFewPartsAsMayBe(t *testing.T) {
	parts := func(h *Hall, seats []int) (n int) {
		for _, run := range h.runs {
			was := false
			for _, s := range run.seats {
				is := slices.Contains(seats, int(s))
				n, was = n+one(is && !was), is
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.StringMatching(`[x ]{0,5}xx[x ]{0,5}`).Draw(t, "row")
		seats := append(line("S", "A", "&", 26*float64(rapid.IntRange(0, 12).Draw(t, "wheelchair at")), 0), line("S", "B", drawn, 0, 34)...)
		h := NewHall(seats, Point{26 * 6, -100})
		if got, ok := h.Best(all(h), Wish{Count: 3, Accessible: 1, Split: true}); !ok || parts(h, got) != 2 {
			t.Errorf("row %q: %s are %d parts, want 2", drawn, numbers(h, got), parts(h, got))
		}
	})
	h := NewHall(line("S", "A", "xxx  xxx  x  x  x  x", 0, 0), Point{})
	if got, ok := h.Best(all(h), Wish{Count: 7, Split: true}); !ok || parts(h, got) != 3 {
		t.Errorf("seven: %s are %d parts, want 3", numbers(h, got), parts(h, got))
	}
	crowd := line("S", "A", "xxxxxxxxxx", 0, 0)
	for r := range 89 {
		crowd = append(crowd, line("S", fmt.Sprint(r), "x", 0, 34*float64(r+1))...)
	}
	many := NewHall(crowd, Point{})
	if got, ok := many.Best(all(many), Wish{Count: 99, Split: true}); !ok || parts(many, got) != 90 {
		t.Errorf("ninety-nine: %d seats in %d parts, want 90", len(got), parts(many, got))
	}
}

// A hall of even rows that is sold by pairs is sold out, and nobody sits alone.
func TestPairsFillAHall(t *testing.T) {
	var seats []Seat
	for r := range 100 {
		seats = append(seats, line("S", fmt.Sprint(r), strings.Repeat("x", 42)+"  "+strings.Repeat("x", 38), 0, 34*float64(r))...)
	}
	h := NewHall(seats, Ahead(seats))
	free, sold := all(h), 0
	for {
		pair, ok := h.Best(free, Wish{Count: 2})
		if !ok {
			break
		}
		for _, s := range pair {
			free.Take(s)
		}
		sold += len(pair)
	}
	if sold != 8000 {
		t.Errorf("%d of 8000 seats sold by pairs", sold)
	}
}

func BenchmarkBestPair(b *testing.B) {
	var seats []Seat
	for r := range 257 {
		seats = append(seats, line("S", fmt.Sprint(r), strings.Repeat("x", 80), 0, 34*float64(r))...)
	}
	h := NewHall(seats, Ahead(seats))
	free := all(h)
	for b.Loop() {
		h.Best(free, Wish{Count: 2})
	}
}
