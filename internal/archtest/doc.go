// Package archtest holds the house to its own plan: which package may import
// which, what stays behind which wall, and a few habits that no compiler
// forbids. It is all test; each rule is shown to fail on a bad example.
package archtest
