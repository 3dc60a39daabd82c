package main

import (
	"context"
	"fmt"
	"io"

	"waitroom/internal/inventory"
)

type seatsCmd struct {
	Free seatsFreeCmd `cmd:"" help:"Put seats on sale that the house held back: they go to whoever is at the door, then the line."`
}

type seatsFreeCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
	Seats int    `arg:"" help:"How many at most, the first of the hall first."`
}

func (c *seatsFreeCmd) Run(ctx context.Context, out io.Writer) error {
	if c.Seats < 1 {
		return refuse("%d seats: want 1 or more", c.Seats)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	freed, err := inventory.FreeHeld(ctx, pool, c.Event, c.Seats)
	if err != nil {
		return err
	}
	if freed == 0 {
		return refuse("event %s holds no seats back, or is closed", c.Event)
	}
	fmt.Fprintf(out, "%d seats of %s are on sale\n", freed, c.Event)
	return nil
}
