package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"waitroom/internal/audience"
	"waitroom/internal/demo"
	"waitroom/internal/rehearsal"
)

type rehearseCmd struct {
	File    string `short:"f" help:"The event.yaml to rehearse; see examples/event.yaml." xor:"what"`
	Against string `help:"A demo's report: its sale is rehearsed, and both are shown side by side; 2 if they are further apart than 15 of 100." xor:"what" placeholder:"FILE"`

	Fans     int               `default:"20000" help:"People who come."`
	Arrive   audience.Arrivals `default:"0.6:-10m:0s,0.25:0s:20s,0.15:20s:2m" help:"When they come, since the opening: SHARE:FROM:UNTIL, and more."`
	Share    float64           `default:"0.4" help:"Of those let in, who want to buy."`
	Tickets  float64           `default:"2.6" help:"That each of these wants, in the mean."`
	Think    time.Duration     `default:"45s" help:"Mean time from the pass to the claim."`
	Browse   time.Duration     `default:"30s" help:"Mean time that those stay who buy nothing."`
	Pay      time.Duration     `default:"2m" help:"Mean time from the claim to the payment."`
	Absent   float64           `default:"0.3" help:"Of all, who do not come when they are called."`
	NeverPay float64           `default:"0.1" help:"Of the buyers, who never pay."`
	Leave    float64           `default:"0.05" help:"Of all, who give up while they wait."`
	Silent   float64           `default:"0.5" help:"Of those who buy nothing, who leave without a word."`
	Together float64           `default:"0" help:"Of the buyers, who take all their tickets or none."`
	Seed     uint64            `default:"1" help:"The same seed, the same people."`
	Replicas int               `default:"1" help:"Of the waiting room."`
	Rate     *float64          `help:"People let in a second, instead of the file's."`

	Orders float64 `default:"100" help:"Claims and payments that can be taken in a second: the least of the claimers' and the provider's."`
	Writes float64 `default:"4000" help:"Writes a second that the line's table takes: 4000 for a cold DynamoDB table on demand, 0 for the embedded store."`

	JSON string `help:"Where the report goes with each second of the sale." placeholder:"FILE"`
	HTML string `help:"Where a page with plots goes." placeholder:"FILE"`
}

// Run rehearses a sale. It touches no database and no store.
func (c *rehearseCmd) Run(ctx context.Context, out io.Writer) error {
	switch {
	case c.Against != "":
		return c.compare(ctx, out)
	case c.File == "":
		return refuse("name an event file with -f, or a demo's report with --against")
	}
	setting, err := c.setting()
	if err != nil {
		return err
	}
	report, err := rehearsal.Run(ctx, setting)
	if err != nil {
		return errRehearsal
	}
	advice, err := rehearsal.Advise(ctx, report, rehearsal.Capacity{Orders: c.Orders, Writes: c.Writes})
	if err != nil {
		return errRehearsal
	}
	if err := report.Fprint(out, advice); err != nil {
		return err
	}
	return c.write(report, advice)
}

// errRehearsal is a rehearsal that was ended by a signal: what it saw by then is no
// sale's.
var errRehearsal = interrupted{errors.New("ended before the rehearsal was over")}

func (c *rehearseCmd) setting() (rehearsal.Setting, error) {
	// To the second, for passes end on one: who begins in the middle of it plays another sale.
	file, hall, err := readEvent(c.File, time.Now().Truncate(time.Second))
	if err != nil {
		return rehearsal.Setting{}, err
	}
	if c.Rate != nil {
		file.Rate = *c.Rate
	}
	switch {
	case hall == nil:
		return rehearsal.Setting{}, refuse("%s names nothing to sell: neither a plan nor general admission", c.File)
	case !(file.Rate > 0 && file.Rate <= 10_000):
		return rehearsal.Setting{}, refuse("no rate is set that lets anybody in: rate in %s, or --rate, more than 0 and at most 10000", c.File)
	case c.Fans < 1 || c.Fans > 2_000_000:
		return rehearsal.Setting{}, refuse("--fans: from 1 to 2000000")
	case !(c.Tickets >= 1 && c.Tickets <= 100):
		return rehearsal.Setting{}, refuse("--tickets: from 1 to 100")
	case c.Replicas < 1 || c.Replicas > 1000:
		return rehearsal.Setting{}, refuse("--replicas: from 1 to 1000")
	case !(c.Orders > 0 && c.Orders <= 1_000_000):
		return rehearsal.Setting{}, refuse("--orders: more than 0, and at most 1000000")
	case !(c.Writes >= 0 && c.Writes <= 1_000_000_000):
		return rehearsal.Setting{}, refuse("--writes: from 0 to 1000000000")
	}
	for _, share := range []float64{c.Share, c.Absent, c.NeverPay, c.Leave, c.Silent, c.Together} {
		if !(share >= 0 && share <= 1) {
			return rehearsal.Setting{}, refuse("%g: a share is from 0 to 1", share)
		}
	}
	setting := rehearsal.Of(file, hall.FreeSeats(), audience.Audience{
		Fans: c.Fans, Arrive: c.Arrive, Share: c.Share, Seats: c.Tickets, Think: c.Think, Browse: c.Browse, Pay: c.Pay,
		Absent: c.Absent, NeverPay: c.NeverPay, Leave: c.Leave, Silent: c.Silent, Together: c.Together, Seed: c.Seed,
	})
	setting.House.Replicas = c.Replicas
	return setting, nil
}

func (c *rehearseCmd) write(r rehearsal.Report, advice []rehearsal.Advice) error {
	if c.JSON != "" {
		text, err := json.MarshalIndent(struct {
			rehearsal.Report
			Advice []rehearsal.Advice `json:"advice"`
		}{r, advice}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.JSON, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if c.HTML == "" {
		return nil
	}
	page, err := os.Create(c.HTML)
	if err != nil {
		return err
	}
	return errors.Join(r.HTML(page, advice), page.Close())
}

// compare rehearses the sale of a demo that was run.
func (c *rehearseCmd) compare(ctx context.Context, out io.Writer) error {
	text, err := os.ReadFile(c.Against)
	if err != nil {
		return err
	}
	var real demo.Report
	if err := json.Unmarshal(text, &real); err != nil {
		return refuse("%s is no demo's report: %v", c.Against, err)
	}
	if real.Setting.Seats == 0 {
		return refuse("%s does not say what was sold to whom: it is older than this program", c.Against)
	}
	r, err := rehearsal.Run(ctx, real.Setting)
	if err != nil {
		return errRehearsal
	}
	if err := c.write(r, nil); err != nil {
		return err
	}
	ok, err := r.Beside(out, rehearsal.Watched{
		Sold: int(real.Sold), Seconds: real.Seconds, LetIn: int(real.LetIn), WaitP50: real.WaitP50, WaitP95: real.WaitP95,
		FoundNothing: int(real.FoundNothing), Waves: real.Waves, Samples: real.Samples,
	})
	if err != nil {
		return err
	}
	if !ok {
		return refuse("the rehearsal is further from the sale than %.0f of 100", 100*rehearsal.Apart)
	}
	fmt.Fprintf(out, "\nthe times agree within %.0f of 100\n", 100*rehearsal.Apart)
	return nil
}
