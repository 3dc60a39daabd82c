package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/organiser"
	"waitroom/internal/webhooks"
)

type endpointsCmd struct {
	List       endpointsListCmd       `cmd:"" help:"Endpoints and how they do."`
	Add        endpointsAddCmd        `cmd:"" help:"Add one and print its secret, once."`
	Edit       endpointsEditCmd       `cmd:"" help:"Change settings of one; what is left out stays."`
	Rotate     endpointsRotateCmd     `cmd:"" help:"Make another secret and print it, once; the present one signs too for a while."`
	State      endpointsStateCmd      `cmd:"" help:"Make one active, draining or disabled."`
	Delete     endpointsDeleteCmd     `cmd:"" help:"End one for good; what waits for it is dead."`
	Test       endpointsTestCmd       `cmd:"" help:"Send it an endpoint.test; show says what was answered."`
	Health     endpointsHealthCmd     `cmd:"" help:"How one does, or all: what waits, since when, what was answered last."`
	History    endpointsHistoryCmd    `cmd:"" help:"Who changed what of one, also of a deleted one; the newest first."`
	Deliveries endpointsDeliveriesCmd `cmd:"" help:"What was, is and will be sent; the newest first."`
	Show       endpointsShowCmd       `cmd:"" help:"A delivery: its body as it is sent, and what each attempt was answered."`
	Replay     endpointsReplayCmd     `cmd:"" help:"Begin deliveries anew that ended: one, or all of an endpoint since a time."`
}

// printed is how a command says what it found: for people, or as JSON.
type printed struct {
	JSON bool `help:"As JSON."`
}

func (p printed) print(out io.Writer, v any, people func(io.Writer)) error {
	if p.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	people(w)
	return w.Flush()
}

// endpointFile is an endpoint as commands print it. Its secret is not in it.
type endpointFile struct {
	ID             string          `json:"id"`
	Organiser      string          `json:"organiser"`
	URL            string          `json:"url"`
	Kinds          []string        `json:"kinds"`
	MaxAttempts    int             `json:"max_attempts"`
	BackoffBase    float64         `json:"backoff_base_s"`
	DispatchGap    float64         `json:"dispatch_gap_s"`
	MinInterval    float64         `json:"min_interval_s"`
	PerMinute      int             `json:"per_minute"`
	InFlight       int             `json:"in_flight"`
	State          webhooks.State  `json:"state"`
	Reason         string          `json:"reason"`
	Version        int64           `json:"version"`
	OldSecretUntil *time.Time      `json:"old_secret_until"`
	CreatedAt      time.Time       `json:"created_at"`
	Health         *endpointHealth `json:"health,omitempty"`
	Secret         string          `json:"secret,omitempty"`
}

type endpointHealth struct {
	Failures      int        `json:"failures"`
	FailingSince  *time.Time `json:"failing_since"`
	Waiting       int64      `json:"waiting"`
	Sending       int64      `json:"sending"`
	Dead          int64      `json:"dead"`
	OldestWaiting *time.Time `json:"oldest_waiting_at"`
	NextStart     *time.Time `json:"next_start_at"`
	LastSuccess   *time.Time `json:"last_success_at"`
	LastFailure   *time.Time `json:"last_failure_at"`
	LastStatus    int        `json:"last_failure_status,omitempty"`
	LastError     string     `json:"last_failure_error,omitempty"`
}

func endpointOf(e webhooks.Endpoint) endpointFile {
	return endpointFile{
		ID: e.ID, Organiser: e.Organiser, URL: e.URL, Kinds: e.Kinds, MaxAttempts: e.MaxAttempts, BackoffBase: e.BackoffBase.Seconds(),
		DispatchGap: e.DispatchGap.Seconds(), MinInterval: e.MinInterval.Seconds(), PerMinute: e.PerMinute, InFlight: e.InFlight,
		State: e.State, Reason: e.Reason, Version: e.Version, OldSecretUntil: e.OldSecretUntil, CreatedAt: e.CreatedAt.UTC(),
	}
}

func healthOf(h webhooks.Health) endpointFile {
	f := endpointOf(h.Endpoint)
	f.Health = &endpointHealth{
		Failures: h.Failures, FailingSince: h.FailingSince, Waiting: h.Waiting, Sending: h.Sending, Dead: h.Dead,
		OldestWaiting: h.OldestWaiting, NextStart: h.NextStartAt, LastSuccess: h.LastSuccess,
	}
	if x := h.LastFailure; x != nil {
		f.Health.LastFailure, f.Health.LastStatus, f.Health.LastError = &x.At, x.Status, x.Error
	}
	return f
}

