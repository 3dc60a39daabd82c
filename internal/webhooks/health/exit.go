//go:build !mutant_exit

package health

// exit is 3 when the terms cannot be used, else 2 when there is any issue.
func exit(issues int, unusable bool) int {
	switch {
	case unusable:
		return 3
	case issues > 0:
		return 2
	}
	return 0
}
