package httpapi

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
	"waitroom/internal/inventory"
	"waitroom/internal/organiser"
)

type outlookRequest struct {
	asked
	rate *float64 // nil: the one that is set
}

func (a *API) readOutlook(c *fiber.Ctx) (r outlookRequest, err error) {
	if r.asked, err = a.asks(organiser.LineRead)(c); err != nil {
		return r, err
	}
	if text := c.Query("rate"); text != "" {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate > 0 && rate <= inventory.FastestRate) {
			return r, problem("bad_request", fmt.Sprintf("rate: more than 0 and at most %d people a second", inventory.FastestRate))
		}
		r.rate = &rate
	}
	return r, nil
}

type outlookOfEvent struct {
	Event    string              `json:"event"`
	AsOf     time.Time           `json:"as_of"`
	State    admission.SaleState `json:"state"`
	Asked    *float64            `json:"rate_asked"` // null: none is set
	Outlook  *outlookBody        `json:"outlook"`    // null: nobody can say
	LimitsBy admission.Limit     `json:"limited_by"`
}

type outlookBody struct {
	Rate     float64   `json:"rate"`
	SoldOut  *float64  `json:"sold_out_in_s"` // null: those who are here leave seats over
	LastWait *spanBody `json:"last_wait_s"`
	Likely   int64     `json:"likely"`
	Possible int64     `json:"possible"`
	Unlikely int64     `json:"unlikely"`
}

// outlook says what a rate would mean, by the numbers of this instant and the
// arithmetic that people's own pages are told by.
func (a *API) outlook(_ context.Context, r outlookRequest) (reply, error) {
	line, err := a.served(r.event)
	if err != nil {
		return reply{}, err
	}
	now := time.Now()
	s, age := line.Live(now)
	b := outlookOfEvent{Event: r.event, AsOf: now.UTC(), State: s.State, Asked: r.rate, LimitsBy: s.Figures.By}
	if sale := line.Sale(); r.rate == nil && sale.Rate > 0 {
		b.Asked = &sale.Rate
	}
	if b.Asked != nil && age <= liveMost {
		b.Outlook = outlookOf(s.Outlook(*b.Asked, now))
	}
	return reply{body: b}, nil
}

func outlookOf(o admission.Outlook) *outlookBody {
	if !o.Known {
		return nil
	}
	b := &outlookBody{
		Rate: o.Rate, LastWait: &spanBody{o.LastP50.Seconds(), o.LastP90.Seconds()},
		Likely: o.Likely, Possible: o.Maybe, Unlikely: o.Unlikely,
	}
	if o.Enough {
		in := o.SoldOut.Seconds()
		b.SoldOut = &in
	}
	return b
}

type claimsBody struct {
	Claimers int      `json:"claimers"` // that reported within the last 5 s
	Age      *float64 `json:"age_s"`    // of the oldest of these; null: none did
	Claims   float64  `json:"claims_per_s"`
	Answers  float64  `json:"answers_per_s"`
	Errors   float64  `json:"errors_per_s"`
	P95      float64  `json:"p95_ms"`
	QueueAge float64  `json:"queue_age_ms"`
}

// heardLately is how old a claimer's report may be that counts.
const heardLately = 5 * time.Second

// claims is what all claimers together bear now: those of every event, for they are
// shared.
func (a *API) claims(ctx context.Context, _ asked) (reply, error) {
	reports, err := inventory.Reports(ctx, a.Desk.Pool)
	if err != nil {
		return reply{}, a.unavailable("claimers", err)
	}
	var b claimsBody
	for _, r := range reports {
		if r.Age > heardLately {
			continue
		}
		age := max(0, r.Age.Seconds())
		if b.Age == nil || age > *b.Age {
			b.Age = &age
		}
		b.Claimers++
		b.Claims, b.Answers, b.Errors = b.Claims+r.ClaimsPerSecond, b.Answers+r.AnswersPerSecond, b.Errors+r.ErrorsPerSecond
		b.P95, b.QueueAge = max(b.P95, 1e3*r.P95.Seconds()), max(b.QueueAge, 1e3*r.QueueAge.Seconds())
	}
	return reply{body: b}, nil
}
