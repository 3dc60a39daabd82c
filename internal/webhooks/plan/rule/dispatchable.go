//go:build !mutant_draining

package rule

// Dispatchable is an allow-list: a state that is new is not sent to.
func Dispatchable(state string) bool { return state == "active" }
