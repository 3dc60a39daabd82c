package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

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
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", escapedJSON(text))
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	people(w)
	return w.Flush()
}

// line prints one line of a table. What receivers and organisers chose is in it, and
// is not to steer a terminal, nor to forge another line: what cannot be printed is
// shown as Go escapes it.
func line(w io.Writer, format string, args ...any) {
	for i, a := range args {
		switch text := a.(type) {
		case string:
			args[i] = escaped(text)
		case json.RawMessage:
			args[i] = escaped(string(text))
		}
	}
	fmt.Fprintf(w, format+"\n", args...)
}

func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// escapedJSON is the same value: Go's encoder leaves as they are what terminals obey
// above ASCII, and what turns the direction of writing.
func escapedJSON(text []byte) []byte {
	var b []byte
	for _, r := range string(text) {
		if r == '\n' || unicode.IsPrint(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	return b
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
		fmt.Fprintln(w, "ENDPOINT\tORGANISER\tSTATE\tFAILURES\tWAITING\tOLDEST\tSENDING\tNEXT START\tDEAD\tLAST SUCCESS\tLAST FAILURE\tURL")
		for _, h := range all {
			failed := "-"
			if f := h.LastFailure; f != nil {
				failed = strings.TrimSpace(fmt.Sprintf("%s %d %s", when(&f.At), f.Status, f.Error))
			}
			line(w, "%s\t%s\t%s\t%d\t%d\t%s\t%d\t%s\t%d\t%s\t%s\t%s", h.ID, h.Organiser, state(h.Endpoint), h.Failures,
				h.Waiting, when(h.OldestWaiting), h.Sending, when(h.NextStartAt), h.Dead, when(h.LastSuccess), failed, h.URL)
		}
	})
}

func state(e webhooks.Endpoint) string {
	if e.Reason == "" {
		return string(e.State)
	}
	return fmt.Sprintf("%s (%s)", e.State, e.Reason)
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
			line(w, "%d\t%s\t%s\t%s\t%s\t%s", p.ID, p.At.Format(time.RFC3339), p.By, p.Did, p.Old, p.New)
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
