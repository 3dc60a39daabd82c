//go:build !mutant_cumulative

package rule

// Exponent is of the attempt number that was written down, not of all rows that
// the endpoint ever had.
func Exponent(attemptNo, _ int64) int64 { return attemptNo - 1 }
