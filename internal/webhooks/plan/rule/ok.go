//go:build !mutant_ok

package rule

// OK is computed, never set.
func OK(tooEarly int64, overDeadLetter bool) bool { return tooEarly == 0 && !overDeadLetter }
