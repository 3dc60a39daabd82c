package block

import (
	"math"
	"slices"
)

// Wish is what a buyer asks for who leaves the choice to us.
type Wish struct {
	Count      int             // seats in all
	Accessible int             // of these, places for wheelchairs; the others are for who comes along
	Among      func(Seat) bool // which seats will do; nil: all
	Strict     bool            // rather nothing than leave a single seat behind
	Split      bool            // rather apart than not at all
}

// Best is the best free block for a wish, in the order in which the seats stand
// side by side. False: there is none. A single free seat that nobody wants
// beside nobody is left behind only where no other block of the size avoids it.
func (h *Hall) Best(free *Free, w Wish) (seats []int, ok bool) {
	best := h.best(free, w, nil)
	if best.run < 0 && w.Split {
		return h.apart(free, w)
	}
	if best.run < 0 {
		return nil, false
	}
	return h.seatsOf(best), true
}

// block is a part of a run.
type block struct {
	run, from, to int
	orphans       int     // single free seats that it leaves behind
	waste         int     // seats more than need be that no party of the size will fit into
	cost          float64 // of a seat, on the average
}

// better weighs what a block leaves behind before where it is: there is always
// one as good, less than the party's size away, that wastes nothing.
func (b block) better(than block) bool {
	switch {
	case b.orphans != than.orphans:
		return b.orphans < than.orphans
	case b.waste != than.waste:
		return b.waste < than.waste
	}
	return b.cost < than.cost
}

// best looks at every block of the size that could be better than the best so
// far. near, if it is given, is where the others of the party sit.
func (h *Hall) best(free *Free, w Wish, near *Point) block {
	best := block{run: -1, orphans: math.MaxInt}
	for r, run := range h.runs {
		if int(free.in[r]) < w.Count {
			continue
		}
		if near == nil && best.orphans == 0 && best.waste == 0 && h.least[r] >= best.cost {
			break // and so all the others
		}
		for from, to := 0, 0; from < len(run); from = to + 1 {
			for to = from; to < len(run) && h.will(free, w, run[to]); {
				to++
			}
			if to-from >= w.Count {
				best = h.within(free, w, near, block{run: r, from: from, to: to}, best)
			}
		}
	}
	return best
}

// within is the best block of the size in a stretch of seats that will do, or
// the best so far.
func (h *Hall) within(free *Free, w Wish, near *Point, stretch, best block) block {
	run := h.runs[stretch.run]
	spare := stretch.to - stretch.from - w.Count
	cost, accessible := 0.0, 0
	for i := stretch.from; i < stretch.to; i++ {
		cost, accessible = cost+h.price(run[i], near), accessible+one(h.seats[run[i]].Accessible)
		left := i + 1 - w.Count - stretch.from
		if left > 0 {
			out := run[i-w.Count]
			cost, accessible = cost-h.price(out, near), accessible-one(h.seats[out].Accessible)
		}
		if left < 0 || accessible != w.Accessible {
			continue
		}
		b := block{run: stretch.run, from: i + 1 - w.Count, to: i + 1, cost: cost / float64(w.Count)}
		b.waste = left%w.Count + (spare-left)%w.Count - spare%w.Count
		if !b.better(best) {
			continue
		}
		b.orphans = h.orphans(free, b)
		if (b.orphans == 0 || !w.Strict) && b.better(best) {
			best = b
		}
	}
	return best
}

// will says that a seat may be part of the block. A place for a wheelchair is
// never given to who did not ask for one.
func (h *Hall) will(free *Free, w Wish, s int32) bool {
	return free.is[s] && (w.Accessible > 0 || !h.seats[s].Accessible) && (w.Among == nil || w.Among(h.seats[s]))
}

func (h *Hall) price(s int32, near *Point) float64 {
	if near == nil {
		return h.cost[s]
	}
	return apart(Point{h.seats[s].X, h.seats[s].Y}, *near)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// orphans counts the single free seats that a block leaves behind at its ends.
func (h *Hall) orphans(free *Free, b block) (n int) {
	run := h.runs[b.run]
	sold := func(i int) bool {
		return i < 0 || i >= len(run) || !free.is[run[i]] || h.seats[run[i]].Accessible
	}
	return one(!sold(b.from-1) && sold(b.from-2)) + one(!sold(b.to) && sold(b.to+1))
}

func (h *Hall) seatsOf(b block) []int {
	seats := make([]int, 0, b.to-b.from)
	for _, s := range h.runs[b.run][b.from:b.to] {
		seats = append(seats, int(s))
	}
	return seats
}

// Together says that seats stand side by side, in any order.
func (h *Hall) Together(seats []int) bool {
	if len(seats) == 0 {
		return false
	}
	run := h.runs[h.run[seats[0]]]
	first, last := len(run), -1
	for i, s := range run {
		if slices.Contains(seats, int(s)) {
			first, last = min(first, i), max(last, i)
		}
	}
	for _, s := range seats {
		if h.run[s] != h.run[seats[0]] {
			return false
		}
	}
	return last-first+1 == len(seats)
}

// Largest is how many seats the largest free block has of those that will do, with
// as many places for wheelchairs as are wished for.
func (h *Hall) Largest(free *Free, w Wish) (most int) {
	for r, run := range h.runs {
		if int(free.in[r]) <= most {
			continue
		}
		from, wheels := 0, 0
		for to, s := range run {
			if !h.will(free, w, s) {
				from, wheels = to+1, 0
				continue
			}
			for wheels += one(h.seats[s].Accessible); wheels > w.Accessible; from++ {
				wheels -= one(h.seats[run[from]].Accessible)
			}
			if wheels == w.Accessible {
				most = max(most, to+1-from)
			}
		}
	}
	return most
}
