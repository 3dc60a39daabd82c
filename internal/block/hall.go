// Package block finds the best seats side by side that are free: the block that
// a buyer is given who says how many and not which. It is pure: a hall as it
// stands, which of its seats are free, what is wished for; seats out.
//
// Side by side are seats of one row with no aisle between them. Which those are
// is read from where the seats stand, not from what they are called: numbers
// leave gaps where there is none, and go on across an aisle.
package block

import (
	"cmp"
	"math"
	"slices"
)

// Seat is one numbered seat, as far as its place matters.
type Seat struct {
	Section, Row, Number string
	X, Y                 float64
	Tier                 int // of the hall's tiers, whichever their order
	Accessible           bool
}

// Point is somewhere in the hall.
type Point struct{ X, Y float64 }

// Hall is a hall's seats with their neighbours. It does not change.
type Hall struct {
	seats []Seat
	runs  []run     // that of the best seat first; every seat is in one
	run   []int32   // of each seat: its run
	cost  []float64 // of each seat: the less, the better it is
	least []float64 // of each run: the least cost of a seat
}

// offRow is what a step away from the row's middle costs, as a share of a step
// away from the focus: of two seats as far from the stage the more central wins.
const offRow = 0.5

// NewHall reads the rows out of the seats. The focus is what is looked at.
func NewHall(seats []Seat, focus Point) *Hall {
	h := &Hall{seats: seats, run: make([]int32, len(seats)), cost: make([]float64, len(seats))}
	rows := rows(seats)
	steps := steps(seats, rows)
	for r, row := range rows {
		middle := middleOf(seats, row)
		for _, i := range row {
			at := Point{seats[i].X, seats[i].Y}
			h.cost[i] = apart(at, focus) + offRow*apart(at, middle)
		}
		h.runs = append(h.runs, runs(seats, row, steps[r])...)
	}
	slices.SortStableFunc(h.runs, func(a, b run) int { return cmp.Compare(h.leastOf(a), h.leastOf(b)) })
	for r, run := range h.runs {
		h.least = append(h.least, h.leastOf(run))
		for _, i := range run.seats {
			h.run[i] = int32(r)
		}
	}
	return h
}

func (h *Hall) leastOf(run run) float64 {
	best := slices.MinFunc(run.seats, func(a, b int32) int { return cmp.Compare(h.cost[a], h.cost[b]) })
	return h.cost[best]
}

// Len is how many seats the hall has.
func (h *Hall) Len() int { return len(h.seats) }

// Ahead is a focus for a hall whose plan names none: above its middle, by a
// tenth of its depth. Plans are drawn with the stage at the top.
func Ahead(seats []Seat) Point {
	if len(seats) == 0 {
		return Point{}
	}
	x := func(a, b Seat) int { return cmp.Compare(a.X, b.X) }
	y := func(a, b Seat) int { return cmp.Compare(a.Y, b.Y) }
	top, bottom := slices.MinFunc(seats, y).Y, slices.MaxFunc(seats, y).Y
	return Point{(slices.MinFunc(seats, x).X + slices.MaxFunc(seats, x).X) / 2, top - (bottom-top)/10}
}

func apart(a, b Point) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

// middleOf is the middle of a whole row, its aisles included.
func middleOf(seats []Seat, row []int32) (m Point) {
	for _, i := range row {
		m.X, m.Y = m.X+seats[i].X, m.Y+seats[i].Y
	}
	n := float64(len(row))
	return Point{m.X / n, m.Y / n}
}
