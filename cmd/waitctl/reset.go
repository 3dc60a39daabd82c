package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"waitroom/internal/inventory"
)

type eventResetCmd struct {
	database
	Event         string    `arg:"" help:"The event's id."`
	Yes           bool      `help:"It is meant: everybody in the line loses their place, and passes that are out buy nothing."`
	OpensAt       time.Time `help:"Another opening, as RFC 3339. Default: as it is."`
	LobbyOpensAt  time.Time `help:"When the new lobby opens. Default: as it was; what is past is at once."`
	LobbyClosesAt time.Time `help:"When it closes; at least 15 s before the opening. Default: as it was, if that is still to come."`
	Beacon        string    `help:"The public value, of a time after the lobby has closed, that the new draw waits for."`
	WithOrders    bool      `help:"Also when orders of this line are pending or paid: they and their seats stay as they are."`
}

// Run begins an event anew, as before a sale that was rehearsed.
func (c *eventResetCmd) Run(ctx context.Context, out io.Writer) error {
	if !c.Yes {
		return refuse("everybody in the line of %s would lose their place; if it is meant, say so with --yes", c.Event)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	begun, err := inventory.Reset(ctx, pool, c.Event, inventory.Asker{}, inventory.Anew{
		OpensAt: c.OpensAt, LobbyOpensAt: c.LobbyOpensAt, LobbyClosesAt: c.LobbyClosesAt, Beacon: c.Beacon, Orders: c.WithOrders,
	})
	if err != nil {
		return err
	}
	if begun.Change != inventory.Changed {
		return refuse("%s", whyNotReset(c.Event, begun))
	}
	fmt.Fprintf(out, "event %s is begun anew: epoch %d\n", c.Event, begun.Epoch)
	if begun.Commit != "" {
		fmt.Fprintf(out, "the new draw is committed to: %s\n", begun.Commit)
	}
	if n := begun.Pending + begun.Paid; n > 0 {
		fmt.Fprintf(out, "%d orders of before, %d of them paid, stay as they are\n", n, begun.Paid)
	}
	return nil
}

func whyNotReset(event string, b inventory.Begun) string {
	switch b.Change {
	case inventory.NoSuchEvent:
		return "there is no event " + event
	case inventory.EventClosed:
		return "the sale of event " + event + " is closed for good"
	case inventory.OrdersStand:
		return fmt.Sprintf("%d orders of this line are pending and %d paid; cancel or refund them first, or keep them with --with-orders", b.Pending, b.Paid)
	case inventory.LobbyPast:
		return "the lobby has closed: say when the new one does with --lobby-closes-at, and with --opens-at when the sale begins"
	case inventory.OldBeacon:
		return "the beacon's value may be known before the new lobby closes: name a later one with --beacon"
	case inventory.OpensPast:
		return "the opening is past: with --opens-at say a time to come, or leave it out to open as it was"
	case inventory.TooSoon:
		return fmt.Sprintf("the opening is less than %s after the lobby closes: the draw comes between; see --opens-at", inventory.DrawLead)
	case inventory.NoDraw:
		return "event " + event + " has no draw"
	}
	return "it would close before it opens"
}
