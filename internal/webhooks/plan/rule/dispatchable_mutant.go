//go:build mutant_draining

package rule

// Dispatchable lets draining endpoints through.
func Dispatchable(state string) bool { return state != "disabled" }
