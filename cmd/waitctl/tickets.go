package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"waitroom/internal/ticket"
)

type ticketsCmd struct {
	Verify      ticketsVerifyCmd      `cmd:"" help:"Check a seat's code by the published keys alone: 0 it is good, 2 it is not."`
	Revocations ticketsRevocationsCmd `cmd:"" help:"List the tickets of an event that open nothing any more."`
	Conflicts   ticketsConflictsCmd   `cmd:"" help:"List who is in and should not be: let in twice, or by a revoked code."`
}

type ticketsVerifyCmd struct {
	Code    string `arg:"" help:"The code, as it was read; - reads it from standard input."`
	Event   string `required:"" help:"The event whose door it is."`
	Keys    string `required:"" help:"The keys that codes are signed with: a file, or the address of …/v1/public/code-keys."`
	Revoked string `help:"A file of the revocations feed, its pages one after another, to the last. Left out: whether it was revoked is not known."`
}

func (c *ticketsVerifyCmd) Run(ctx context.Context, out io.Writer) error {
	code, err := c.Code, error(nil)
	if code == "-" {
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(os.Stdin, 1<<16)); err != nil {
			return err
		}
		code = strings.TrimSpace(string(text))
	}
	set, err := fetch(ctx, c.Keys)
	if err != nil {
		return err
	}
	keys, err := ticket.ParseJWKS(set)
	if err != nil {
		return refuse("%s: %v", c.Keys, err)
	}
	t, flaw := keys.Read(c.Event, code)
	if flaw != "" {
		return refuse("not valid for %s: %s", c.Event, flawText(flaw))
	}
	at, known, err := c.revokedAt(t.ID())
	switch {
	case err != nil:
		return err
	case at != "":
		return refuse("ticket %s of %s, seat %d of the hall: revoked %s", t.ID(), c.Event, t.Seat, at)
	}
	fmt.Fprintf(out, "ticket %s of %s, seat %d of the hall: signed by these keys", t.ID(), c.Event, t.Seat)
	if known {
		fmt.Fprint(out, ", and not revoked as far as this feed goes")
	}
	fmt.Fprintln(out, "\nwhether it was used before, only the record of scans knows")
	return nil
}

// revokedAt looks a ticket up in the feed's pages; known: there was a feed to look in.
// What is no feed (nothing, or a refusal that was saved as one), or ends before the
// feed did, tells of no ticket that it was not revoked.
func (c *ticketsVerifyCmd) revokedAt(id string) (at string, known bool, err error) {
	if c.Revoked == "" {
		return "", false, nil
	}
	file, err := os.Open(c.Revoked)
	if err != nil {
		return "", false, err
	}
	defer file.Close() //nolint:errcheck // read only
	more := true
	for pages := json.NewDecoder(file); pages.More(); {
		var page struct {
			Revocations *[]struct{ Ticket, At string }
			More        *bool
		}
		if err := pages.Decode(&page); err != nil {
			return "", false, refuse("%s: %v", c.Revoked, err)
		}
		if page.Revocations == nil || page.More == nil {
			return "", false, refuse("%s is no feed of revocations: a page has revocations, next and more", c.Revoked)
		}
		more = *page.More
		for _, r := range *page.Revocations {
			if r.Ticket == id {
				return r.At, true, nil
			}
		}
	}
	if more {
		return "", false, refuse("%s has no last page of the feed of revocations: what follows is not known", c.Revoked)
	}
	return "", true, nil
}

func flawText(f ticket.Flaw) string {
	switch f {
	case ticket.Unreadable:
		return "it is no code of a seat"
	case ticket.OtherEvent:
		return "it is another event's"
	case ticket.UnknownKey:
		return "it is signed by none of these keys"
	case ticket.Unknown:
		return "no order has that seat so"
	}
	return "its signature is wrong"
}

type ticketsRevocationsCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
	After int64  `help:"Only what comes after that number."`
}

func (c *ticketsRevocationsCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	for after := c.After; ; {
		list, err := ticket.Revocations(ctx, pool, c.Event, after, 500)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, r := range list {
			fmt.Fprintf(out, "%d\t%s\t%s\t%s\n", r.No, r.Ticket, r.At.UTC().Format(time.RFC3339), r.Seat)
			after = r.No
		}
	}
}

type ticketsConflictsCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
}

func (c *ticketsConflictsCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	for before := int64(0); ; {
		list, err := ticket.Conflicts(ctx, pool, c.Event, before, 500)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, r := range list {
			fmt.Fprintln(out, scanText(r))
			before = r.No
		}
	}
}

type scanCmd struct {
	database
	Event  string `arg:"" help:"The event whose door it is."`
	Code   string `arg:"" help:"The code, as it was read."`
	Gate   string `default:"waitctl" help:"Where it was shown."`
	Device string `default:"waitctl" help:"What read it."`
	ID     string `name:"id" help:"The scan's name, unlike any other of its device: the same again is recorded once. Left out: one of chance."`
	Keys   string `help:"The keys that codes are signed with: a file, or the address of …/v1/public/code-keys. Or SEAT_CODE_KEYS."`

	SeatCodeKeys string `env:"SEAT_CODE_KEYS" secret:"" help:"The keys as the waiting room has them."`
}

func (c *scanCmd) Run(ctx context.Context, out io.Writer) error {
	keys, err := c.keys(ctx)
	if err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if c.ID == "" {
		c.ID = rand.Text()
	}
	r, outcome, err := ticket.Record(ctx, pool, keys, c.Event, ticket.Scan{ID: c.ID, Device: c.Device, Code: c.Code, Gate: c.Gate, By: "(waitctl)"})
	switch {
	case err != nil:
		return err
	case outcome == ticket.IDReused:
		return refuse("device %s used the name %s for another scan; nothing was recorded", c.Device, c.ID)
	case outcome != ticket.Admitted:
		return refuse("%s", scanText(r))
	}
	fmt.Fprintln(out, scanText(r))
	return nil
}

func (c *scanCmd) keys(ctx context.Context) (keys *ticket.Keys, err error) {
	switch {
	case c.Keys != "":
		set, err := fetch(ctx, c.Keys)
		if err != nil {
			return nil, err
		}
		keys, err = ticket.ParseJWKS(set)
		if err != nil {
			return nil, refuse("%s: %v", c.Keys, err)
		}
		return keys, nil
	case c.SeatCodeKeys != "":
		if keys, err = ticket.ParseKeys([]byte(c.SeatCodeKeys)); err != nil {
			return nil, refuse("%v", err)
		}
		return keys, nil
	}
	return nil, refuse("codes are checked by --keys, or SEAT_CODE_KEYS")
}

// scanText is a recorded scan for people.
func scanText(r ticket.Recorded) string {
	at := func(s ticket.Sight) string {
		return fmt.Sprintf("%s at %s, by %s", s.ScannedAt.UTC().Format(time.RFC3339), s.Gate, s.Device)
	}
	text := string(r.Outcome)
	if r.Seat != nil {
		text += ": " + strings.Join(strings.Fields(r.Seat.Section+" "+r.Seat.Row+" "+r.Seat.Number), " ") + " (" + r.Seat.GUID + ")"
	}
	if r.Flaw != "" {
		text += ": " + flawText(r.Flaw)
	}
	text += "; " + at(r.Sight)
	if r.First != nil {
		text += "; came in first " + at(*r.First)
	}
	if r.RevokedAt != nil {
		text += "; revoked " + r.RevokedAt.UTC().Format(time.RFC3339)
	}
	return text
}
