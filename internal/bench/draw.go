package bench

import (
	"context"
	"crypto/sha256"
	"io"

	"waitroom/internal/draw"
)

// drawing: one number of a million, against the SHA-256 alone that the
// specification's own compute_shuffled_index calls for it: 90 rounds of 2.
func drawing(_ context.Context, _ string, e Effort, _ io.Writer) ([]Figure, error) {
	const people = 1_000_000
	shuffle := draw.New(draw.Seed{1}, people)
	var index int64
	number := func() error {
		shuffle.Number(index)
		index = (index + 7919) % people
		return nil
	}
	var in [sha256.Size + 5]byte
	sums := func() error {
		for range 180 {
			sum := sha256.Sum256(in[:])
			in[0] = sum[0]
		}
		return nil
	}
	ns, err := e.costs(number, sums)
	if err != nil {
		return nil, err
	}
	allocs, err := allocations(number)
	if err != nil {
		return nil, err
	}
	return []Figure{
		faster("draw_vs_sha256", "µs", ns[0]/1000, ns[1]/1000),
		times("draw_allocations", "allocations", allocs, 1),
	}, nil
}