func when(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

type endpointsListCmd struct {
	database
	printed
	Organiser string `arg:"" optional:"" help:"Whose; everybody's if it is left out."`
}

func (c *endpointsListCmd) Run(ctx context.Context, out io.Writer) error {
	return tellHealth(ctx, out, c.database, c.printed, c.Organiser, "")
}

// endpoint names one.
type endpoint struct {
	database
	printed
	Endpoint string `arg:"" help:"Its id."`
}

type endpointsHealthCmd struct {
	database
	printed
	Endpoint string `arg:"" optional:"" help:"Its id; all if it is left out."`
}

func (c *endpointsHealthCmd) Run(ctx context.Context, out io.Writer) error {
	return tellHealth(ctx, out, c.database, c.printed, "", c.Endpoint)
}

func tellHealth(ctx context.Context, out io.Writer, d database, p printed, organiser, id string) error {
	pool, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := webhooks.HealthOf(ctx, pool, organiser, id)
	if err != nil {
		return err
	}
	if id != "" && len(all) == 0 {
		return refuse("there is no endpoint %s", id)
	}
	files := []endpointFile{}
	for _, h := range all {
		files = append(files, healthOf(h))
	}
	return p.print(out, files, func(w io.Writer) {
		fmt.Fprintln(w, "ENDPOINT\tORGANISER\tSTATE\tFAILURES\tWAITING\tOLDEST\tSENDING\tDEAD\tLAST SUCCESS\tLAST FAILURE\tURL")
		for _, h := range all {
			failed := "-"
			if f := h.LastFailure; f != nil {
				failed = strings.TrimSpace(fmt.Sprintf("%s %d %s", when(&f.At), f.Status, f.Error))
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%d\t%d\t%s\t%s\t%s\n", h.ID, h.Organiser, state(h.Endpoint), h.Failures,
				h.Waiting, when(h.OldestWaiting), h.Sending, h.Dead, when(h.LastSuccess), failed, h.URL)
		}
	})
}

func state(e webhooks.Endpoint) string {
	if e.Reason == "" {
		return string(e.State)
	}
	return fmt.Sprintf("%s (%s)", e.State, e.Reason)
}

// settings are flags; those that are not given change nothing.
type endpointSettings struct {
	URL         *string        `help:"Where it is told: https."`
	Kinds       *[]string      `sep:"," help:"Notices that it is told of, as order.paid,event.paused; empty: all."`
	MaxAttempts *int           `help:"Attempts of one delivery; then it is dead."`
	BackoffBase *time.Duration `help:"After the nth attempt that failed the next begins max(min-interval, min(dispatch-gap, this × factor^(n−1))) later at the earliest."`
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
		put(&version, given(c.AtVersion))
		return webhooks.Edit(ctx, pool, c.Endpoint, version, c.on(e.Settings), c.Loopback, webhooks.Asker{By: c.name()})
	})
}

func given(version int64) *int64 {
	if version == 0 {
		return nil
	}
	return &version
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

type endpointsHistoryCmd struct {
	endpoint
	Before int64 `help:"Only changes before this one."`
	Most   int   `default:"100" help:"How many."`
}

func (c *endpointsHistoryCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, found, err := webhooks.History(ctx, pool, "", c.Endpoint, c.Before, c.Most)
	if err != nil {
		return err
	}
	if !found {
		return refuse("there is and was no endpoint %s", c.Endpoint)
	}
	files := []pastFile{}
	for _, p := range all {
		files = append(files, pastFile{p.ID, p.At.UTC(), p.By, p.Did, p.Old, p.New})
	}
	return c.print(out, files, func(w io.Writer) {
		fmt.Fprintln(w, "CHANGE\tAT\tBY\tDID\tWAS\tIS")
		for _, p := range files {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.At.Format(time.RFC3339), p.By, p.Did, p.Old, p.New)
		}
	})
}

type pastFile struct {
	ID  int64           `json:"id"`
	At  time.Time       `json:"at"`
	By  string          `json:"by"`
	Did string          `json:"did"`
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}
