//go:build !mutant_no_checks

package health

// checks are all that a report is held against.
func checks() []check {
	return []check{
		{"ledger", ledger},
		{"admissible_endpoints", admissible},
		{"plan", plan},
		{"totals", totals},
		{"counts", counts},
		{"final_state", finalState},
		{"over_dead_letter", overDeadLetter},
		{"ok", okay},
	}
}
