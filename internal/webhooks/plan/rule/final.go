//go:build !mutant_ever

package rule

// Final is a success when the endpoint's last row is one.
func Final(last, _ bool) bool { return last }
