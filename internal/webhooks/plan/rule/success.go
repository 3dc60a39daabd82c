//go:build !mutant_redirect

package rule

// Success is an answer within the contract's range; none (below 0) and a redirect
// are failures.
func Success(status, least, most int64) bool { return least <= status && status <= most }
