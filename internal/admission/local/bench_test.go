package local

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"waitroom/internal/admission"
)

// syncs are two a commit: the data's and the page's that points to it.
func (s *Store) syncs() int64 { return 2 * s.commits.Load() }

// at runs n calls by so many callers and reports the syncs that each cost.
func at(b *testing.B, s *Store, callers int, call func(i int) error) {
	before := s.syncs()
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range callers {
		group.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := call(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(s.syncs()-before)/float64(b.N), "syncs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func BenchmarkJoin(b *testing.B) {
	for _, callers := range []int{1, 64, 1024} {
		b.Run(name(callers), func(b *testing.B) {
			s := newStore(b)
			lineOf(b, s, 0)
			at(b, s, callers, func(i int) error {
				_, err := s.Join(b.Context(), fan(i), time.UnixMilli(1e12))
				return err
			})
		})
	}
}

// BenchmarkJoinInto is a line that has 50,000 places already.
func BenchmarkJoinInto(b *testing.B) {
	s := newStore(b)
	lineOf(b, s, 50_000)
	at(b, s, 1024, func(i int) error {
		_, err := s.Join(b.Context(), fan(50_000+i), time.UnixMilli(1e12))
		return err
	})
}

func BenchmarkTake(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(name(callers), func(b *testing.B) {
			s := newStore(b)
			held(b, s, 1<<40)
			at(b, s, callers, func(int) error {
				_, _, err := s.Take(b.Context(), "e", 1, 1)
				return err
			})
		})
	}
}

// BenchmarkRefill is the releaser's step alone, and among callers who join
// without a pause: p50 and p99 are what it waits.
func BenchmarkRefill(b *testing.B) {
	for _, joiners := range []int{0, 64, 1024} {
		b.Run(name(joiners)+"join", func(b *testing.B) {
			s := newStore(b)
			d := held(b, s, 0)
			ctx, cancel := context.WithCancel(b.Context())
			var group sync.WaitGroup
			var next atomic.Int64
			for range joiners {
				group.Go(func() {
					for ctx.Err() == nil {
						s.Join(ctx, fan(int(next.Add(1))), time.UnixMilli(1e12)) //nolint:errcheck // it is load
					}
				})
			}
			waits := make([]time.Duration, 0, b.N)
			b.ResetTimer()
			for b.Loop() {
				began := time.Now()
				var ok bool
				var err error
				r := admission.Refill{Event: "e", Epoch: 1, Term: d.Term, Beat: d.Beat, Add: 10, Cap: 1000}
				if d, ok, err = s.Refill(b.Context(), r); err != nil || !ok {
					b.Fatalf("refill: %v, %v", ok, err)
				}
				waits = append(waits, time.Since(began))
			}
			joined := float64(next.Load()) / b.Elapsed().Seconds()
			cancel()
			group.Wait()
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
			b.ReportMetric(joined, "joins/s")
		})
	}
}

func held(b *testing.B, s *Store, credit int64) admission.Door {
	b.Helper()
	d, err := s.Open(b.Context(), admission.Door{Event: "e", Epoch: 1}, admission.Tail{})
	if err != nil {
		b.Fatal(err)
	}
	if d, _, err = s.Acquire(b.Context(), d, "me"); err != nil {
		b.Fatal(err)
	}
	d, _, err = s.Refill(b.Context(), admission.Refill{
		Event: "e", Epoch: 1, Term: d.Term, Beat: d.Beat, Add: credit, Cap: credit, Budget: credit, Doc: make([]byte, 500),
	})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func name(callers int) string {
	return map[int]string{0: "no", 1: "1", 64: "64", 1024: "1024"}[callers] + "callers"
}
