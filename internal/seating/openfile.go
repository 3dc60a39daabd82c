package seating

// ofALine are what an event says of its line, and an event without one cannot.
func ofALine() []string {
	return []string{
		"call_window", "draw", "line_cap", "max_inside", "pass_life", "pass_quota", "payment_quota",
		"rate", "share_prior", "stock_slack", "tickets_prior",
	}
}

// settleAdmission refuses what needs a line in an event that has none, and a gate in
// one that has.
func (e *EventFile) settleAdmission(y yamlFile, lines map[string]int) {
	if !e.Open {
		if e.Gate {
			y.add(lines["gate"], "gate", "on is for admission: open; the waiting room is this event's gate")
		}
		return
	}
	if e.CodesRequired {
		y.add(lines["codes"], "codes", "places use them up, and with admission: open there are none; presale codes are asked for at the claim")
	}
	for _, key := range ofALine() {
		if line, given := lines[key]; given {
			y.add(line, key, "is of a line, and with admission: open there is none")
		}
	}
}
