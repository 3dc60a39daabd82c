package dynamo

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waitroom/internal/admission"
)

// The stand-in is one Node process: these figures bound our client's cost and
// say nothing of AWS's.
func bench(b *testing.B, callers int, call func(i int64) error) {
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := call(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func BenchmarkJoin(b *testing.B) {
	s, _, d := line(b, table(b))
	bench(b, 64, func(i int64) error {
		p := admission.Place{Event: d.Event, Epoch: 1, Holder: fmt.Sprintf("%064x", i), Index: i, JoinedAt: time.UnixMilli(1e12)}
		_, err := s.Join(b.Context(), p, p.JoinedAt)
		return err
	})
}

func BenchmarkTake(b *testing.B) {
	s, _, d := line(b, table(b))
	r := step(d, 1<<40, 1<<40)
	r.Budget = 1 << 30
	if _, ok, err := s.Refill(b.Context(), r); err != nil || !ok {
		b.Fatalf("refill: %v, %v", ok, err)
	}
	bench(b, 16, func(int64) error {
		d, ok, err := s.Take(b.Context(), d.Event, 1, 1)
		if err == nil && !ok {
			err = fmt.Errorf("none at %+v", d)
		}
		return err
	})
}

func BenchmarkRefill(b *testing.B) {
	s, _, d := line(b, table(b))
	bench(b, 1, func(int64) (err error) {
		var ok bool
		if d, ok, err = s.Refill(b.Context(), step(d, 10, 60_000)); err == nil && !ok {
			err = fmt.Errorf("refused at %+v", d)
		}
		return err
	})
}
