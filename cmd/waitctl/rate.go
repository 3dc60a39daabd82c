package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
)

type rateCmd struct {
	Set rateSetCmd `cmd:"" help:"Set the rate; it is in force within a second."`
}

type rateSetCmd struct {
	control
	Rate float64 `arg:"" help:"People a second, more than 0 and at most 10000; 0.4 lets one in every 2.5 s."`
}

func (c *rateSetCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, fmt.Sprintf("rate %g/s", c.Rate), func(pool *pgxpool.Pool) (inventory.Change, error) {
		return inventory.SetRate(ctx, pool, c.Event, c.Rate)
	})
}

func rateBounds() string {
	return fmt.Sprintf("a rate is more than 0 and at most %d people a second", inventory.FastestRate)
}

type pauseCmd struct{ control }

func (c *pauseCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, "paused", func(pool *pgxpool.Pool) (inventory.Change, error) {
		return inventory.Pause(ctx, pool, c.Event)
	})
}

type resumeCmd struct{ control }

func (c *resumeCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, "running", func(pool *pgxpool.Pool) (inventory.Change, error) {
		return inventory.Resume(ctx, pool, c.Event)
	})
}

type closeCmd struct{ control }

func (c *closeCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, "closed", func(pool *pgxpool.Pool) (inventory.Change, error) {
		return inventory.CloseSale(ctx, pool, c.Event)
	})
}

// control is what every command about one event's control takes.
type control struct {
	database
	Event string `arg:"" help:"The event's id."`
}

// change makes one change and tells what became of it. A wish that is fulfilled
// already is no failure: scripts may ask twice.
func (c control) change(ctx context.Context, out io.Writer, wish string, make func(*pgxpool.Pool) (inventory.Change, error)) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	change, err := make(pool)
	if err != nil {
		return err
	}
	switch change {
	case inventory.Changed:
		fmt.Fprintf(out, "event %s: %s\n", c.Event, wish)
	case inventory.Unchanged:
		fmt.Fprintf(out, "event %s: %s, as it was\n", c.Event, wish)
	case inventory.EventClosed:
		return refuse("the sale of event %s is closed for good", c.Event)
	case inventory.Senseless:
		return refuse("%s", rateBounds())
	default:
		return refuse("there is no event %s", c.Event)
	}
	return nil
}
