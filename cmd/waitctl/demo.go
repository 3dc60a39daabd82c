package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"waitroom/examples"
	"waitroom/internal/audience"
	"waitroom/internal/audit"
	"waitroom/internal/crowd"
	"waitroom/internal/demo"
	"waitroom/internal/inventory"
	"waitroom/internal/payprov"
	"waitroom/internal/process"
)

type demoCmd struct {
	Fans      int           `default:"20000" help:"People who come."`
	Replicas  int           `help:"Waiting rooms, each a process of its own; 0: one, in this process. Needs --line dynamodb." placeholder:"N"`
	Harm      bool          `help:"Kill and stop replicas that release, during the sale. Needs two or more."`
	Chaos     string        `default:"" enum:",money" help:"What goes wrong on purpose. money: fans who pay twice, late or another amount; a provider whose answers are lost, late or lies; its notices too." placeholder:"money"`
	Lobby     int           `help:"Of them, how many come before the opening, to a lobby that is drawn."`
	Rate      float64       `default:"50" help:"People let in a second."`
	Plan      string        `help:"A seating plan to sell instead of the concert hall." placeholder:"FILE"`
	PayWithin time.Duration `default:"40s" help:"How long an unpaid order holds its seats."`
	HoldBack  int           `default:"40" help:"Seats that the house holds back, and frees once all else is sold: the second wave."`
	Seed      uint64        `default:"1" help:"The same seed, the same people."`
	Line      string        `default:"local" enum:"local,dynamodb" help:"Where the line is kept: local (a file), or dynamodb (a stand-in, unless DYNAMODB_ENDPOINT names another)."`
	Addr      string        `default:"127.0.0.1:8080" help:"Where the browser can look on."`
	Limit     time.Duration `default:"0s" help:"The fans are sent home then; the sale ends once what they hold is paid or has come back. 0s: after 6m, in a large hall later."`
	Exit      bool          `help:"End when the sale has ended, instead of staying open to look at."`
	JSON      string        `default:"demo-report/report.json" help:"Where the report goes, by default ${default}; a page with plots lies beside it." placeholder:"FILE"`

	Conns    int           `default:"2000" help:"Connections that all fans share at most."`
	Arrive   time.Duration `default:"20s" help:"The crowd comes within it, most in its first fifth."`
	Share    float64       `default:"0.4" help:"Of those let in, who want to buy."`
	Seats    float64       `default:"2.6" help:"Seats that each of these wants, in the mean."`
	Think    time.Duration `default:"8s" help:"Mean time from the pass to the claim."`
	Pay      time.Duration `default:"5s" help:"Mean time from the claim to the payment."`
	NeverPay float64       `default:"0.1" help:"Of the buyers, who never pay."`
	Absent   float64       `default:"0.3" help:"Of all, who do not come when they are called."`

	DatabaseURL string `env:"DATABASE_URL" secret:"" help:"A migrated or empty Postgres instead of one of our own. The event demo stays in it."`
	NATSURL     string `env:"NATS_URL" help:"A NATS server instead of one of our own."`
	DynamoDB    string `env:"DYNAMODB_ENDPOINT" help:"A DynamoDB stand-in instead of one of our own."`
}

// Validate refuses what could be no sale.
func (c *demoCmd) Validate() error {
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	return errors.Join(
		process.Want(c.Fans >= 1, "--fans %d: want somebody to come", c.Fans),
		process.Want(c.HoldBack >= 0, "--hold-back %d: want 0 or more", c.HoldBack),
		process.Want(c.Replicas == 0 || c.Replicas > 0 && c.Line == "dynamodb", "--replicas %d: want 1 or more, and --line dynamodb: a file is one process's", c.Replicas),
		process.Want(!c.Harm || c.Replicas > 1, "--harm: want --replicas 2 or more"),
		process.Want(c.Lobby >= 0 && c.Lobby <= max(c.Fans, 0), "--lobby %d: want 0 to as many as come", c.Lobby),
		process.Want(c.Rate > 0 && c.Rate <= inventory.FastestRate, "--rate %g: %s", c.Rate, rateBounds()),
		process.Want(c.PayWithin >= time.Second && c.PayWithin <= 48*time.Hour, "--pay-within %s: want 1s to 48h", c.PayWithin),
		process.Want(c.Limit >= 0 && c.Arrive > 0, "--limit %s, --arrive %s: want no less than 0, and more", c.Limit, c.Arrive),
		process.Want(c.Conns >= 1, "--conns %d: want at least 1", c.Conns),
		process.Want(c.Seats >= 1 && c.Seats <= 100, "--seats %g: want 1 to 100", c.Seats),
		process.Want(c.Think > 0 && c.Pay > 0, "--think %s, --pay %s: want more than 0", c.Think, c.Pay),
		process.Want(share(c.Share) && share(c.NeverPay) && share(c.Absent), "--share %g, --never-pay %g, --absent %g: want 0 to 1", c.Share, c.NeverPay, c.Absent),
	)
}

