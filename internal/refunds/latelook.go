package refunds

import (
	"fmt"
	"net/http"
	"time"
)

// A confirmed refund is asked about once more: the money may come back from a closed
// account days later, and the notice of that may be lost.

// LookLateAfter is how long after its confirmation that is.
const LookLateAfter = 7 * 24 * time.Hour

// MostLateLooks is how often it is tried, untilLateLook apart, where the provider
// gives no answer: for five days. Then nobody asks any more.
const (
	MostLateLooks = 20
	untilLateLook = 6 * time.Hour
)

// afterLateLook decides what follows where the refund did not fail. It stays
// confirmed, by what confirmed it. One that the provider does not know, or tells of
// otherwise, is a person's; the former they may end (NotRefunded).
func (c Case) afterLateLook(s *Step, a Answer) {
	s.Outcome = c.Outcome
	switch a.Outcome {
	case Succeeded, OnItsWay:
		s.LateOver = true
	case Rejected, Differs:
		s.LateOver, s.Ask = true, true
		s.Denied = a.Outcome == Rejected && a.HTTP == http.StatusNotFound
	default: // no answer
		s.LateOver = c.LateLooks >= MostLateLooks
		s.Wait = max(untilLateLook, a.RetryAfter)
	}
}

// byOthers holds where the operation came to a refund that it did not make: its
// amount and metadata are not the operation's.
func (c Case) byOthers() bool {
	return c.Status == Confirmed && (c.Outcome == ByHand || c.Outcome == PersonFound)
}

// doubted is what a person is told of a confirmed refund that the provider does not
// stand by.
func (e entry) doubted(s Step) item {
	return item{differs, e.refund, e.id, fmt.Sprintf(
		"it is confirmed as refund %s; asked again later, %s says: %s", e.refund, e.provider, s.Detail)}
}
