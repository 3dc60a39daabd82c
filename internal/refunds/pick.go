package refunds

// Pick is which of the two groups has the next turn: first tries alternate with
// the rest (retries, looks, what a person pushed), and a group with nothing due
// gives way. So new work goes on under a storm of retries, and old work is never
// starved by new. Within a group the oldest acceptance goes first.
func Pick(first, rest, lastWasFirst bool) (takeFirst, any bool) {
	switch {
	case first && rest:
		return !lastWasFirst, true
	default:
		return first, first || rest
	}
}
