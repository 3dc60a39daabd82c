package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"waitroom/examples"
	"waitroom/internal/audience"
	"waitroom/internal/audit"
	"waitroom/internal/crowd"
	"waitroom/internal/demo"
	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/seating"
)

type demoCmd struct {
	Fans      int           `default:"20000" help:"People who come."`
	Lobby     int           `help:"Of them, how many come before the opening, to a lobby that is drawn."`
	Rate      float64       `default:"50" help:"People let in a second."`
	Plan      string        `help:"A seating plan to sell instead of the concert hall." placeholder:"FILE"`
	PayWithin time.Duration `default:"40s" help:"How long an unpaid order holds its seats."`
	Seed      uint64        `default:"1" help:"The same seed, the same people."`
	Line      string        `default:"local" enum:"local,dynamodb" help:"Where the line is kept: local (a file), or dynamodb (a stand-in, unless DYNAMODB_ENDPOINT names another)."`
	Addr      string        `default:"127.0.0.1:8080" help:"Where the browser can look on."`
	Limit     time.Duration `default:"4m" help:"The sale ends then at the latest."`
	Exit      bool          `help:"End when the sale has ended, instead of staying open to look at."`
	JSON      string        `default:"demo-report/report.json" help:"Where the report goes; a page with plots lies beside it." placeholder:"FILE"`

	Conns    int           `default:"2000" help:"Connections that all fans share at most."`
	Arrive   time.Duration `default:"20s" help:"The crowd comes within it, most in its first fifth."`
	Share    float64       `default:"0.4" help:"Of those let in, who want to buy."`
	Seats    float64       `default:"2.6" help:"Seats that each of these wants, in the mean."`
	Think    time.Duration `default:"8s" help:"Mean time from the pass to the claim."`
	Pay      time.Duration `default:"5s" help:"Mean time from the claim to the payment."`
	NeverPay float64       `default:"0.1" help:"Of the buyers, who never pay."`
	Absent   float64       `default:"0.3" help:"Of all, who do not come when they are called."`

	DatabaseURL string `env:"DATABASE_URL" secret:"" help:"A migrated or empty Postgres instead of one of our own."`
	NATSURL     string `env:"NATS_URL" help:"A NATS server instead of one of our own."`
	DynamoDB    string `env:"DYNAMODB_ENDPOINT" help:"A DynamoDB stand-in instead of one of our own."`
}

// Run is a whole sale. It exits as its audit does.
func (c *demoCmd) Run(ctx context.Context, out io.Writer) error {
	event, hall, err := c.event()
	if err != nil {
		return err
	}
	report, err := demo.Run(ctx, demo.Config{
		Build: demo.Build{
			Services: demo.Services{DatabaseURL: c.DatabaseURL, NATSURL: c.NATSURL, DynamoDB: c.DynamoDB},
			Line:     c.Line, Addr: c.Addr, Event: event, Hall: hall, OpensIn: c.opensIn(), Lobby: c.Lobby > 0,
			Disorder: payprov.Disorder{Doubled: 0.1, MaxDelay: 2 * time.Second, Seed: c.Seed},
		},
		Crowd: crowd.Config{
			Conns: c.Conns,
			Audience: audience.Audience{
				Fans: c.Fans, Arrive: c.arrivals(), Share: c.Share, Seats: c.Seats, MaxSeat: event.OrderLimit,
				Think: c.Think, Browse: c.Think, Pay: c.Pay, Absent: c.Absent, NeverPay: c.NeverPay, LatePay: 0.02, Cancel: 0.02,
				Leave: 0.03, Reload: 0.05, DoubleClick: 0.05, Seed: c.Seed,
			},
		},
		Limit: c.Limit, File: c.JSON, Out: out, Live: terminal(out), Stay: !c.Exit,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d seats sold in %.0f s, %d oversold; %d waves; at most %d let in in any second at %g/s; audit %d\n",
		report.Sold, report.Seats, report.Seconds, report.Oversold, report.Waves, report.LetInMax1s, report.Rate, report.Audit.Exit)
	if report.Audit.Exit != audit.Clean {
		return audited(report.Audit.Exit)
	}
	return nil
}

const (
	houseIn  = 8 * time.Second // from the event's making: the house has to start
	comeFrom = 6 * time.Second // before the opening the first people join
	lobbyIn  = 1000            // people a second who come to a lobby
)

// lobby is how long it is open once the house has started.
func (c *demoCmd) lobby() time.Duration {
	return max(15*time.Second, time.Duration(c.Lobby)*time.Second/lobbyIn)
}

func (c *demoCmd) opensIn() time.Duration {
	if c.Lobby == 0 {
		return houseIn
	}
	return houseIn + c.lobby() + demo.LobbyClosed
}

func (c *demoCmd) arrivals() audience.Arrivals {
	if c.Lobby == 0 {
		return audience.Rush(-comeFrom, c.Arrive)
	}
	early := min(1, float64(c.Lobby)/float64(c.Fans))
	// The last come a little before it closes: an answer takes its time.
	parts := audience.Arrivals{{Share: early, From: -demo.LobbyClosed - c.lobby(), Until: -demo.LobbyClosed - c.lobby()/10}}
	for _, p := range audience.Rush(0, c.Arrive) {
		parts = append(parts, audience.Part{Share: p.Share * (1 - early), From: p.From, Until: p.Until})
	}
	return parts
}

func (c *demoCmd) event() (inventory.Event, inventory.Hall, error) {
	name, data := "concert-hall.json", examples.ConcertHall
	if c.Plan != "" {
		var err error
		if data, err = os.ReadFile(c.Plan); err != nil {
			return inventory.Event{}, inventory.Hall{}, err
		}
		name = c.Plan
	}
	plan, err := seating.Parse(name, data)
	if err != nil {
		return inventory.Event{}, inventory.Hall{}, err
	}
	sold, err := seating.Sell(plan, seating.Offer{File: name, Currency: "EUR", Prices: prices(plan)})
	if err != nil {
		return inventory.Event{}, inventory.Hall{}, err
	}
	return inventory.Event{
		ID: "demo", Title: plan.Name, Venue: "Somewhere near you", Currency: "EUR",
		Rate: &c.Rate, LineCap: 2_000_000, OrderLimit: 4, AccountLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute,
		CallWindow: 2 * time.Minute, PayWithin: c.PayWithin, PayExtension: c.PayWithin / 4, StockSlack: 0.5,
	}, *(&hall{sold}).kept(), nil
}

// prices go down from category to category.
func prices(p seating.Plan) (out []seating.Price) {
	for i, category := range p.Categories {
		out = append(out, seating.Price{Category: category.Name, AmountMinor: int64(max(9500-1500*i, 2000))})
	}
	return out
}

// terminal says whether out is one, so that the view can stay in its place.
func terminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
