package payprov

import "slices"

// ring remembers the last max of what was added, numbered from 1.
type ring[T any] struct {
	list []T // number s stands at (s-1) mod max
	max  int
	seq  int64
}

// add puts v behind the others. The number that it gets is next.
func (r *ring[T]) add(v T) {
	r.seq++
	if len(r.list) < r.max {
		r.list = append(r.list, v)
		return
	}
	r.list[(r.seq-1)%int64(r.max)] = v
}

func (r *ring[T]) next() int64 { return r.seq + 1 }

// at is nil for what was never added or is forgotten.
func (r *ring[T]) at(seq int64) *T {
	if seq < 1 || seq > r.seq || seq <= r.seq-int64(r.max) {
		return nil
	}
	return &r.list[(seq-1)%int64(r.max)]
}

// all is a copy, oldest first.
func (r *ring[T]) all() []T {
	if len(r.list) < r.max {
		return slices.Clone(r.list)
	}
	oldest := r.seq % int64(r.max)
	return slices.Concat(r.list[oldest:], r.list[:oldest])
}
