package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"waitroom/internal/pg"
	"waitroom/internal/refunds"
)

type refundsCmd struct {
	Forecast refundsForecastCmd `cmd:"" help:"When the backlog clears, by what closed in the last minutes."`
	List     refundsListCmd     `cmd:"" help:"Operations without an end, the oldest first; or those of one status."`
	Show     refundsShowCmd     `cmd:"" help:"An operation, its calls, and what persons did."`
	Push     refundsPushCmd     `cmd:"" help:"Have an operation that is a person's tried again, through the same outlet: one look, and one send of the same if it finds nothing."`

	Approvals refundsApprovalsCmd `cmd:"" help:"Refunds that wait for a person's word, or that were decided."`
	Approve   refundsApproveCmd   `cmd:"" help:"Say yes to a refund that somebody else asked for; it is sent by the outlet."`
	Refuse    refundsRefuseCmd    `cmd:"" help:"Say no to a refund that somebody asked for."`
	Limit     refundsLimitCmd     `cmd:"" help:"Set what may be asked to go back of one order of an event without a person's word."`
}

type refundsForecastCmd struct {
	database
	CallsApart time.Duration `default:"200ms" env:"REFUND_CALLS_APART" help:"As the refunder has it."`
}

func (c *refundsForecastCmd) Run(ctx context.Context, out io.Writer) error {
	if c.CallsApart <= 0 {
		return refuse("--calls-apart %s: want more than 0", c.CallsApart)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	b, err := refunds.ReadBacklog(ctx, pool, 1/c.CallsApart.Seconds())
	if err != nil {
		return err
	}
	tellForecast(out, b.Forecast())
	return nil
}

func tellForecast(out io.Writer, f refunds.Forecast) {
	if f.Waiting > 0 {
		fmt.Fprintf(out, "%d wait, %d of them for their turn; the oldest was accepted %s ago\n", f.Waiting, f.Due, f.Oldest.Round(time.Second))
	}
	fmt.Fprintf(out, "in the last %s: %.2f came and %.2f calls were made a second\n", f.Window.Round(time.Second), f.ArrivalsPerS, f.StartsPerS)
	how := "by the quota, for it had nothing to do for long"
	switch {
	case f.Measured:
		how = "as measured"
	case f.Away:
		how = "by the quota, for nobody has the outlet"
	case f.Due > 0:
		how = "by the quota, for its work has just begun"
	}
	fmt.Fprintf(out, "%.2f closures a second, %s; %.2f calls a refund\n", f.ClosuresPerS, how, f.PerRefund)
	switch {
	case f.Waiting == 0:
		fmt.Fprintln(out, "nothing waits")
	case f.Endless:
		fmt.Fprintln(out, "the backlog does not clear: no more closes than comes in")
	default:
		fmt.Fprintf(out, "the backlog clears in %s\n", f.Clears.Round(time.Second))
	}
	if f.Behind {
		fmt.Fprintf(out, "BEHIND: what comes now would not have its end within %s; new requests are refused, what is owed never is\n", refunds.Promise)
	}
}

type refundsListCmd struct {
	database
	Status string `enum:",queued,submitted,unknown,pending,confirmed,rejected,manual,failed_later" default:"" help:"Only these: ${enum}."`
	Most   int    `default:"100" help:"How many."`
}

func (c *refundsListCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := refunds.Open(ctx, pool, refunds.Status(c.Status), c.Most)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "OPERATION\tSTATUS\tAMOUNT\tREASON\tACCEPTED\tSENDS\tLOOKS\tLAST CALL")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%d %s\t%s\t%s\t%d\t%d\t%s\n", s.ID, s.Status, s.AmountMinor, s.Currency, s.Reason,
			s.AcceptedAt.UTC().Format(time.RFC3339), s.Sends, s.Looks, s.Outcome)
	}
	return w.Flush()
}

type refundsShowCmd struct {
	database
	Operation string `arg:"" help:"Its id."`
}

func (c *refundsShowCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := refunds.Newest(ctx, pool, c.Operation)
	if errors.Is(err, pgx.ErrNoRows) {
		return refuse("there is no operation %s", c.Operation)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s, %d %s of order %s (%s); the provider's refund: %q; %d sends, %d looks\n",
		s.ID, s.Status, s.AmountMinor, s.Currency, s.Order, s.Reason, s.Refund, s.Sends, s.Looks)
	if s.ID != c.Operation {
		fmt.Fprintf(out, "it follows %s\n", s.Parent)
	}
	past, err := refunds.History(ctx, pool, c.Operation)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range past {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.At.UTC().Format("2006-01-02T15:04:05.000Z"), p.By, p.What)
	}
	return w.Flush()
}

type refundsPushCmd struct {
	database
	Operation string `arg:"" help:"Its id."`
	Why       string `required:"" help:"Kept in its history."`
	By        string `help:"Who says so; by default whoever is signed in here."`
}

func (c *refundsPushCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	by := c.By
	if u, err := user.Current(); by == "" && err == nil {
		by = u.Username
	}
	var v refunds.Verdict
	err = pg.InTx(ctx, pool, func(tx pgx.Tx) error {
		v, err = refunds.Push(ctx, tx, c.Operation, by+" (waitctl)", c.Why)
		return err
	})
	switch {
	case err != nil:
		return err
	case v == refunds.NoSuch:
		return refuse("there is no operation %s", c.Operation)
	case v == refunds.NotTheirs:
		return refuse("%s is not a person's: only what is manual is pushed", c.Operation)
	case v == refunds.BackAlready:
		return refuse("%s is not pushed: the provider has a refund of the same money under another operation's name", c.Operation)
	case v != refunds.Done:
		return refuse("%s is not pushed: %s", c.Operation, v)
	}
	fmt.Fprintf(out, "%s: its turn comes\n", c.Operation)
	return nil
}
