package block

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

const (
	// aisle is a gap that is wider than the usual step from seat to seat, by this
	// factor. Halls leave two steps and more; seats of one row differ by a fifth.
	aisle = 1.5
	// sparse is how much wider than the usual step of its section a row's own may
	// be. A row that is wider has no two seats side by side: each stands alone at
	// an aisle, and the aisle would be its step.
	sparse = 1.75
	// bend is the cosine of the sharpest angle at which a row still goes on: 100°.
	// Two rows of one label lie behind each other, at 90° to where they run.
	bend = -0.17
)

// rows are the seats that bear one label in one section.
func rows(seats []Seat) (all [][]int32) {
	type label struct{ section, row string }
	at := map[label]int{}
	for i, s := range seats {
		l := label{s.Section, s.Row}
		r, known := at[l]
		if !known {
			r = len(all)
			at[l] = r
			all = append(all, nil)
		}
		all[r] = append(all[r], int32(i))
	}
	return all
}

// pair is two seats that may be neighbours.
type pair struct {
	a, b  int32 // indexes into the row
	apart float64
}

// runs divides a row where its seats are not side by side, by the step from seat
// to seat. No step: all the seats stand in one place, and nothing is known of
// where they are.
func runs(seats []Seat, row []int32, step float64) []run {
	if len(row) == 1 {
		return []run{{seats: row}}
	}
	if step == 0 {
		return byNumber(seats, row)
	}
	if table := tableOf(seats, row, step); table != nil {
		return []run{{table, true}}
	}
	return chains(row, ways(seats, row, near(seats, row, step)))
}

// near are the pairs of seats that are no further apart than an aisle is wide,
// the nearest first.
func near(seats []Seat, row []int32, step float64) []pair {
	order := leftToRight(seats, row)
	at := make(map[int32]int32, len(row))
	for i, s := range row {
		at[s] = int32(i)
	}
	var pairs []pair
	for i, a := range order {
		for _, b := range order[i+1:] {
			if seats[b].X-seats[a].X > aisle*step {
				break
			}
			if d := apart(Point{seats[a].X, seats[a].Y}, Point{seats[b].X, seats[b].Y}); d <= aisle*step {
				pairs = append(pairs, pair{min(at[a], at[b]), max(at[a], at[b]), d})
			}
		}
	}
	slices.SortFunc(pairs, func(p, q pair) int {
		return cmp.Or(cmp.Compare(p.apart, q.apart), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	})
	return pairs
}

// ways links the nearest first. Where two rows of one label stand as close as
// seats do, the nearest may be who sits behind; numbers go on along a row, and
// are asked which way that is: the way in which more neighbours follow each other.
func ways(seats []Seat, row []int32, pairs []pair) [][]int32 {
	numbers := numbersOf(seats, row)
	var best [][]int32
	most := -1
	for _, by := range []int{0, 1, 2} { // by two: a row of odd or of even numbers
		if by > 0 {
			pairs = slices.Clone(pairs)
			slices.SortStableFunc(pairs, func(p, q pair) int {
				return cmp.Or(one(follow(numbers, q, by))-one(follow(numbers, p, by)), cmp.Compare(p.apart, q.apart))
			})
		}
		links := link(seats, row, pairs)
		n, of := 0, 0
		for a := range links {
			for _, b := range links[a] {
				p := pair{a: int32(a), b: b}
				n, of = n+one(follow(numbers, p, 1) || follow(numbers, p, 2)), of+1
			}
		}
		if n > most {
			best, most = links, n
		}
		if of == 2*len(pairs) {
			break // there is no other way
		}
	}
	return best
}

// numbersOf are the seats' numbers, far from each other where they are none.
func numbersOf(seats []Seat, row []int32) []int {
	numbers := make([]int, len(row))
	for i, s := range row {
		n, err := strconv.Atoi(seats[s].Number)
		if err != nil {
			n = math.MinInt32 + 3*i
		}
		numbers[i] = n
	}
	return numbers
}

func follow(numbers []int, p pair, by int) bool {
	d := numbers[p.a] - numbers[p.b]
	return d == by || d == -by
}

// link says of each seat which are its neighbours: two at most, the nearest,
// on opposite sides. Where the two ends of a row are neighbours as well, it runs
// all the way round.
func link(seats []Seat, row []int32, pairs []pair) [][]int32 {
	links, chain := make([][]int32, len(row)), make([]int32, len(row))
	for i := range chain {
		chain[i] = int32(i)
	}
	find := func(i int32) int32 {
		for chain[i] != i {
			chain[i] = chain[chain[i]]
			i = chain[i]
		}
		return i
	}
	goesOn := func(from, to int32) bool {
		if len(links[from]) == 0 {
			return true
		}
		return len(links[from]) == 1 && opposite(seats, row[links[from][0]], row[from], row[to])
	}
	for _, closed := range []bool{false, true} {
		for _, p := range pairs {
			a, b := find(p.a), find(p.b)
			if (a == b) == closed && !slices.Contains(links[p.a], p.b) && goesOn(p.a, p.b) && goesOn(p.b, p.a) {
				chain[a] = b
				links[p.a], links[p.b] = append(links[p.a], p.b), append(links[p.b], p.a)
			}
		}
	}
	return links
}

// opposite says that a and b lie on two sides of mid.
func opposite(seats []Seat, a, mid, b int32) bool {
	ax, ay := seats[a].X-seats[mid].X, seats[a].Y-seats[mid].Y
	bx, by := seats[b].X-seats[mid].X, seats[b].Y-seats[mid].Y
	return ax*bx+ay*by <= bend*math.Hypot(ax, ay)*math.Hypot(bx, by)
}

// chains walks the links from end to end, then those that have no end.
func chains(row []int32, links [][]int32) (all []run) {
	seen := make([]bool, len(row))
	for _, round := range []bool{false, true} {
		for i := range row {
			if seen[i] || len(links[i]) == 2 && !round {
				continue // a chain begins at an end
			}
			one := run{round: round}
			for next := int32(i); next >= 0; {
				at := next
				seen[at], next = true, -1
				one.seats = append(one.seats, row[at])
				for _, n := range links[at] {
					if !seen[n] {
						next = n
					}
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// byNumber divides a row of which only the numbers are known: seats are side by
// side whose numbers follow each other, by one or, in a row of odd or of even
// numbers, by two. What is no number is nobody's neighbour.
func byNumber(seats []Seat, row []int32) (all []run) {
	type numbered struct {
		seat int32
		n    int
	}
	var known []numbered
	odd, even := false, false
	for _, i := range row {
		n, err := strconv.Atoi(seats[i].Number)
		if err != nil {
			all = append(all, run{seats: []int32{i}})
			continue
		}
		known = append(known, numbered{i, n})
		odd, even = odd || n%2 != 0, even || n%2 == 0
	}
	step := 1
	if odd != even {
		step = 2
	}
	slices.SortStableFunc(known, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	for i, k := range known {
		if i == 0 || k.n-known[i-1].n != step {
			all = append(all, run{})
		}
		last := &all[len(all)-1]
		last.seats = append(last.seats, k.seat)
	}
	return all
}
