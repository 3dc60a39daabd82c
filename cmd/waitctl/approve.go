package main

import (
	"context"
	"fmt"
	"io"
	"os/user"
	"text/tabwriter"
	"time"

	"waitroom/internal/daemon"
	"waitroom/internal/support"
)

// person is who acts, for the record.
type person struct {
	By string `help:"Who says so; by default whoever is signed in here."`
}

func (p person) name() string {
	by := p.By
	if u, err := user.Current(); by == "" && err == nil {
		by = u.Username
	}
	return by + " (waitctl)"
}

type refundsApprovalsCmd struct {
	database
	Decided bool  `help:"Those that were decided."`
	After   int64 `help:"Only what is listed after this one."`
	Most    int   `default:"100" help:"How many."`
}

func (c *refundsApprovalsCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := support.Approvals(ctx, pool, support.WhichApprovals{Decided: c.Decided, After: c.After, Most: c.Most})
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "APPROVAL\tEVENT\tORDER\tLINE\tAMOUNT\tWHY\tASKED BY\tASKED\tDECISION")
	for _, a := range all {
		decision := "waits"
		if a.DecidedAt != nil {
			decision = fmt.Sprintf("%s by %s, %s", a.Decision, a.DecidedBy, a.DecidedAt.UTC().Format(time.RFC3339))
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d %s\t%s\t%s\t%s\t%s\n", a.ID, a.Event, a.Order, a.Line, a.AmountMinor, a.Currency,
			a.Cause, a.AskedBy, a.AskedAt.UTC().Format(time.RFC3339), decision)
	}
	return w.Flush()
}

type refundsApproveCmd struct{ deciding }

func (c *refundsApproveCmd) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, true)
}

type refundsRefuseCmd struct{ deciding }

func (c *refundsRefuseCmd) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, false)
}

type deciding struct {
	database
	person
	Approval int64  `arg:"" help:"Its number, as refunds approvals lists it."`
	Note     string `help:"Kept with the decision."`
}

func (c deciding) decide(ctx context.Context, out io.Writer, yes bool) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	// The request's bytes are made of what was written down as it was asked.
	is, a, err := daemon.Asking{}.SupportDesk().Decide(ctx, pool, support.Deciding{Approval: c.Approval, By: c.name(), Yes: yes, Note: c.Note})
	switch {
	case err != nil:
		return err
	case is == support.NoSuchApproval:
		return refuse("there is no approval %d", c.Approval)
	case is == support.WasDecided:
		return refuse("approval %d was decided already", c.Approval)
	case is == support.OwnRequest:
		return refuse("nobody approves what they asked for")
	case is == support.ChangedSince:
		return refuse("approval %d is not what was asked any more; it has to be asked anew", c.Approval)
	case is == support.Declined:
		fmt.Fprintf(out, "approval %d: refused\n", c.Approval)
	default:
		fmt.Fprintf(out, "approval %d: approved; %s is %s\n", c.Approval, a.Standing.ID, a.Standing.Status)
	}
	return nil
}

type refundsLimitCmd struct {
	database
	person
	Event string `arg:"" help:"The event's id."`
	Minor int64  `arg:"" help:"Minor units of all that is asked of one order; 0: a person is always asked; -1: as the waitroom process was told."`
}

func (c *refundsLimitCmd) Run(ctx context.Context, out io.Writer) error {
	limit := &c.Minor
	switch {
	case c.Minor == -1:
		limit = nil
	case c.Minor < 0:
		return refuse("%d minor units: want 0 or more, or -1", c.Minor)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	found, err := support.SetLimit(ctx, pool, c.Event, limit, c.name())
	switch {
	case err != nil:
		return err
	case !found:
		return refuse("there is no event %s", c.Event)
	case limit == nil:
		fmt.Fprintf(out, "%s: as the process was told\n", c.Event)
	default:
		fmt.Fprintf(out, "%s: a person is asked above %d minor units of an order\n", c.Event, c.Minor)
	}
	return nil
}
