package block

import (
	"cmp"
	"math"
	"slices"
)

// steps are how far apart neighbours stand in each row. A row whose own step is
// out of proportion has the usual one of its section; where the row is all the
// section has, the hall's.
func steps(seats []Seat, rows [][]int32) []float64 {
	var hall []float64
	section, has := map[string][]float64{}, map[string]int{}
	own := make([]float64, len(rows))
	for r, row := range rows {
		if len(row) == 1 {
			continue
		}
		nearest, name := nearest(seats, row), seats[row[0]].Section
		if own[r] = median(nearest); own[r] > 0 {
			section[name] = append(section[name], nearest...)
			hall = append(hall, nearest...)
			has[name]++
		}
	}
	usual := map[string]float64{}
	for name, of := range section {
		usual[name] = median(of)
		if has[name] == 1 {
			usual[name] = median(hall)
		}
	}
	for r, row := range rows {
		if at := usual[seats[row[0]].Section]; at > 0 && own[r] > sparse*at {
			own[r] = at
		}
	}
	return own
}

// nearest is of each seat of a row how far away the nearest other is.
func nearest(seats []Seat, row []int32) []float64 {
	order := leftToRight(seats, row)
	all := make([]float64, 0, len(order))
	for i, a := range order {
		least := math.Inf(1)
		for _, way := range []int{-1, 1} {
			for j := i + way; j >= 0 && j < len(order); j += way {
				b := order[j]
				if math.Abs(seats[b].X-seats[a].X) >= least {
					break
				}
				least = min(least, apart(Point{seats[a].X, seats[a].Y}, Point{seats[b].X, seats[b].Y}))
			}
		}
		all = append(all, least)
	}
	return all
}

func leftToRight(seats []Seat, row []int32) []int32 {
	order := slices.Clone(row)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(seats[a].X, seats[b].X) })
	return order
}

// median sorts what it is given; of an even number it is the lesser of the two.
func median(of []float64) float64 {
	slices.Sort(of)
	return of[(len(of)-1)/2]
}
