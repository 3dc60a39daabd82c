//go:build !mutant_health_defaults

package health

// absent is what a term is that the contract leaves out: the end of it.
func absent(string) (int64, bool) { return 0, false }
