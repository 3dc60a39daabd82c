package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"waitroom/internal/orders"
	"waitroom/internal/organiser"
)

type ordersCmd struct {
	Extend ordersExtendCmd `cmd:"" help:"Give the pending orders of an event more time to pay, while the payment provider is down. Each order gets it once in its life."`
}

type ordersExtendCmd struct {
	database
	Event  string        `required:"" help:"The event's id."`
	By     time.Duration `required:"" help:"How much more time: 1s to 1h."`
	Reason string        `help:"Why; kept in the record."`
}

func (c *ordersExtendCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	x, err := orders.Extend(ctx, pool, orders.Extension{
		Event: c.Event, Organiser: organiser.House, Attempt: "waitctl-" + rand.Text(), By: "(waitctl)",
		ExtendBy: c.By, Reason: c.Reason,
	})
	if err != nil {
		return fmt.Errorf("%d orders were extended, and stay so; the same again goes on with the others: %w", x.Orders, err)
	}
	switch x.Extending {
	case orders.OrdersExtended:
		fmt.Fprintf(out, "event %s: %d pending orders have %s more to pay\n", c.Event, x.Orders, c.By)
		return nil
	case orders.ExtendSenseless:
		return refuse("--by %s: want %s to %s, and a reason of at most 500 characters", c.By, orders.ShortestExtension, orders.LongestExtension)
	}
	return refuse("there is no event %s", c.Event)
}
