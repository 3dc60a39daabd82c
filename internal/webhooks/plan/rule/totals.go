//go:build !mutant_totals

package rule

// Totals are of the plan: its rows, and the endpoints that it may have rows of.
func Totals(planned, _, dispatchable, _ int) (attempts, endpoints int) {
	return planned, dispatchable
}
