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
		slices.Sort(s)
		medians[i] = s[len(s)/2]
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

// allocations are a call's.
func allocations(call func() error) (n float64, err error) {
	n = testing.AllocsPerRun(1000, func() {
		if failed := call(); failed != nil {
			err = failed
		}
	})
	return n, err
}
