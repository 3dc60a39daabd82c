//go:build mutant_dead_letter

package rule

// OverDeadLetter is set.
func OverDeadLetter(_, _ int64) bool { return false }
