package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"waitroom/internal/inventory"
)

// mostBudget bounds what one presale code is good for.
const mostBudget = 1_000_000

type presaleCmd struct {
	Import presaleImportCmd `cmd:"" help:"Add a presale's codes. What is kept of them is their hashes."`
	Show   presaleShowCmd   `cmd:"" help:"Show an event's presales, and what is left of their codes."`
}

type presaleImportCmd struct {
	database
	Event   string `arg:"" help:"The event's id."`
	Presale string `arg:"" help:"The presale's name, as in the event's settings."`
	File    string `short:"f" required:"" help:"One code a line, as for codes import."`
	Uses    int    `default:"1" help:"Orders that each code is good for, 1 to 1000000. Codes that the event has already become good for as many, but for no fewer than were used."`
	Seats   int    `help:"Seats in them, 1 to 1000000; left out: as many as so many orders may have."`
}

func (c *presaleImportCmd) Run(ctx context.Context, out io.Writer) error {
	if c.Uses < 1 || c.Uses > mostBudget || c.Seats < 0 || c.Seats > mostBudget {
		return refuse("%d orders and %d seats: want 1 to %d of each", c.Uses, c.Seats, mostBudget)
	}
	codes, err := readCodes(c.Event, c.File, c.Uses)
	if err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	event, err := eventNamed(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	seats := c.Seats
	if seats == 0 {
		seats = min(c.Uses*event.OrderLimit, mostBudget)
	}
	_, err = inventory.ImportPresaleCodes(ctx, pool, c.Event, inventory.PresaleCodes{Presale: c.Presale, Hashes: codes.Hashes, Uses: c.Uses, Seats: seats})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d codes read for %s: each for %d orders and %d seats\n", len(codes.Hashes), c.Presale, c.Uses, seats)
	named := func(p inventory.Presale) bool { return p.Name == c.Presale }
	if !slices.ContainsFunc(event.Presales, named) {
		fmt.Fprintf(out, "warning: event %s has no presale %s: its codes open nothing yet\n", c.Event, c.Presale)
	}
	return nil
}

type presaleShowCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
}

func (c *presaleShowCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	event, err := eventNamed(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	for _, p := range event.Presales {
		until := "for good"
		if p.Until != nil {
			until = "until " + p.Until.UTC().Format("2006-01-02T15:04:05Z")
		}
		fmt.Fprintf(out, "%s: tiers %q, sections %q, %s\n", p.Name, p.Tiers, p.Sections, until)
	}
	budgets, err := inventory.PresaleBudgets(ctx, pool, c.Event)
	for _, b := range budgets {
		fmt.Fprintf(out, "%s: %d codes; %d of %d orders and %d of %d seats used\n", b.Presale, b.Codes, b.Used, b.Uses, b.SeatsUsed, b.Seats)
	}
	return err
}
