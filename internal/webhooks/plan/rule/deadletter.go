//go:build !mutant_dead_letter

package rule

// OverDeadLetter is computed of the endpoint that came too early most often.
func OverDeadLetter(most, allowed int64) bool { return most > allowed }
