//go:build !mutant_no_reset

package rule

// After is the count of a delivery's attempts once this one ended: a success ends
// the delivery, and the next row begins another.
func After(success bool, count int64) int64 {
	if success {
		return 0
	}
	return count
}
