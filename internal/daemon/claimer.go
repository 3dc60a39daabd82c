package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"waitroom/internal/inventory"
	"waitroom/internal/pg"
	"waitroom/internal/process"
)

// ClaimerConfig are the settings of cmd/claimer.
type ClaimerConfig struct {
	Common
	NATSURL  string        `env:"NATS_URL" required:"" help:"Where attempts are asked and answered. While it is down nothing is claimed, and soon nobody is let in."`
	Queue    int           `env:"CLAIM_QUEUE" default:"2048" help:"Attempts that may wait for their claim; one more is answered busy. More: longer waits before anybody hears so."`
	Workers  int           `env:"CLAIM_WORKERS" default:"4" help:"Batches under way at once, each on a connection of its own. More: smaller batches, and Postgres does more for each claim."`
	Target   time.Duration `env:"CLAIM_TARGET" default:"500ms" help:"The shortest wait for a claim that an interval may have; above it the queue stands, and who has waited for twice as long is answered busy. 0: nobody is. Too low: people are turned away from a burst that would have been worked off."`
	Interval time.Duration `env:"CLAIM_INTERVAL" default:"1s" help:"How long the queue has to stand before anybody is turned away for it. Too long: everybody waits until their own time is over."`
	Batch    int           `env:"CLAIM_BATCH" default:"64" help:"Attempts in a batch at most. More: their locks are held longer."`
}

func (c ClaimerConfig) sizes() inventory.Sizes {
	return inventory.Sizes{
		Queue: c.Queue, Workers: c.Workers, Batch: c.Batch,
		Patience: inventory.Patience{Target: c.Target, Interval: c.Interval},
	}
}

// Validate refuses what could not work.
func (c ClaimerConfig) Validate() error {
	return errors.Join(c.sizes().Validate(), c.Common.validate())
}

// Claimer claims seats for attempts that come over NATS. Any number may run:
// each attempt is answered by one of them, and all of them by the same rows.
func Claimer(ctx context.Context, c ClaimerConfig) error {
	return process.Run(ctx, "claimer", c.Ops, c.logger("claimer"), c.setup)
}

func (c ClaimerConfig) setup(ctx context.Context, p *process.Process) error {
	// One connection a worker, one for the reports, one to resolve on.
	pool, err := c.open(ctx, p, "claims", pg.Limits{Conns: c.Workers + 2})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, p, pool, pooled("claims", pool)); err != nil {
		return err
	}
	nc, err := connect(p, c.NATSURL)
	if err != nil {
		return err
	}
	claimer := inventory.NewClaimer(pool, c.sizes(), p.Log, p.Metrics)
	name := replicaName("claimer")
	p.Go("claims", func(context.Context) error { claimer.Run(p.Work()); return nil })
	p.Every(time.Second, "report", func(ctx context.Context) error { return reports(ctx, nc, claimer, name) })
	p.OnClose("report", func(ctx context.Context) error { return claimer.Retire(ctx, name) })
	stop, err := inventory.Serve(nc, claimer, name)
	if err != nil {
		claimer.Stop()
		return err
	}
	p.OnStop("claims", func(ctx context.Context) error {
		defer claimer.Stop()
		return stop(ctx)
	})
	c.listening("ops", p.OpsAddr())
	return nil
}

// reports says that the claimer claims, as long as it can be asked: one that
// NATS does not reach is as good as dead, and with nobody to ask nobody is let in.
func reports(ctx context.Context, nc *nats.Conn, claimer *inventory.Claimer, name string) error {
	if !nc.IsConnected() {
		return errors.New("not connected to NATS: nothing is claimed here")
	}
	there, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := nc.FlushWithContext(there); err != nil {
		return fmt.Errorf("NATS does not answer: nothing is claimed here: %w", err)
	}
	return claimer.Report(ctx, name)
}

// replicaName is another for each start: two never write one report.
func replicaName(process string) string {
	host, err := os.Hostname()
	if err != nil {
		host = process
	}
	return host + "/" + uuid.NewString()[:8]
}
