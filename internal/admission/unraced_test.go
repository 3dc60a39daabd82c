//go:build !race

package admission_test

const raced = false
