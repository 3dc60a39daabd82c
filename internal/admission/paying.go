package admission

import "time"

// Paying is what those who open payments said of the provider.
type Paying struct {
	At     time.Time // when the youngest report was written; zero: nobody ever reported
	Failed time.Time // the last call that got no answer
	Since  time.Time // when the first of these began, after the last answer; zero: the provider answers
}

// payFailing is how long payments have to fail to close the line: also how long
// it waits for a report, and for another failure.
const payFailing = 10 * time.Second

// failing says that nobody who is let in could pay now. A sale without reports
// takes payments elsewhere; one that had them and has none any more is blind.
func (p Paying) failing(now time.Time) bool {
	if p.At.IsZero() {
		return false
	}
	return now.Sub(p.At) > payFailing || p.unanswered(now) && now.Sub(p.Failed) <= payFailing
}

// unanswered says that the provider was last seen not to answer. When nobody
// tries any more nobody can know, so a few are let in to find out: whoever fails
// then closes the line again at once.
func (p Paying) unanswered(now time.Time) bool {
	return !p.Since.IsZero() && now.Sub(p.Since) >= payFailing
}
