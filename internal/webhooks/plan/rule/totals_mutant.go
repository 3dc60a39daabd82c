//go:build mutant_totals

package rule

// Totals are of the ledger.
func Totals(_, ledger, _, known int) (attempts, endpoints int) { return ledger, known }
