package main

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"

	"waitroom/internal/inventory"
)

type seatsCmd struct {
	Free      seatsFreeCmd      `cmd:"" help:"Put seats on sale that the house held back: they go to whoever is at the door, then the line."`
	Withdraw  seatsWithdrawCmd  `cmd:"" help:"Take seats off sale: broken ones, or without a view. What is in a cart is off once it comes back."`
	Withdrawn seatsWithdrawnCmd `cmd:"" help:"List the seats that are withdrawn, as they stand now."`
	Restore   seatsRestoreCmd   `cmd:"" help:"Put withdrawn seats back on sale."`
	Move      seatsMoveCmd      `cmd:"" help:"Exchange a seat of a paid order for another that costs as much or more, at the same price."`
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

type seatsWithdrawCmd struct {
	database
	Event string   `arg:"" help:"The event's id."`
	Seats []string `arg:"" help:"Guids of the seats."`
}

func (c *seatsWithdrawCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	w, err := inventory.Withdraw(ctx, pool, inventory.Asker{}, c.Event, c.Seats)
	if err != nil {
		return err
	}
	tellWithdrawn(out, w)
	if len(w.Off)+len(w.InCart) == 0 {
		return refuse("nothing of %s was withdrawn", c.Event)
	}
	return nil
}

func tellWithdrawn(out io.Writer, w inventory.Withdrawal) {
	for _, line := range []struct {
		what  string
		seats []string
	}{
		{"off sale", w.Off},
		{"in a cart, off once it comes back", w.InCart},
		{"sold: waitctl seats move", w.Sold},
		{"the hall has no such seat", w.Unknown},
	} {
		for _, s := range line.seats {
			fmt.Fprintf(out, "%s\t%s\n", s, line.what)
		}
	}
}

type seatsWithdrawnCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
}

func (c *seatsWithdrawnCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	w, err := inventory.Withdrawn(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	tellWithdrawn(out, w)
	return nil
}

type seatsRestoreCmd struct {
	database
	Event string   `arg:"" help:"The event's id."`
	Seats []string `arg:"" help:"Guids of the seats."`
}

func (c *seatsRestoreCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	back, err := inventory.Restore(ctx, pool, inventory.Asker{}, c.Event, c.Seats)
	if err != nil {
		return err
	}
	if len(back) == 0 {
		return refuse("none of these seats of %s is withdrawn, or the sale is closed", c.Event)
	}
	fmt.Fprintf(out, "%d seats of %s are on sale\n", len(back), c.Event)
	return nil
}

type seatsMoveCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
	Order string `arg:"" help:"A paid order's id."`
	From  string `arg:"" help:"Guid of its seat."`
	To    string `arg:"" help:"Guid of another that nobody has and that costs as much or more."`
}

func (c *seatsMoveCmd) Run(ctx context.Context, out io.Writer) error {
	order, err := uuid.Parse(c.Order)
	if err != nil {
		return refuse("%s is no order's id", c.Order)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	m, err := inventory.MoveSeat(ctx, pool, inventory.Asker{By: "(waitctl)"}, c.Event, order, c.From, c.To)
	if err != nil {
		return err
	}
	if m.Moving != inventory.SeatMoved {
		return refuse("nothing was changed: %s", m.Moving)
	}
	fmt.Fprintf(out, "order %s has %s instead of %s; it is version %d\n", order, c.To, c.From, m.Version)
	return nil
}
