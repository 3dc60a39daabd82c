package bench

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
)

// turns has each contender measure once a round, in turns, so that what the
// machine does beside it meets all of them. The medians, in their order.
func turns(rounds int, contenders ...func() (float64, error)) ([]float64, error) {
	seen := make([][]float64, len(contenders))
	for range rounds {
		for _, k := range rand.Perm(len(contenders)) { // nobody always comes after the same one
			v, err := contenders[k]()
			if err != nil {
				return nil, err
			}
			seen[k] = append(seen[k], v)
		}
	}
	medians := make([]float64, len(contenders))
	for i, s := range seen {
		medians[i] = median(s)
	}
	return medians, nil
}

// costs are the nanoseconds of CPU that each call takes: who else uses the
// machine is not counted.
func (e Effort) costs(calls ...func() error) ([]float64, error) {
	contenders := make([]func() (float64, error), len(calls))
	for i, call := range calls {
		contenders[i] = func() (float64, error) { return cost(e.Each, call) }
	}
	return turns(e.Rounds, contenders...)
}

// cost repeats a call until it has used so much. The clock is asked every 64th
// time: asking costs as much as some calls do.
func cost(long time.Duration, call func() error) (float64, error) {
	runtime.GC()
	began, err := cpu()
	for n := 1; err == nil; n++ {
		if err = call(); err == nil && n%64 == 0 {
			var now time.Duration
			if now, err = cpu(); now-began >= long {
				return float64((now - began).Nanoseconds()) / float64(n), err
			}
		}
	}
	return 0, err
}

// batch is how many calls are timed together where two are held against each other.
const batch = 64

// pair holds a call against another in short batches, one right after the other:
// what the machine does meets both alike, and a difference of a hundredth shows.
// It is the median of the batches' ratios, and the cost of either, in ns.
func pair(batches int, call, anchor func() error) (ratio, value, against float64, err error) {
	var ratios, values, anchors []float64
	for i := range batches {
		first, second := call, anchor
		if i%2 == 1 {
			first, second = anchor, call
		}
		a, err := timed(first)
		if err != nil {
			return 0, 0, 0, err
		}
		b, err := timed(second)
		if err != nil {
			return 0, 0, 0, err
		}
		if i%2 == 1 {
			a, b = b, a
		}
		ratios, values, anchors = append(ratios, a/b), append(values, a), append(anchors, b)
	}
	return median(ratios), median(values), median(anchors), nil
}

// timed is what a call of a batch takes, in ns.
func timed(call func() error) (float64, error) {
	began := time.Now()
	for range batch {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(began).Nanoseconds()) / batch, nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// allocations are a call's.
func allocations(call func() error) (n float64, err error) {
	n = testing.AllocsPerRun(1000, func() {
		if failed := call(); failed != nil {
			err = failed
		}
	})
	return n, err
}
