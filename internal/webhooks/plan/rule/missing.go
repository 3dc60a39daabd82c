//go:build !mutant_defaults

package rule

// Missing is what a term is that the contract leaves out: nothing stands in for it.
func Missing(string) (value int64, known bool) { return 0, false }
