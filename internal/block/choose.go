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
	Most       map[int]int     // seats in all of a tier, where fewer may be had than are wished for
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
	for r := range h.runs {
		if int(free.in[r]) < w.Count {
			continue
		}
		if near == nil && best.orphans == 0 && best.waste == 0 && h.least[r] >= best.cost {
			break // and so all the others
		}
		best = h.along(free, w, near, r, best)
	}
	return best
}

// along is the best block of the size in a run, or the best so far. What goes round
// is looked at from a seat on that will not do; where all will, it has no end.
func (h *Hall) along(free *Free, w Wish, near *Point, r int, best block) block {
	run := h.runs[r]
	begin := 0
	if run.round {
		if begin = 1 + slices.IndexFunc(run.seats, func(s int32) bool { return !h.will(free, w, s) }); begin == 0 {
			return h.within(free, w, near, block{run: r, to: len(run.seats) + w.Count - 1}, best)
		}
	}
	end := begin + len(run.seats)
	for from, to := begin, begin; from < end; from = to + 1 {
		for to = from; to < end && h.will(free, w, run.at(to)); {
			to++
		}
		if to-from >= w.Count {
			best = h.within(free, w, near, block{run: r, from: from, to: to}, best)
		}
	}
	return best
}

// within is the best block of the size in a stretch of seats that will do, or
// the best so far.
func (h *Hall) within(free *Free, w Wish, near *Point, stretch, best block) block {
	run := h.runs[stretch.run]
	spare := stretch.to - stretch.from - w.Count
	whole := run.round && stretch.to-stretch.from >= len(run.seats)
	cost, accessible := 0.0, 0
	for i := stretch.from; i < stretch.to; i++ {
		cost, accessible = cost+h.price(run.at(i), near), accessible+one(h.seats[run.at(i)].Accessible)
		left := i + 1 - w.Count - stretch.from
		if left > 0 {
			out := run.at(i - w.Count)
			cost, accessible = cost-h.price(out, near), accessible-one(h.seats[out].Accessible)
		}
		if left < 0 || accessible != w.Accessible {
			continue
		}
		b := block{run: stretch.run, from: i + 1 - w.Count, to: i + 1, cost: cost / float64(w.Count)}
		if !whole { // what is left of a ring is one stretch, wherever the block is
			b.waste = left%w.Count + (spare-left)%w.Count - spare%w.Count
		}
		if !b.better(best) || !h.may(w, b) {
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

// may says that a block has no more of any tier than may be had.
func (h *Hall) may(w Wish, b block) bool {
	for tier, most := range w.Most {
		for i := b.from; i < b.to; i++ {
			if h.seats[h.runs[b.run].at(i)].Tier == tier {
				most--
			}
		}
		if most < 0 {
			return false
		}
	}
	return true
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
func (h *Hall) orphans(free *Free, b block) int {
	run := h.runs[b.run]
	n := len(run.seats)
	sold := func(i int) bool {
		if run.round {
			i = (i + 2*n) % n
			if (i-b.from+2*n)%n < b.to-b.from {
				return true
			}
		}
		return i < 0 || i >= n || !free.is[run.seats[i]] || h.seats[run.seats[i]].Accessible
	}
	before, after := !sold(b.from-1) && sold(b.from-2), !sold(b.to) && sold(b.to+1)
	if run.round && b.to-b.from == n-1 {
		return one(before) // the one seat that is left is at both ends
	}
	return one(before) + one(after)
}

func (h *Hall) seatsOf(b block) []int {
	seats := make([]int, 0, b.to-b.from)
	for i := b.from; i < b.to; i++ {
		seats = append(seats, int(h.runs[b.run].at(i)))
	}
	return seats
}

// Together says that seats stand side by side, in any order.
func (h *Hall) Together(seats []int) bool {
	if len(seats) == 0 {
		return false
	}
	run := h.runs[h.run[seats[0]]]
	in, ends := 0, 0
	for i, s := range run.seats {
		if !slices.Contains(seats, int(s)) {
			continue
		}
		in++
		if last := i == len(run.seats)-1; last && !run.round || !slices.Contains(seats, int(run.at(i+1))) {
			ends++
		}
	}
	return in == len(seats) && ends <= 1
}

// Largest is how many seats the largest free block has of those that will do, with
// as many places for wheelchairs as are wished for.
func (h *Hall) Largest(free *Free, w Wish) (most int) {
	for r, run := range h.runs {
		if int(free.in[r]) <= most {
			continue
		}
		from, wheels := 0, 0
		for to := range run.reach() {
			s := run.at(to)
			if !h.will(free, w, s) {
				from, wheels = to+1, 0
				continue
			}
			for wheels += one(h.seats[s].Accessible); wheels > w.Accessible || to-from == len(run.seats) || !h.may(w, block{run: r, from: from, to: to + 1}); from++ {
				wheels -= one(h.seats[run.at(from)].Accessible)
			}
			if wheels == w.Accessible {
				most = max(most, to+1-from)
			}
		}
	}
	return most
}
