package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/webhooks"
)

// endpointSettings are flags; those that are not given change nothing.
type endpointSettings struct {
	URL         *string        `help:"Where it is told: https."`
	Kinds       *[]string      `sep:"," help:"Notices that it is told of, as order.paid,event.paused; empty: all."`
	MaxAttempts *int           `help:"Attempts of one delivery; then it is dead."`
	BackoffBase *time.Duration `help:"The nth attempt of a delivery begins max(min-interval, min(dispatch-gap, this × factor^(n−1))) after the end of the one before at the earliest."`
	DispatchGap *time.Duration `help:"The cap of that."`
	MinInterval *time.Duration `help:"The floor of that."`
	PerMinute   *int           `help:"Attempts that begin in a minute at most."`
	InFlight    *int           `help:"Attempts under way at most."`
	Loopback    bool           `name:"webhooks-loopback" env:"WEBHOOKS_LOOPBACK" help:"Plain http on this machine itself will do, for tests."`
}

func (f endpointSettings) on(s webhooks.Settings) webhooks.Settings {
	put(&s.URL, f.URL)
	put(&s.Kinds, f.Kinds)
	put(&s.MaxAttempts, f.MaxAttempts)
	put(&s.BackoffBase, f.BackoffBase)
	put(&s.DispatchGap, f.DispatchGap)
	put(&s.MinInterval, f.MinInterval)
	put(&s.PerMinute, f.PerMinute)
	put(&s.InFlight, f.InFlight)
	return s
}

func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

type endpointsAddCmd struct {
	database
	person
	printed
	endpointSettings
	Organiser string `arg:"" help:"Whose; ${house} is whoever runs this installation."`
	ID        string `help:"Its id; by default one is made."`
	Most      int    `name:"endpoints-most" env:"ENDPOINTS_MOST" default:"20" help:"Endpoints that an organiser may have."`
}

func (c *endpointsAddCmd) Run(ctx context.Context, out io.Writer) error {
	if err := organiser.CheckName(c.Organiser); err != nil {
		return refuse("%v", err)
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	done, err := webhooks.Add(ctx, pool, webhooks.Asker{Organiser: c.Organiser, By: c.name()},
		webhooks.Addition{ID: c.ID, Settings: c.on(webhooks.DefaultSettings("")), Most: c.Most, Loopback: c.Loopback})
	return tellChange(out, c.printed, c.ID, done, err)
}

// change runs a change of one endpoint and says what became of it.
func (c endpoint) change(ctx context.Context, out io.Writer, do func(*pgxpool.Pool) (webhooks.Changed, error)) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	done, err := do(pool)
	return tellChange(out, c.printed, c.Endpoint, done, err)
}

// tellChange prints a secret alone on a line, so that it can be piped on.
func tellChange(out io.Writer, p printed, id string, c webhooks.Changed, err error) error {
	if err := refused(id, c, err); err != nil {
		return err
	}
	f := endpointOf(c.Endpoint)
	f.Secret = c.Secret
	return p.print(out, f, func(w io.Writer) {
		if c.Secret != "" {
			fmt.Fprintf(w, "%s\n", c.Secret)
		}
		how := "changed"
		if c.Answer == webhooks.Unchanged {
			how = "as it was"
		}
		fmt.Fprintf(w, "endpoint %s of %s: %s, %s", c.Endpoint.ID, c.Endpoint.Organiser, how, state(c.Endpoint))
		if until := c.Endpoint.OldSecretUntil; until != nil {
			fmt.Fprintf(w, "; two secrets sign until %s", when(until))
		}
		fmt.Fprintln(w)
	})
}

