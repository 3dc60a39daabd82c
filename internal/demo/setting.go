package demo

import (
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/rehearsal"
)

// setting is this sale as it can be rehearsed.
func (c Config) setting(opens time.Time) rehearsal.Setting {
	e := c.Event
	s := rehearsal.Setting{
		Sale: admission.Sale{
			Event: e.ID, Title: e.Title, Venue: e.Venue, OpensAt: opens, Rate: *e.Rate, LineCap: e.LineCap,
			OrderLimit: int64(e.OrderLimit), PassQuota: int64(e.PassQuota), PassLife: e.PassLife, CallWindow: e.CallWindow,
			SharePrior: value(e.SharePrior), TicketsPrior: value(e.TicketsPrior), Slack: e.StockSlack,
			MaxInside: value(e.MaxInside), PaymentQuota: value(e.PaymentQuota),
		},
		PayWithin: e.PayWithin, Audience: c.Crowd.Audience, House: rehearsal.Usual(), Limit: c.Limit,
	}
	s.House.Reply, s.House.Notice = 100*time.Millisecond, c.Disorder.MaxDelay
	if c.Lobby {
		s.Lobby = LobbyClosed
	}
	for _, seat := range c.Hall.Seats {
		if !seat.HeldBack {
			s.Seats++
		}
	}
	return s
}

// value is zero for what was not set.
func value[T int64 | float64](v *T) (set T) {
	if v != nil {
		set = *v
	}
	return set
}
