package admission

import "time"

// Sale is what the organiser set, as far as the line needs it.
type Sale struct {
	Event string
	Epoch int64
	Title string
	Venue string

	Control  Control
	OpensAt  time.Time
	ClosesAt time.Time // zero: never by itself

	Rate       float64 // people a second; 0 was never set, and is closed
	OrderLimit int64   // tickets an order may have
	PassQuota  int64   // tickets a pass may buy
	PassLife   time.Duration
	CallWindow time.Duration
	LineCap    int64
	Accounts   bool   // who joins needs an account
	Codes      bool   // or an access code
	Lobby      *Lobby // nil: first come, first served
	// NoDraw: an earlier line of the event was drawn, and nothing says how this one
	// is. Nobody joins before that is known.
	NoDraw bool

	// Open: the event has no line. Nobody joins, and nobody is let in: who has a
	// ticket may claim. Gate says whether a gate stands before that: off, or on; what
	// it says else is not known, and closes.
	Open bool
	Gate string

	// Where learning starts; 0: the organiser does not know.
	SharePrior   float64 // of those let in, who want to buy
	TicketsPrior float64 // tickets each of these wants
	// Slack lets in more people than the stock would do for, by so many
	// standard deviations of what they buy: 0 strict, 1 a quick end.
	Slack float64

	MaxInside    int64   // people inside at once (see Within); 0: no cap
	PaymentQuota float64 // payments a second that may be opened; 0: no quota is known

	// ReadAt is when these settings were last known to be in force. Older than
	// settingsFresh, they are no settings.
	ReadAt time.Time
}

// Control is what the organiser wants of the sale.
type Control string

const (
	Run   Control = "run"
	Pause Control = "paused"
	Close Control = "closed"
)

// fastest is the highest rate that is taken for meant.
const fastest = 10_000

// Sells says whether an event without a line sells at this moment, as far as its
// settings are known.
func (s Sale) Sells(now time.Time) bool {
	return s.Open && s.takes(now) && !now.Before(s.OpensAt)
}

// Known says whether these settings are known to be in force.
func (s Sale) Known(now time.Time) bool { return now.Sub(s.ReadAt) <= settingsFresh }

// paced says whether the rate lets anybody in. What was never set, or makes no
// sense (NaN, infinite, negative), is closed and not unlimited (P10). The same
// goes for what bounds it.
func (s Sale) paced() bool {
	return s.Rate > 0 && s.Rate <= fastest && s.PaymentQuota >= 0 && s.MaxInside >= 0
}

// sensible says whether people could be let in by all the rest. What no sale
// could have closes too: figures made of it could let anybody in, or nobody for
// ever. Written so that what is no number is not sensible.
func (s Sale) sensible() bool {
	return s.OrderLimit >= 1 && s.PassQuota >= 1 && s.PassLife > 0 && s.CallWindow >= 0 &&
		s.SharePrior >= 0 && s.SharePrior <= 1 && s.TicketsPrior >= 0 && s.TicketsPrior <= mostGuessed && s.Slack >= 0 && s.Slack <= mostGuessed
}

// mostGuessed is the highest of the organiser's guesses that is taken for meant.
const mostGuessed = 1000

// Stock is a recount of the event's seats.
type Stock struct {
	Free, Pending, Sold, HeldBack int64

	// Due is the seats of pending orders whose pay_by is within Release.Theta.
	Due int64
	// Of orders that ended lately: how many expired, and how many were paid
	// within the last Theta of their time.
	Expired, PaidLate int64

	// At is when the recount was asked for, on the holder's clock: never later
	// than what it saw, so that no claim is missed between.
	At time.Time
}
