//go:build mutant_exit

package health

// exit is green whatever was found.
func exit(int, bool) int { return 0 }
