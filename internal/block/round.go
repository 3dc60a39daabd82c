package block

import (
	"cmp"
	"math"
	"slices"
)

// run is seats side by side. One that goes round has no end: the last seat is
// beside the first, as at a table or in an arena with the stage in its midst.
type run struct {
	seats []int32
	round bool
}

// at is a seat by its place; of what goes round, after the last the first again.
func (r run) at(i int) int32 {
	if i >= len(r.seats) {
		i -= len(r.seats)
	}
	return r.seats[i]
}

// reach is how many places are looked at so that every stretch is seen whole.
func (r run) reach() int {
	if r.round {
		return 2 * len(r.seats)
	}
	return len(r.seats)
}

// alike is by how much the sides of a table may differ, as a share.
const alike = 0.1

// tableOf is a row of three or four seats as they sit around a table, or nil. They
// stand at sharper angles than any row that goes on, so all of them are looked at:
// as far from the middle, and as far from each other.
func tableOf(seats []Seat, row []int32, step float64) []int32 {
	if len(row) != 3 && len(row) != 4 {
		return nil
	}
	middle, table := middleOf(seats, row), slices.Clone(row)
	angle := func(i int32) float64 { return math.Atan2(seats[i].Y-middle.Y, seats[i].X-middle.X) }
	slices.SortStableFunc(table, func(a, b int32) int { return cmp.Compare(angle(a), angle(b)) })
	var sides, spokes []float64
	for i, s := range table {
		next := table[(i+1)%len(table)]
		at := Point{seats[s].X, seats[s].Y}
		sides = append(sides, apart(at, Point{seats[next].X, seats[next].Y}))
		spokes = append(spokes, apart(at, middle))
	}
	even := func(of []float64) bool { return slices.Max(of) <= (1+alike)*slices.Min(of) }
	if slices.Max(sides) > aisle*step || !even(sides) || !even(spokes) {
		return nil
	}
	return table
}
