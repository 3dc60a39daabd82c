package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"waitroom/internal/support"
)

type humanCmd struct {
	List      humanListCmd      `cmd:"" help:"What is open, the newest first; or what was resolved."`
	Show      humanShowCmd      `cmd:"" help:"An item, what can be done about it, and its history."`
	Take      humanTakeCmd      `cmd:"" help:"Make it yours."`
	Note      humanNoteCmd      `cmd:"" help:"Add to its history."`
	Push      humanPushCmd      `cmd:"" help:"Have its refund tried again, through the same outlet."`
	Decide    humanDecideCmd    `cmd:"" help:"Say what became of its refund: refunded (with the provider's name of it) or not."`
	Renew     humanRenewCmd     `cmd:"" help:"Begin another refund for one that definitely did not go back."`
	LookAgain humanLookAgainCmd `cmd:"" help:"Have the provider asked anew what became of a payment of which nobody could say."`
	GiveBack  humanGiveBackCmd  `cmd:"" help:"Give back the seats of an order whose whole payment was refunded by hand at the provider: they are on sale again, and their codes are revoked."`
	Resolve   humanResolveCmd   `cmd:"" help:"Nothing more is to be done about it. It stays in the list of the resolved."`
	Reopen    humanReopenCmd    `cmd:"" help:"There is more to do about one that was resolved, such as beginning its refund anew."`
}

type humanListCmd struct {
	database
	Resolved bool  `help:"Those that were resolved."`
	Before   int64 `help:"Only items before this one."`
	Most     int   `default:"100" help:"How many."`
}

func (c *humanListCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := support.Items(ctx, pool, support.Which{Resolved: c.Resolved, Before: c.Before, Most: c.Most})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ITEM\tKIND\tOPENED\tOWNER\tREFUND IS\tAMOUNT\tABOUT")
	for _, i := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d %s\t%s\n", i.ID, i.Kind, i.OpenedAt.UTC().Format(time.RFC3339), i.Owner, i.Status,
			i.AmountMinor, i.Currency, i.Subject)
	}
	return w.Flush()
}

// item names one.
type item struct {
	database
	Item int64 `arg:"" help:"Its number."`
}

type humanShowCmd struct{ item }

func (c *humanShowCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	i, past, found, err := support.FindItem(ctx, pool, "", c.Item)
	if err != nil {
		return err
	}
	if !found {
		return refuse("there is no item %d", c.Item)
	}
	fmt.Fprintf(out, "%d %s, about %s: %s\n", i.ID, i.Kind, i.Subject, i.Detail)
	if i.Operation != "" {
		fmt.Fprintf(out, "refund %s: %s, %d %s\n", i.Operation, i.Status, i.AmountMinor, i.Currency)
	}
	if i.ByHandMinor > 0 {
		fmt.Fprintf(out, "%d %s of the payment went back by hand, for a line that nobody knows: it may be this one\n", i.ByHandMinor, i.Currency)
	}
	fmt.Fprintf(out, "owner %q; it can be: %v\n", i.Owner, i.Can())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range past {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.At.UTC().Format(time.RFC3339), p.By, p.Did, p.Note)
	}
	return w.Flush()
}

// acting is what every deed takes.
type acting struct {
	item
	person
}

// because is what every deed but taking takes.
type because struct {
	acting
	Why string `required:"" help:"Kept in its history."`
}

func (c acting) do(ctx context.Context, out io.Writer, d support.Deed) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	d.Item, d.By = c.Item, c.name()
	v, err := support.Act(ctx, pool, d)
	switch {
	case err != nil:
		return err
	case v == support.NoSuchItem:
		return refuse("there is no item %d", c.Item)
	case v != support.Done:
		return refuse("item %d: %s was not done: %s", c.Item, d.Do, v)
	}
	fmt.Fprintf(out, "item %d: %s\n", c.Item, d.Do)
	return nil
}

type humanTakeCmd struct{ acting }

func (c *humanTakeCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.Take})
}

type humanNoteCmd struct{ because }

func (c *humanNoteCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.Note, Why: c.Why})
}

type humanPushCmd struct{ because }

func (c *humanPushCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.Push, Why: c.Why})
}

type humanRenewCmd struct {
	because
	AllTheSame bool `help:"Also where a part of the payment was refunded by hand: you have seen that it was not this."`
}

func (c *humanRenewCmd) Run(ctx context.Context, out io.Writer) error {
	do := support.Renew
	if c.AllTheSame {
		do = support.RenewBeside
	}
	return c.do(ctx, out, support.Deed{Do: do, Why: c.Why})
}

type humanLookAgainCmd struct{ because }

func (c *humanLookAgainCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.LookAgain, Why: c.Why})
}

type humanGiveBackCmd struct{ because }

func (c *humanGiveBackCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.GiveBack, Why: c.Why})
}

type humanResolveCmd struct{ because }

func (c *humanResolveCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.Resolve, Why: c.Why})
}

type humanReopenCmd struct{ because }

func (c *humanReopenCmd) Run(ctx context.Context, out io.Writer) error {
	return c.do(ctx, out, support.Deed{Do: support.Reopen, Why: c.Why})
}

type humanDecideCmd struct {
	because
	As     string `required:"" help:"refunded, or not_refunded."`
	Refund string `help:"Of refunded: the provider's name of the refund that was found."`
}

func (c *humanDecideCmd) Run(ctx context.Context, out io.Writer) error {
	do := support.Do(c.As)
	if !slices.Contains([]support.Do{support.Refunded, support.NotRefunded}, do) {
		return refuse("--as %s: refunded or not_refunded", c.As)
	}
	return c.do(ctx, out, support.Deed{Do: do, Why: c.Why, Refund: c.Refund})
}
