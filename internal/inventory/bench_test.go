package inventory

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// BenchmarkClaim claims seat after seat, each claim for an account of its own,
// with 256 buyers asking at any time. Run it with -benchtime=10000x: the hall has
// seats for each claim.
func BenchmarkClaim(b *testing.B) {
	for _, batch := range []int{1, 16, 64} {
		for kind, ask := range map[string]func(s *sale, i int) Attempt{
			"named":   func(s *sale, i int) Attempt { return s.attempt(fan(i), "k", s.seats[2*i]) },
			"pairs":   func(s *sale, i int) Attempt { return s.attempt(fan(i), "k", s.seats[2*i], s.seats[2*i+1]) },
			"best-2":  func(s *sale, i int) Attempt { return s.best(fan(i), "k", Best{Count: 2}) },
			"general": func(s *sale, i int) Attempt { return s.standing(fan(i), "k", 1) },
		} {
			b.Run(fmt.Sprintf("%s/batch=%d", kind, batch), func(b *testing.B) { benchClaim(b, kind == "general", batch, ask) })
		}
	}
}

func fan(i int) string { return fmt.Sprint("fan-", i) }

func benchClaim(b *testing.B, general bool, batch int, ask func(s *sale, i int) Attempt) {
	pool := pgtest.New(b, pgtest.Limits(pg.Limits{Conns: 6}))
	seats := [2]int{2 * b.N, 0}
	if general {
		seats = [2]int{0, b.N}
	}
	s := openSale(b, pool, seats[0], seats[1], "").rowsOf(40)
	c := runClaimer(b, pool, Sizes{Queue: 1000, Workers: 4, Batch: batch})
	var next, lost atomic.Int64
	var buyers sync.WaitGroup
	b.ResetTimer()
	for range 256 {
		buyers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					return
				}
				if c.Claim(b.Context(), ask(s, i)).Outcome != Claimed {
					lost.Add(1)
				}
			}
		})
	}
	buyers.Wait()
	b.StopTimer()
	if n := lost.Load(); n != 0 {
		b.Errorf("%d of %d were not claimed", n, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}
