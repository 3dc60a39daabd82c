//go:build race

package admission_test

// raced: the race detector watches, and bears no more than 8,000 goroutines.
const raced = true
