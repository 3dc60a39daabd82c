package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"waitroom/internal/admission"
)

// standing: what the server's memory is with a line of a million, and with one
// of a thousand; and what a place costs that is held at the door. That one's
// anchor is what all of HeldAtOnce come to.
func standing(ctx context.Context, dir string, e Effort, _ io.Writer) ([]Figure, error) {
	var heap [3]int64
	for i, people := range []int64{short1k, short1k, long1m} { // the first warms what both use
		before := inUse()
		l, err := still(ctx, file(dir, fmt.Sprint("standing-", i)), people)
		if err != nil {
			return nil, err
		}
		heap[i] = inUse() - before
		runtime.KeepAlive(l)
	}
	door, err := atDoor(ctx, file(dir, "door"), e.Held)
	return []Figure{
		times("line_memory_1m_vs_1k", "bytes", float64(heap[2]), float64(heap[1])),
		times("held_place_memory", "bytes", door, door*admission.HeldAtOnce),
	}, err
}

// inUse is what is reachable and what stacks take.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // pools give way at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// atDoor is the memory of a place that is held, its request's goroutine
// included, its connection not.
func atDoor(ctx context.Context, path string, places int) (float64, error) {
	r, err := open(ctx, path, start{tail: long1m, front: long1m, rate: 0.01, hold: time.Minute})
	if err != nil {
		return 0, err
	}
	defer r.end()
	before := inUse()
	asks, leave := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer leave()
	for i := range places {
		all.Go(func() {
			for asks.Err() == nil { // the few that are let in are asked for anew
				if _, err := r.Pass(asks, aTicket(int64(i))); err != nil && !errors.Is(err, context.Canceled) {
					return
				}
			}
		})
	}
	// The few who are let in meanwhile, at a hundredth of a person a second, are
	// not at the door any more.
	if err := until(ctx, "they stand at the door", func() bool { return int(r.Standing().Figures.AtDoor) >= places-1 }); err != nil {
		return 0, err
	}
	return float64(inUse()-before) / float64(places), nil
}
