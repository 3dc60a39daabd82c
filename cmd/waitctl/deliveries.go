package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/webhooks"
)

type endpointsDeliveriesCmd struct {
	database
	printed
	Organiser string    `help:"Whose; everybody's if it is left out."`
	Endpoint  string    `help:"For this endpoint."`
	Status    string    `enum:",waiting,sending,delivered,dead" default:"" help:"Only these: ${enum}."`
	Kind      string    `help:"Of this kind, as order.paid."`
	About     string    `help:"About this order, or another subject."`
	Since     time.Time `format:"2006-01-02T15:04:05Z07:00" help:"Of what became true since then, as 2026-07-01T18:00:00Z."`
	Before    int64     `help:"Only what a list that ends with this one goes on with."`
	Most      int       `default:"100" help:"How many."`
}

func (c *endpointsDeliveriesCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	all, err := webhooks.Deliveries(ctx, pool, webhooks.Which{
		Organiser: c.Organiser, Endpoint: c.Endpoint, Status: c.Status, Kind: c.Kind, About: c.About, Since: c.Since, Before: c.Before, Most: c.Most,
	})
	if err != nil {
		return err
	}
	files := []deliveryFile{}
	for _, d := range all {
		files = append(files, deliveryOf(d))
	}
	return c.print(out, files, func(w io.Writer) {
		fmt.Fprintln(w, "DELIVERY\tENDPOINT\tKIND\tABOUT\tVERSION\tTRUE SINCE\tSTATUS\tGO\tATTEMPTS\tDUE\tENDED")
		for _, d := range files {
			line(w, "%d\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%s\t%s", d.ID, d.Endpoint, d.Kind, d.Subject, d.Version, when(&d.At),
				strings.TrimSpace(d.Status+" "+d.Reason), d.Go, d.Attempts, when(d.DueAt), when(d.EndedAt))
		}
	})
}

type deliveryFile struct {
	ID       int64      `json:"id"`
	Endpoint string     `json:"endpoint"`
	Notice   string     `json:"notice"`
	Kind     string     `json:"kind"`
	Event    string     `json:"event"`
	Subject  string     `json:"subject"`
	Version  int64      `json:"version"`
	At       time.Time  `json:"at"`
	Status   string     `json:"status"`
	Go       int        `json:"go"`
	Attempts int        `json:"attempts"`
	DueAt    *time.Time `json:"due_at"`
	Reason   string     `json:"reason"`
	EndedAt  *time.Time `json:"ended_at"`
	Body     string     `json:"body,omitempty"`
	Tries    []tryFile  `json:"tries,omitempty"`
}

type tryFile struct {
	Go         int        `json:"go"`
	Attempt    int        `json:"attempt"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	Status     int        `json:"status"`
	Error      string     `json:"error"`
	Answer     string     `json:"answer"`
}

func deliveryOf(d webhooks.Delivery) deliveryFile {
	f := deliveryFile{
		ID: d.ID, Endpoint: d.Endpoint, Notice: webhooks.MessageID(d.Notice), Kind: d.Kind, Event: d.Event, Subject: d.Subject, Version: d.Version,
		At: d.At.UTC(), Status: d.Status, Go: d.Go, Attempts: d.Attempts, Reason: d.Reason, EndedAt: d.EndedAt,
	}
	if d.Status == "waiting" {
		f.DueAt = &d.DueAt
	}
	return f
}

type endpointsShowCmd struct {
	database
	printed
	Delivery int64 `arg:"" help:"Its number."`
}

func (c *endpointsShowCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	d, body, tries, found, err := webhooks.FindDelivery(ctx, pool, "", c.Delivery)
	if err != nil {
		return err
	}
	if !found {
		return refuse("there is no delivery %d", c.Delivery)
	}
	f := deliveryOf(d)
	f.Body = string(body)
	for _, t := range tries {
		f.Tries = append(f.Tries, tryFile{t.Go, t.Attempt, t.StartedAt.UTC(), t.FinishedAt, t.Status, t.Error, strings.ToValidUTF8(string(t.Answer), "\uFFFD")})
	}
	return c.print(out, f, func(w io.Writer) {
		line(w, "%d for %s: %s about %s, version %d, is %s; go %d, %d attempts; webhook-id %s", f.ID, f.Endpoint, f.Kind, f.Subject, f.Version,
			strings.TrimSpace(f.Status+" "+f.Reason), f.Go, f.Attempts, f.Notice)
		line(w, "%s", f.Body)
		for _, t := range f.Tries {
			line(w, "%d.%d\t%s\t%s\t%s\t%s", t.Go, t.Attempt, t.StartedAt.Format(time.RFC3339Nano), answerOf(t), t.Error, strconv.Quote(t.Answer))
		}
	})
}

func answerOf(t tryFile) string {
	switch {
	case t.FinishedAt == nil:
		return "under way"
	case t.Status == 0:
		return "no answer"
	}
	return strconv.Itoa(t.Status)
}

type endpointsReplayCmd struct {
	database
	person
	printed
	Delivery int64     `arg:"" optional:"" help:"The number of one."`
	Endpoint string    `help:"All of this endpoint that ended …"`
	Since    time.Time `format:"2006-01-02T15:04:05Z07:00" help:"… of what became true since then, as 2026-07-01T18:00:00Z."`
	Only     string    `enum:",dead,delivered" default:"" help:"… of these only: ${enum}."`
	Attempt  string    `help:"The name of a replay of many: the same again goes on where it broke off. By default one is made."`
}

func (c *endpointsReplayCmd) Run(ctx context.Context, out io.Writer) error {
	many := c.Endpoint != "" && !c.Since.IsZero()
	if many == (c.Delivery != 0) || !many && (c.Endpoint+c.Only+c.Attempt != "" || !c.Since.IsZero()) {
		return refuse("name a delivery, or --endpoint and --since")
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if many {
		return c.replaySince(ctx, out, pool)
	}
	done, err := webhooks.Replay(ctx, pool, c.Delivery, webhooks.Asker{By: c.name()})
	if err == nil && done.Answer == webhooks.NoEndpoint {
		return refuse("the endpoint of delivery %d was deleted", c.Delivery)
	}
	if err := refused(strconv.FormatInt(c.Delivery, 10), done, err); err != nil {
		return err
	}
	return tellScheduled(out, c.printed, done)
}

func (c *endpointsReplayCmd) replaySince(ctx context.Context, out io.Writer, pool *pgxpool.Pool) error {
	if c.Attempt == "" {
		c.Attempt = "waitctl-" + rand.Text()
	}
	who := webhooks.Asker{By: c.name(), Attempt: c.Attempt}
	who.Request = sha256.Sum256(fmt.Appendf(nil, "replay %s since %s only %s", c.Endpoint, c.Since.UTC().Format(time.RFC3339Nano), c.Only))
	done, err := webhooks.ReplaySince(ctx, pool, c.Endpoint, webhooks.Replaying{Since: c.Since, Only: c.Only}, who, func() bool { return true })
	var flaw *webhooks.Flaw
	if err != nil && !errors.As(err, &flaw) {
		return errors.Join(err, fmt.Errorf("the same with --attempt %s goes on", c.Attempt))
	}
	if err := refused(c.Endpoint, webhooks.Changed{Answer: done.Answer}, err); err != nil {
		return err
	}
	return c.print(out, map[string]any{"endpoint": c.Endpoint, "replayed": done.Replayed, "attempt": c.Attempt}, func(w io.Writer) {
		fmt.Fprintf(w, "%d deliveries of %s begin anew, as attempt %s\n", done.Replayed, c.Endpoint, c.Attempt)
	})
}
