package ordersmodel

import (
	"fmt"
	"math/bits"
	"strings"
)

// Found is what a search came to.
type Found struct {
	States int
	Taken  map[Do]int // steps of each kind
	Wrong  string     // what is not so in some state, and the shortest way there
	// Stuck is a state from which the sale can never settle. Empty: there is none.
	Stuck string
}

// Search looks at every state that can be, the nearest first, and ends at one in
// which something is wrong. most bounds the states; more are an error.
func (r Rules) Search(most int) (Found, error) {
	f := Found{Taken: map[Do]int{}}
	var start State
	seen := map[State]int32{start: 0}
	states, from, by := []State{start}, []int32{0}, []Step{{}}
	var edges [][2]int32
	way := func(i int) string {
		var steps []string
		for ; i > 0; i = int(from[i]) {
			steps = append(steps, by[i].String())
		}
		var b strings.Builder
		for i := len(steps) - 1; i >= 0; i-- {
			fmt.Fprintf(&b, "\n  %s", steps[i])
		}
		return b.String()
	}
	for at := 0; at < len(states); at++ {
		if wrong := states[at].Wrong(); wrong != "" {
			f.States, f.Wrong = len(states), wrong+":"+way(at)
			return f, nil
		}
		r.Next(states[at], func(step Step, to State) {
			f.Taken[step.Do]++
			next, known := seen[to]
			if !known {
				next = int32(len(states))
				seen[to] = next
				states, from, by = append(states, to), append(from, int32(at)), append(by, step)
			}
			edges = append(edges, [2]int32{next, int32(at)})
		})
		if len(states) > most {
			return f, fmt.Errorf("more than %d states", most)
		}
	}
	f.States = len(states)
	if i := unsettled(states, edges); i >= 0 {
		f.Stuck = "it can never settle:" + way(i)
	}
	return f, nil
}

// unsettled is a state from which no settled one can be reached; -1: there is none.
func unsettled(states []State, edges [][2]int32) int {
	first := make([]int32, len(states)+1)
	for _, e := range edges {
		first[e[0]+1]++
	}
	for i := range states {
		first[i+1] += first[i]
	}
	before, next := make([]int32, len(edges)), append([]int32{}, first[:len(states)]...)
	for _, e := range edges {
		before[next[e[0]]] = e[1]
		next[e[0]]++
	}
	reaches := make([]bool, len(states))
	var queue []int32
	for i, s := range states {
		if s.settled() {
			reaches[i], queue = true, append(queue, int32(i))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, b := range before[first[queue[0]]:first[queue[0]+1]] {
			if !reaches[b] {
				reaches[b], queue = true, append(queue, b)
			}
		}
	}
	for i, ok := range reaches {
		if !ok {
			return i
		}
	}
	return -1
}

// settled: nobody's seats wait for money, and all money that was taken is counted,
// and back where it was not wanted (P15, P16).
func (s State) settled() bool {
	for _, o := range s.Order {
		if o.Status == Pending {
			return false
		}
		for _, p := range o.Payments {
			if p.Open || p.Captured && p.Stands == Uncounted || p.Refund != NoOperation && p.Refund != Confirmed {
				return false
			}
		}
	}
	return true
}

// Wrong says what is not as it was promised. Empty: everything is.
func (s State) Wrong() string {
	for i, of := range s.Seat {
		if of != 0 && (!s.Order[of-1].live() || s.Order[of-1].Wants&(1<<i) == 0) {
			return fmt.Sprintf("P1: seat %d is of order %d, which is not live or did not want it", i, of-1)
		}
	}
	for i, o := range s.Order {
		if wrong := s.wrongOrder(i, o); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (s State) wrongOrder(i int, o Order) string {
	var holds, before uint8
	for seat, of := range s.Seat {
		if of == uint8(i+1) {
			holds |= 1 << seat
		}
	}
	for j := range i {
		if s.Order[j].Buyer == o.Buyer && s.Order[j].Status == Pending {
			before++
		}
	}
	on := 0
	for n, p := range o.Payments {
		switch {
		case p.Stands == OnOrder:
			on++
			if o.Status != Paid || int(o.PaidBy) != n+1 {
				return fmt.Sprintf("P5: payment %d stands on order %d, which it does not pay", n, i)
			}
			fallthrough
		case p.Stands == Uncounted:
			if p.Refunded > 0 || p.Refund != NoOperation {
				return fmt.Sprintf("P5: payment %d of order %d goes back, and is not owed", n, i)
			}
		case p.Refund == NoOperation:
			return fmt.Sprintf("P5: payment %d of order %d is owed, and nothing gives it back", n, i)
		}
		if p.Refunded > 1 || p.Refund == Confirmed && p.Refunded == 0 {
			return fmt.Sprintf("P11: payment %d of order %d is %d times back", n, i, p.Refunded)
		}
	}
	switch {
	case o.live() && holds != o.Wants:
		return fmt.Sprintf("P3: order %d is live and holds %0*b of %0*b", i, Seats, holds, Seats, o.Wants)
	case o.Status == Paid && on != 1, o.Status != Paid && on != 0:
		return fmt.Sprintf("P4: order %d has %d payments on it", i, on)
	case (o.Status == Expired || o.Status == Cancelled) && s.Returned[i] != o.Wants:
		return fmt.Sprintf("P6: order %d ended, and %0*b of %0*b came back", i, Seats, s.Returned[i], Seats, o.Wants)
	case o.Status == Pending && before > 0:
		return fmt.Sprintf("P13: buyer %d has two orders at once", o.Buyer)
	case bits.OnesCount8(holds) > Seats:
		return "P1: more seats than there are"
	}
	return ""
}
