package rehearsal

import (
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/audience"
	"waitroom/internal/seating"
)

// Of is the sale of an event file, with so many seats to sell, for these
// people, in a house in order. Nobody can order more seats than its limit.
func Of(f seating.EventFile, seats int, people audience.Audience) Setting {
	people.MaxSeat = min(f.OrderLimit, f.PassQuota, f.AccountLimit)
	c := Setting{
		Sale: admission.Sale{
			Event: f.ID, Title: f.Title, Venue: f.Venue, OpensAt: f.OpensAt, ClosesAt: f.ClosesAt,
			Rate: f.Rate, OrderLimit: int64(f.OrderLimit), PassQuota: int64(f.PassQuota), LineCap: int64(f.LineCap),
			PassLife: f.PassLife, CallWindow: f.CallWindow,
			SharePrior: f.SharePrior, TicketsPrior: f.TicketsPrior, Slack: f.StockSlack,
			MaxInside: int64(f.MaxInside), PaymentQuota: f.PaymentQuota,
		},
		Seats: seats, PayWithin: f.PayWithin, Audience: people, House: Usual(), Limit: 24 * time.Hour,
	}
	if f.Draw != nil {
		c.Lobby = f.OpensAt.Sub(f.Draw.LobbyClosesAt)
	}
	return c
}
