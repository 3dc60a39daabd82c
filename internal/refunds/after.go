package refunds

import "time"

// Step is what follows from an answer: the row's next state, and whom to tell.
type Step struct {
	Status    Status
	Wait      time.Duration // from now, before the next call
	Doubt     bool
	Resend    bool
	LookAfter string
	Pushed    bool
	Outcome   Outcome
	Refund    string // the provider's name, where it is known
	Stop      bool   // no call can succeed: the outlet stops
	Ask       bool   // a person hears of it, though it goes on by itself
	LateOver  bool   // a confirmed one is not asked about any more
	Denied    bool   // of a confirmed one: the provider says that it knows no such refund
	Detail    string // for a person
}

// After decides what follows from a call's answer. chance, 0 to 1, spreads
// retries; everything else follows from the operation and the time.
func (c Case) After(v Verb, a Answer, now time.Time, chance float64) Step {
	s := Step{
		Status: c.Status, Doubt: c.Doubt, Pushed: c.Pushed,
		Outcome: a.Outcome, Refund: a.Refund, Detail: a.Detail, Stop: a.Outcome == KeyRefused,
	}
	if s.Status == Submitted { // its call is over
		s.Status = c.resting()
	}
	switch {
	case c.hears(a.Outcome):
		s.told(a.Outcome)
		s.Wait = c.untilNews(now)
	case c.Status == Confirmed && c.LateLooks > 0: // no other call begins after it was confirmed
		c.afterLateLook(&s, a)
	case c.Status.Ended(), c.Status == Manual: // a notice or a person was faster
	case c.Status == Pending:
		s.Wait = max(c.untilNews(now), a.RetryAfter)
		s.Ask = a.Outcome == Rejected // the provider does not know what it said to have
	case v == Create:
		c.afterSend(&s, a, now, chance)
	default:
		c.afterLook(&s, a, now, chance)
	}
	return c.inTime(s, now)
}

// resting is where an operation without an end waits for its next call.
func (c Case) resting() Status {
	if c.Doubt {
		return Unknown
	}
	return Queued
}

// told is the provider's own word on the refund.
func (s *Step) told(o Outcome) {
	switch o {
	case Succeeded, ByHand:
		s.Status = Confirmed
	case Failed:
		s.Status = FailedLater
	case OnItsWay:
		s.Status = Pending
	}
	s.Pushed, s.Resend = false, false
}

func (c Case) afterSend(s *Step, a Answer, now time.Time, chance float64) {
	switch {
	case a.Outcome.later() && c.sendsLeft() && c.keyLives(now):
		s.Resend = c.Doubt
		s.Wait = max(c.untilRetry(chance), a.RetryAfter)
	case a.Outcome == KeyRefused || a.Outcome == NotStarted:
		s.Resend = c.Doubt && c.sendsLeft()
		if !c.Doubt && !c.sendsLeft() {
			s.manual()
		}
	case a.Outcome.later() && c.Doubt: // nothing more to send with: only looks are left
		c.lookAgain(s, a)
	case a.Outcome.unknown():
		s.Status, s.Doubt = Unknown, true
		c.lookAgain(s, a)
	case a.Outcome == AlreadyRefunded:
		s.Status, s.Doubt = Unknown, true
		if !c.looksLeft() {
			s.manual()
		}
	case a.Outcome == Rejected:
		s.Status, s.Pushed = RejectedFor, false
	case a.Outcome == OtherParameters, a.Outcome == KeyInUse:
		s.Doubt = true // something was sent under this key: whoever pushes it looks first
		s.manual()
	default: // three sends, and none was taken
		s.manual()
	}
}

func (c Case) afterLook(s *Step, a Answer, now time.Time, chance float64) {
	switch {
	case a.Outcome == NextPage:
		s.LookAfter = a.After
	case a.Outcome == NotThere && c.Outcome == AlreadyRefunded:
		s.manual() // given back by others, and not as this operation would have
	case a.Outcome == NotThere && c.sendsLeft() && c.keyLives(now):
		s.Resend = true
		s.Wait = c.untilRetry(chance)
	case a.Outcome == Differs, a.Outcome == Rejected:
		s.manual()
	case a.Outcome == KeyRefused, a.Outcome == NotStarted:
		s.Wait = c.untilLook()
	default:
		c.lookAgain(s, a)
	}
}

// lookAgain is all that can be done in doubt, as long as looks are left.
func (c Case) lookAgain(s *Step, a Answer) {
	if !c.looksLeft() {
		s.manual()
		return
	}
	s.Wait = max(c.untilLook(), a.RetryAfter)
}

// manual hands the operation to a person. Its money stays reserved.
func (s *Step) manual() {
	s.Status, s.Wait, s.Pushed, s.Resend, s.LookAfter = Manual, 0, false, false, ""
}

// inTime hands over what was tried and has come to no end in the time that is
// promised. What was never sent waits on for its turn: nothing is in doubt
// about it, and it is listed all the same (see GiveUp).
func (c Case) inTime(s Step, now time.Time) Step {
	if (s.Status == Unknown || s.Status == Queued) && c.Sends > 0 && !now.Before(c.GiveUpAt) {
		s.manual()
	}
	return s
}
