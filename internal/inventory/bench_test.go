package inventory

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"waitroom/internal/pg"
	"waitroom/internal/pgtest"
)

// BenchmarkClaim claims one seat after the other, each for an account of its
// own, with 256 buyers asking at any time. Run it with -benchtime=20000x: the
// hall has a seat for each claim.
func BenchmarkClaim(b *testing.B) {
	for _, tier := range []string{"named", "general"} {
		for _, batch := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/batch=%d", tier, batch), func(b *testing.B) { benchClaim(b, tier == "named", batch) })
		}
	}
}

func benchClaim(b *testing.B, named bool, batch int) {
	pool := pgtest.New(b, pgtest.Limits(pg.Limits{Conns: 6}))
	seats := [2]int{0, b.N}
	if named {
		seats = [2]int{b.N, 0}
	}
	s := openSale(b, pool, seats[0], seats[1], "")
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
				a := s.standing(fmt.Sprint("fan-", i), "k", 1)
				if named {
					a = s.attempt(fmt.Sprint("fan-", i), "k", s.seats[i])
				}
				if c.Claim(b.Context(), a).Outcome != Claimed {
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
