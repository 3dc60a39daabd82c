package plan

import (
	"errors"
	"math"
	"math/bits"
)

// backoff is base × factor^exponent, and the greatest number that there is where
// it would be greater: it only ever is held against a cap.
func backoff(base, factor, exponent int64) int64 {
	for range exponent {
		if base == 0 || factor == 1 || factor > 0 && base == math.MaxInt64 {
			break // no more turns than digits, whatever number a ledger has
		}
		base = times(base, factor)
	}
	return base
}

func times(a, b int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

var errTooGreat = errors.New("a sum is greater than any number of 64 bits")

// sum is exact, or an error: a time that was bent to fit would be judged by.
func sum(numbers ...int64) (total int64, err error) {
	for _, n := range numbers {
		if n > 0 && total > math.MaxInt64-n || n < 0 && total < math.MinInt64-n {
			return 0, errTooGreat
		}
		total += n
	}
	return total, nil
}
