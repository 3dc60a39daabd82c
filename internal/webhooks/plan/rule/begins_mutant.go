//go:build mutant_attempt_no

package rule

// Begins believes the number that was written down.
func Begins(_, _, attemptNo int64) bool { return attemptNo == 1 }
