package negative

// mutant is a judgement put back to what it was when it was wrong.
type mutant struct {
	name string
	tags []string // build tags without their mutant_; the name alone, if none
	says string   // what goes wrong
	edit edit     // what of the example makes it show
}

// edit changes a file of the example.
type edit struct{ file, old, with string }

// mutants of the plan are caught by health and by the probe: both are built
// without them, and share no code with the plan.
func mutants() []mutant {
	return []mutant{
		{name: "draining", says: "draining endpoints are sent to"},
		{name: "max", says: "dispatch_gap_s is a floor and no cap"},
		{name: "cumulative", says: "the exponent counts all rows of an endpoint"},
		{name: "no_reset", says: "counting goes on after a success"},
		{name: "attempt_no", says: "a delivery begins where attempt_no is 1"},
		{name: "redirect", says: "a redirect is a success", edit: edit{"attempts.tsv", "3060\t500", "3060\t302"}},
		{name: "ever", says: "an endpoint that ever succeeded has"},
		{name: "totals", says: "totals are of the ledger"},
		{name: "skipped", says: "counts have no skipped"},
		{name: "dead_letter", says: "over_dead_letter is set", edit: edit{"retry.env", "AFTER=3", "AFTER=0"}},
		{name: "ok", says: "ok is set"},
		{name: "defaults", says: "an unusable contract has defaults", edit: edit{"retry.env", "WEBHOOK_ADMIT_SLACK_S=5\n", ""}},
		{
			name: "all at once", says: "the scheduler of the postmortem",
			tags: []string{"draining", "max", "cumulative", "no_reset", "attempt_no", "ever", "totals", "skipped", "dead_letter", "ok"},
		},
	}
}

// judges are mutants of health itself: they are caught by reports of which is
// known what they are, and by the probe where they call one clean that is not.
func judges() []mutant {
	return []mutant{
		{name: "no_checks", says: "health has no checks"},
		{name: "exit", says: "health ends with 0 whatever it found"},
		{name: "health_defaults", says: "health goes on with defaults"},
		{name: "green", tags: []string{"no_checks", "exit"}, says: "health has no checks, and ends with 0"},
	}
}
