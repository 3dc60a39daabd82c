//go:build mutant_cumulative

package rule

// Exponent grows with everything that the endpoint ever got.
func Exponent(_, rows int64) int64 { return rows }
