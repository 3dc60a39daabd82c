//go:build mutant_redirect

package rule

// Success takes whatever is no error for a success.
func Success(status, _, _ int64) bool { return 200 <= status && status < 400 }
