//go:build mutant_max

package rule

// Wait takes the gap for a floor.
func Wait(gap, backoff int64) int64 { return max(gap, backoff) }
