//go:build !mutant_max

package rule

// Wait is the back-off, which dispatch_gap_s caps.
func Wait(gap, backoff int64) int64 { return min(gap, backoff) }
