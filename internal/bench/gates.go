package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"waitroom/internal/gate"
	"waitroom/internal/stack"
)

// gates: attempts a second that the gate decides, many a script, against one script
// each over as many connections as it has; by the same callers, on the same Redis.
func gates(ctx context.Context, _ string, e Effort, _ io.Writer) ([]Figure, error) {
	s, err := stack.Redis(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop() //nolint:errcheck // it ends with the process at the latest
	c := gate.Usual()
	c.URL, c.Fresh, c.Limit = s.URL, time.Hour, 5*time.Second
	nobody := func(context.Context, string, []gate.Name) ([]gate.Name, error) { return nil, nil }
	many, err := gate.Open(c, nobody, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer many.Close() //nolint:errcheck // nothing is kept
	c.Batch, c.Calls = 1, c.Conns
	single, err := gate.Open(c, nobody, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer single.Close() //nolint:errcheck // nothing is kept
	stocked := func(context.Context, string, time.Time, []gate.Name) (gate.Seen, error) {
		return gate.Seen{At: time.Now(), Free: map[string]int{"Standing": math.MaxInt32}}, nil
	}
	if err := many.Turn(ctx, event, 1, stocked); err != nil {
		return nil, err
	}
	var rates [2][]float64
	for round := range min(e.Rounds, 7) {
		for i, g := range []*gate.Gate{many, single} {
			rate, err := decided(ctx, g, fmt.Sprint(round, "-", i), e)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	for i := range rates {
		slices.Sort(rates[i])
	}
	middle := len(rates[0]) / 2
	return []Figure{times("gate_batched_vs_single", "attempts/s", rates[0][middle], rates[1][middle])}, nil
}

// decided is how many attempts a second the gate lets through.
func decided(ctx context.Context, g *gate.Gate, round string, e Effort) (float64, error) {
	var next, admitted atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range e.Callers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(e.Joins); i = next.Add(1) {
				d := g.Decide(ctx, gate.Attempt{
					Event: event, Epoch: 1, Name: gate.Name{Account: fmt.Sprint(round, "-", i), Key: "key"}, Tier: "Standing", Units: 1,
				})
				if d.Outcome == gate.Admitted {
					admitted.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := admitted.Load(); n != int64(e.Joins) {
		return 0, fmt.Errorf("the gate let %d of %d attempts in", n, e.Joins)
	}
	return float64(e.Joins) / time.Since(began).Seconds(), nil
}
