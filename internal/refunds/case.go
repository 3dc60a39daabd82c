package refunds

import "time"

// Status is where an operation stands. docs/STATES.md has the machine.
type Status string

// The states.
const (
	Queued      Status = "queued"       // nothing of it has left us, or nothing that had an effect
	Submitted   Status = "submitted"    // committed before a byte left: it may have had its effect
	Unknown     Status = "unknown"      // the same, and its call is over: looks find out
	Pending     Status = "pending"      // the provider has it, and the money is on its way
	Confirmed   Status = "confirmed"    // refunded
	RejectedFor Status = "rejected"     // definitely not refunded, and not to be tried again
	Manual      Status = "manual"       // a person decides
	FailedLater Status = "failed_later" // the provider had it, and the money did not arrive
)

// Ended holds where nothing more is done for the operation by itself. A
// confirmed one can still fail.
func (s Status) Ended() bool { return s == Confirmed || s == RejectedFor || s == FailedLater }

// The budgets of an operation. They are the outlet's as much as its own: what
// is spent here is taken from all the others.
const (
	MostSends = 3
	MostLooks = 6
	// Promise is the time from acceptance to an end. What has none by then is
	// on the human list.
	Promise = 15 * time.Minute
	// KeyLife is how long after its first send an operation may be sent again:
	// the provider forgets a key after 24 h, and then the same key is a new
	// refund. The hour is for clocks, queues and calls under way.
	KeyLife = 24*time.Hour - time.Hour
)

// Case is what is decided about: an operation as its row has it, with times by
// the database's clock.
type Case struct {
	Status      Status
	AcceptedAt  time.Time
	GiveUpAt    time.Time
	NextAt      time.Time
	FirstSentAt time.Time // zero: never sent
	Sends       int       // of Create, the one under way included
	Looks       int       // the one under way included; pages are not counted
	Pushes      int       // by persons: each is one send and one look more
	Pushed      bool      // the last push is being carried out
	Doubt       bool      // some send may have had its effect
	Resend      bool      // a look found nothing: the same key may be sent again
	LookAfter   string    // the next page of the look under way
	Outcome     Outcome   // of the last call that moved it, or was to
	LateLooks   int       // after it was confirmed, the one under way included
}

// Fresh holds for one that was never sent. First tries take turns with all the
// rest.
func (c Case) Fresh() bool { return c.Status == Queued && c.Sends == 0 && !c.Pushed }

// Verb is the call that a due operation needs. In doubt it is a look, unless
// the last one found nothing and the key still stands for the first send.
func (c Case) Verb(now time.Time) Verb {
	switch {
	case c.Status == Pending, c.Status == Confirmed:
		return Retrieve
	case c.Status == Queued, c.Resend && c.sendsLeft() && c.keyLives(now):
		return Create
	}
	return List
}

// Kind is why a call is made, as the log of calls tells it.
type Kind string

// The kinds.
const (
	FirstTry Kind = "first"
	Retry    Kind = "retry"
	Look     Kind = "look"
	ByPerson Kind = "manual"
	LateLook Kind = "late" // of a confirmed one, days later
)

// Kind is why the operation's next call is made.
func (c Case) Kind(v Verb) Kind {
	switch {
	case c.Status == Confirmed:
		return LateLook
	case c.Pushed:
		return ByPerson
	case v != Create:
		return Look
	case c.Sends == 0:
		return FirstTry
	}
	return Retry
}

func (c Case) sendsLeft() bool { return c.Sends < MostSends+c.Pushes }
func (c Case) looksLeft() bool { return c.Looks < MostLooks+c.Pushes }

// keyLives holds while the provider still knows the key of the first send.
func (c Case) keyLives(now time.Time) bool {
	return c.FirstSentAt.IsZero() || now.Sub(c.FirstSentAt) < KeyLife
}

// untilRetry is the wait before the next send of one that had no effect: the
// second after 1 to 2 s, each later one after 1 to 4 s. chance is 0 to 1.
func (c Case) untilRetry(chance float64) time.Duration {
	spread := 3.0
	if c.Sends <= 1 {
		spread = 1
	}
	return time.Second + time.Duration(chance*spread*float64(time.Second))
}

// untilLook is the wait before the next look, by how many there were.
func (c Case) untilLook() time.Duration {
	switch c.Looks {
	case 0:
		return 5 * time.Second
	case 1:
		return 30 * time.Second
	case 2:
		return 2 * time.Minute
	}
	return 5 * time.Minute
}

// untilNews is the wait before a refund on its way is asked after. The provider
// tells of its end by itself; this is for when its notice is lost.
func (c Case) untilNews(now time.Time) time.Duration {
	if now.Sub(c.AcceptedAt) < time.Hour {
		return 10 * time.Minute
	}
	return 6 * time.Hour
}
