package webhooks

import "time"

// Schedule is when an endpoint wants the next attempt of a delivery that failed.
type Schedule struct {
	MaxAttempts int
	BackoffBase time.Duration
	DispatchGap time.Duration // the longest that backoff alone makes it wait
	MinInterval time.Duration // the shortest, whatever backoff says
}

// Terms are what holds for every endpoint of the house: the retry contract's own
// figures, and when an endpoint fails for good.
type Terms struct {
	Factor     int64         // of the backoff, from one attempt to the next
	Slack      time.Duration // on top of each wait
	Jitter     float64       // of a wait at most, on top of it
	SuccessMin int           // statuses that are a success
	SuccessMax int
	// An endpoint is disabled after so many failures in a row, over all of its
	// deliveries, once the first of them is so long ago.
	DisableAfter      int
	DisableFailingFor time.Duration
	// A delivery that waits for a disabled endpoint is dead so long after it was due.
	WaitAtMost time.Duration
}

// longestRetryAfter bounds what a receiver can ask for: a year would be a way to
// lose a notice without anybody's word.
const longestRetryAfter = 24 * time.Hour

// Success: 2xx, or what of it the contract says. A redirect is none.
func (t Terms) Success(status int) bool { return status >= t.SuccessMin && status <= t.SuccessMax }

// wait is how long after the end of the attempt before it a go's nth attempt begins
// at the earliest. Backoff is capped, and cannot overflow into the past; the receiver's
// Retry-After is a floor; chance (0 to 1) adds, and never takes away.
func (t Terms) wait(s Schedule, n int, retryAfter time.Duration, chance float64) time.Duration {
	w := max(s.MinInterval, min(retryAfter, longestRetryAfter), min(s.DispatchGap, t.backoff(s, n))) + t.Slack
	return w + time.Duration(float64(w)*t.Jitter*chance)
}

// backoff is base × factor^(n−1), and the gap as soon as it is more.
func (t Terms) backoff(s Schedule, n int) time.Duration {
	d := s.BackoffBase
	for range n - 1 {
		if t.Factor <= 1 || d == 0 {
			return d
		}
		if d > s.DispatchGap/time.Duration(t.Factor) {
			return s.DispatchGap
		}
		d *= time.Duration(t.Factor)
	}
	return d
}