// limit is when the fans are sent home: a hall of 1,756 is sold well before, on two
// cores and with replicas killed; an arena of 20,560 has 13.7 minutes.
func (c *demoCmd) limit(seats int) time.Duration {
	if c.Limit > 0 {
		return c.Limit
	}
	return max(6*time.Minute, time.Duration(seats)*40*time.Millisecond)
}

// interrupted is a demo that was ended by a signal, as a shell tells it.
type interrupted struct{ error }

func (interrupted) ExitCode() int { return 130 }

// Run is a whole sale. It exits as its audit does.
func (c *demoCmd) Run(ctx context.Context, out io.Writer) error {
	event, hall, err := c.event()
	if err != nil {
		return err
	}
	if c.DatabaseURL != "" {
		at, err := pgx.ParseConfig(c.DatabaseURL)
		if err != nil {
			return refuse("%v", err)
		}
		fmt.Fprintf(out, "database: %s at %s, as DATABASE_URL says; the event demo stays in it\n", at.Database, at.Host)
	}
	config := demo.Config{
		Build: demo.Build{
			Services: demo.Services{DatabaseURL: c.DatabaseURL, NATSURL: c.NATSURL, DynamoDB: c.DynamoDB},
			Line:     c.Line, Addr: c.Addr, Event: event, Hall: hall, OpensIn: c.opensIn(), Lobby: c.Lobby > 0, Replicas: c.Replicas,
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
		Limit: c.limit(len(hall.Seats)), File: c.JSON, Out: out, Columns: columns(out), Stay: !c.Exit,
	}
	if c.Harm {
		config.Harm = demo.HarmReplicas
	}
	if c.Chaos == "money" {
		config = config.WithMoneyChaos()
	}
	report, err := demo.Run(ctx, config)
	switch {
	case errors.Is(err, demo.ErrEnded):
		return interrupted{err}
	case errors.Is(err, demo.ErrEventExists):
		return refuse("the database has an event demo already; name another, or unset DATABASE_URL and the demo starts one of its own")
	case errors.Is(err, syscall.EADDRINUSE):
		return refuse("%v; choose another address with --addr", err)
	case err != nil:
		return err
	}
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
		if data, err = readFile(c.Plan); err != nil {
			return inventory.Event{}, inventory.Hall{}, err
		}
		name = c.Plan
	}
	plan, offered, err := demo.Hall(name, data)
	if err != nil {
		return inventory.Event{}, inventory.Hall{}, err
	}
	for i := range min(c.HoldBack, len(offered.Seats)) {
		offered.Seats[i*len(offered.Seats)/c.HoldBack].HeldBack = true
	}
	return inventory.Event{
		ID: "demo", Title: plan.Name, Venue: "Somewhere near you", Currency: "EUR",
		Rate: &c.Rate, LineCap: 2_000_000, OrderLimit: 4, AccountLimit: 4, PassQuota: 4, PassLife: 10 * time.Minute,
		CallWindow: 2 * time.Minute, PayWithin: c.PayWithin, PayExtension: c.PayWithin / 4, StockSlack: 0.5,
	}, offered, nil
}

// columns tells how wide out is, so that the view can stay in its place; nil if
// out is no terminal.
func columns(out io.Writer) func() int {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	width := func() int {
		size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return 0
		}
		return int(size.Col)
	}
	if _, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err != nil {
		return nil
	}
	return width
}