// refused is why nothing was done.
func refused(id string, c webhooks.Changed, err error) error {
	var flaw *webhooks.Flaw
	switch {
	case errors.As(err, &flaw):
		return refuse("%v", flaw)
	case err != nil:
		return err
	}
	switch c.Answer {
	case webhooks.Done, webhooks.Unchanged:
		return nil
	case webhooks.NoEndpoint:
		return refuse("there is no endpoint %s", id)
	case webhooks.NoDelivery:
		return refuse("there is no delivery %s", id)
	case webhooks.IDTaken:
		return refuse("the id %s is, or was, an endpoint's", id)
	case webhooks.TooMany:
		return refuse("the organiser has as many endpoints as it may have; delete one that is not needed")
	case webhooks.Edited:
		return refuse("endpoint %s was changed meanwhile, it is at version %d", id, c.Endpoint.Version)
	case webhooks.Rotating:
		return refuse("the secret before the present one signs until %s; --replace makes another in the place of the present one, --overlap 0s has only the new one sign", when(c.Endpoint.OldSecretUntil))
	case webhooks.NotEnded:
		return refuse("delivery %s has not ended: it waits, or is being sent", id)
	}
	return refuse("%s: %s", id, c.Answer)
}

type endpointsEditCmd struct {
	endpoint
	person
	endpointSettings
	AtVersion int64 `help:"Only if it is at this version."`
}

func (c *endpointsEditCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, func(pool *pgxpool.Pool) (webhooks.Changed, error) {
		e, found, err := webhooks.Find(ctx, pool, "", c.Endpoint)
		if err != nil || !found {
			return webhooks.Changed{Answer: webhooks.NoEndpoint}, err
		}
		version := e.Version
		if c.AtVersion != 0 {
			version = c.AtVersion
		}
		return webhooks.Edit(ctx, pool, c.Endpoint, version, c.on(e.Settings), c.Loopback, webhooks.Asker{By: c.name()})
	})
}

type endpointsRotateCmd struct {
	endpoint
	person
	Overlap time.Duration `default:"24h" help:"How long the present secret signs too; 0s: it is known to somebody who should not know it."`
	Replace bool          `help:"Make another in the place of the present one, which got lost, and leave the old one its time."`
}

func (c *endpointsRotateCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, func(pool *pgxpool.Pool) (webhooks.Changed, error) {
		return webhooks.Rotate(ctx, pool, c.Endpoint, webhooks.Rotation{Overlap: c.Overlap, Replace: c.Replace}, webhooks.Asker{By: c.name()})
	})
}

type endpointsStateCmd struct {
	endpoint
	person
	State string `arg:"" help:"active, draining or disabled."`
}

func (c *endpointsStateCmd) Run(ctx context.Context, out io.Writer) error {
	return c.change(ctx, out, func(pool *pgxpool.Pool) (webhooks.Changed, error) {
		return webhooks.SetState(ctx, pool, c.Endpoint, webhooks.State(c.State), webhooks.Asker{By: c.name()})
	})
}

type endpointsDeleteCmd struct {
	endpoint
	person
}

func (c *endpointsDeleteCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	done, err := webhooks.Delete(ctx, pool, c.Endpoint, webhooks.Asker{By: c.name()})
	if err := refused(c.Endpoint, done, err); err != nil {
		return err
	}
	return c.print(out, map[string]any{"endpoint": c.Endpoint, "ended": done.Ended}, func(w io.Writer) {
		fmt.Fprintf(w, "endpoint %s: deleted; %d deliveries that waited are dead\n", c.Endpoint, done.Ended)
	})
}

type endpointsTestCmd struct {
	endpoint
	person
}

func (c *endpointsTestCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	done, err := webhooks.Test(ctx, pool, c.Endpoint, webhooks.Asker{By: c.name()})
	if err := refused(c.Endpoint, done, err); err != nil {
		return err
	}
	return tellScheduled(out, c.printed, done)
}

func tellScheduled(out io.Writer, p printed, c webhooks.Changed) error {
	return p.print(out, map[string]any{"endpoint": c.Endpoint.ID, "state": c.Endpoint.State, "delivery": c.Delivery}, func(w io.Writer) {
		fmt.Fprintf(w, "delivery %d is scheduled for %s, which is %s; waitctl endpoints show %d\n", c.Delivery, c.Endpoint.ID, c.Endpoint.State, c.Delivery)
	})
}
