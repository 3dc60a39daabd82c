package block

import (
	"maps"
	"testing"
)

// A section's largest block is what a party of that size would be given, and no
// party of one more would: it ends at aisles, sold seats and wheelchair places.
func TestSectionsLargestBlock(t *testing.T) {
	seats := append(line("S", "A", "xxxx  xxxxx", 0, 0), line("S", "B", "xxx&xxxx", 0, 34)...)
	seats = append(seats, line("T", "A", "xx  x", 0, 300)...)
	h := NewHall(seats, Point{})
	free := all(h)
	takes := func(number, row string) {
		for i, s := range seats {
			if s.Section == "S" && s.Row == row && s.Number == number {
				free.Take(i)
			}
		}
	}
	for _, step := range []struct {
		row, taken string
		want       map[string]int
	}{
		{"", "", map[string]int{"S": 5, "T": 2}},
		{"A", "8", map[string]int{"S": 4, "T": 2}}, // row A: 4, 1 and 3; row B: 3 and 4
		{"A", "1", map[string]int{"S": 4, "T": 2}},
		{"B", "8", map[string]int{"S": 3, "T": 2}},
	} {
		takes(step.taken, step.row)
		got := h.Sections(free)
		if !maps.Equal(got, step.want) {
			t.Errorf("after %s%s: %v, want %v", step.row, step.taken, got, step.want)
		}
		for section, most := range got {
			in := func(s Seat) bool { return s.Section == section }
			if _, ok := h.Best(free, Wish{Count: most, Among: in}); !ok {
				t.Errorf("%s: %d are said to be side by side, and nobody gets them", section, most)
			}
			if seats, ok := h.Best(free, Wish{Count: most + 1, Among: in}); ok {
				t.Errorf("%s: %d are said to be side by side, and %v are free", section, most, seats)
			}
		}
	}
	if got := h.Sections(h.NoneFree()); !maps.Equal(got, map[string]int{"S": 0, "T": 0}) {
		t.Errorf("nothing free: %v", got)
	}
}
