//go:build mutant_ok

package rule

// OK is set.
func OK(_ int64, _ bool) bool { return true }
