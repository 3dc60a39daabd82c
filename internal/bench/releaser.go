package bench

import (
	"context"
	"fmt"
	"io"
	"time"
)

// releasing: what the one who releases writes to the line's store in a second,
// with a thousand people in the line and with a million. Both at work at once.
func releasing(ctx context.Context, dir string, e Effort, _ io.Writer) ([]Figure, error) {
	var rooms [2]room
	for i, people := range []int64{short1k, long1m} {
		r, err := open(ctx, file(dir, fmt.Sprint("releasing-", people)), start{tail: people, rate: 50})
		if err != nil {
			return nil, err
		}
		defer r.end()
		if err := until(ctx, "somebody releases", func() bool { return r.store.writes.Load() > 20 }); err != nil {
			return nil, err
		}
		rooms[i] = r
	}
	before := [2]int64{rooms[0].store.writes.Load(), rooms[1].store.writes.Load()}
	began := time.Now()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(e.Watch):
	}
	var rate [2]float64
	for i, r := range rooms {
		rate[i] = float64(r.store.writes.Load()-before[i]) / time.Since(began).Seconds()
	}
	return []Figure{times("releaser_writes_1m_vs_1k", "writes/s", rate[1], rate[0])}, nil
}
