//go:build !mutant_skipped

package rule

// Counts always have their four keys.
func Counts(attempts, succeeded, exhausted, skipped int64) map[string]int64 {
	return map[string]int64{"attempts": attempts, "exhausted": exhausted, "skipped": skipped, "succeeded": succeeded}
}
