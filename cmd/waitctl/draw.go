package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

type drawCmd struct {
	Beacon drawBeaconCmd `cmd:"" help:"Write down the value that the draw's beacon had, once the lobby has closed. Then it is drawn."`
	Number drawNumberCmd `cmd:"" help:"Print the place in the line of who joined the lobby as that index."`
	Verify drawVerifyCmd `cmd:"" help:"Check a draw by what was published of it, and receipts by its numbers: 0 it is as it says, 2 it is not."`
}

// describeDraw tells the organiser what the draw rests on.
func describeDraw(out io.Writer, file seating.EventFile) {
	d := file.Draw
	if d == nil {
		return
	}
	fmt.Fprintf(out, "who comes from %s to %s is drawn\n", d.LobbyOpensAt.Format(time.RFC3339), d.LobbyClosesAt.Format(time.RFC3339))
	if d.Beacon == "" {
		fmt.Fprintln(out, "warning: without a beacon the operator could choose the order; name a public value of a time after the lobby has closed")
		return
	}
	fmt.Fprintf(out, "the sale opens once its beacon is known: waitctl draw beacon %s VALUE, with the value of %s\n", file.ID, d.Beacon)
}

type drawBeaconCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
	Value string `arg:"" help:"The value as it was published, to the letter: of drand the randomness, in hex."`
}

func (c *drawBeaconCmd) Run(ctx context.Context, out io.Writer) error {
	value := strings.TrimSpace(c.Value)
	if value == "" || len(value) > 200 {
		return refuse("the value has %d letters, want 1 to 200", len(value))
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	change, err := inventory.SetBeacon(ctx, pool, c.Event, value)
	if err != nil {
		return err
	}
	switch change {
	case inventory.Changed, inventory.Unchanged:
		fmt.Fprintf(out, "%s is drawn with %s\n", c.Event, value)
		return nil
	case inventory.NoBeacon:
		return refuse("event %s has no draw with a beacon", c.Event)
	case inventory.LobbyOpen:
		return refuse("the lobby of %s has not closed yet; a value that is known now is none", c.Event)
	case inventory.Fixed:
		return refuse("the beacon of %s has another value already", c.Event)
	}
	return refuse("there is no event %s", c.Event)
}

type drawNumberCmd struct {
	Seed  string `required:"" help:"The mixed seed, 64 hex digits: SHA-256 of the seed and the beacon's value."`
	Count int64  `required:"" help:"How many are drawn."`
	Index int64  `required:"" help:"The index in the lobby, from 0."`
}

func (c *drawNumberCmd) Run(_ context.Context, out io.Writer) error {
	seed, err := parseSeed(c.Seed)
	switch {
	case err != nil:
		return refuse("%v", err)
	case c.Count < 1 || c.Index < 0 || c.Index >= c.Count:
		return refuse("index %d of %d: want 0 to count-1", c.Index, c.Count)
	}
	fmt.Fprintln(out, draw.New(seed, c.Count).Number(c.Index))
	return nil
}

func parseSeed(text string) (s draw.Seed, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(s) {
		return s, fmt.Errorf("seed %q: want 64 hex digits", text)
	}
	return draw.Seed(b), nil
}

type drawVerifyCmd struct {
	Status  string   `arg:"" help:"The event's status document: a file, - or an address (…/v1/public/events/EVENT/status)."`
	Receipt []string `help:"A lobby receipt, as the join answered: a file. May be given more than once."`
	JWKS    string   `name:"jwks" help:"The keys that receipts are signed with: a file or an address. Default: the status document's origin."`
	Index   []int64  `help:"An index whose number is to be told."`
}

type publishedDraw struct {
	Event string
	Epoch int64
	Draw  *struct {
		Commit, Beacon string
		ClosesAt       time.Time `json:"lobby_closes_at"`
		Count          *int64
		Seed, Value    *string
	}
}

func (c *drawVerifyCmd) Run(ctx context.Context, out io.Writer) error {
	text, err := fetch(ctx, c.Status)
	if err != nil {
		return err
	}
	var p publishedDraw
	if err := json.Unmarshal(text, &p); err != nil {
		return refuse("%s is no status document: %v", c.Status, err)
	}
	shuffle, err := p.check(out)
	if err != nil {
		return refuse("%v", err)
	}
	for _, i := range c.Index {
		fmt.Fprintf(out, "index %d has number %d\n", i, shuffle.Number(i))
	}
	for _, file := range c.Receipt {
		if err := c.receipt(ctx, out, p, shuffle, file); err != nil {
			return err
		}
	}
	return nil
}

// check works out what the published values come to.
func (p publishedDraw) check(out io.Writer) (*draw.Shuffle, error) {
	switch {
	case p.Draw == nil:
		return nil, fmt.Errorf("event %s has no draw: first come, first served", p.Event)
	case p.Draw.Count == nil || p.Draw.Seed == nil || p.Draw.Value == nil:
		return nil, fmt.Errorf("event %s is not drawn yet", p.Event)
	}
	seed, err := parseSeed(*p.Draw.Seed)
	if err != nil {
		return nil, err
	}
	if commit := seed.Commit(); hex.EncodeToString(commit[:]) != p.Draw.Commit {
		return nil, fmt.Errorf("the seed is not the one that was committed to: its SHA-256 is %x, published was %s", commit, p.Draw.Commit)
	}
	mixed := seed.Mix(*p.Draw.Value)
	fmt.Fprintf(out, "the seed is the one that was committed to\nbeacon: %s\nits value: %s\n", orNo(p.Draw.Beacon), orNo(*p.Draw.Value))
	fmt.Fprintf(out, "mixed seed: %x\n%d people are drawn\n", mixed, *p.Draw.Count)
	return draw.New(mixed, *p.Draw.Count), nil
}

func orNo(text string) string {
	if text == "" {
		return "none: the operator could have chosen the order"
	}
	return text
}

func (c *drawVerifyCmd) receipt(ctx context.Context, out io.Writer, p publishedDraw, shuffle *draw.Shuffle, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	at := c.JWKS
	if at == "" {
		origin, _, isAddress := strings.Cut(c.Status, "/v1/public/")
		if !isAddress {
			return refuse("receipts need --jwks")
		}
		at = origin + "/.well-known/jwks.json"
	}
	set, err := fetch(ctx, at)
	if err != nil {
		return err
	}
	keys, err := admission.ParseJWKS(set)
	if err != nil {
		return refuse("%s: %v", at, err)
	}
	r, err := keys.ReadReceipt(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return refuse("%s is not a receipt by these keys: %v", file, err)
	case r.Event != p.Event || r.Epoch != p.Epoch:
		return refuse("%s is of event %s, epoch %d", file, r.Event, r.Epoch)
	case r.Commit != p.Draw.Commit:
		return refuse("%s was given for another commitment: %s", file, r.Commit)
	case r.Index >= shuffle.Count() && !r.At.Before(p.Draw.ClosesAt.Truncate(time.Second)): // receipts have whole seconds
		fmt.Fprintf(out, "%s: came after the closing, keeps number %d\n", file, r.Index)
		return nil
	case r.Index >= shuffle.Count():
		return refuse("%s is of index %d, and only %d were drawn", file, r.Index, shuffle.Count())
	}
	fmt.Fprintf(out, "%s: index %d has number %d\n", file, r.Index, shuffle.Number(r.Index))
	return nil
}

// fetch reads a file, - or an address.
func fetch(ctx context.Context, from string) ([]byte, error) {
	if from == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
	}
	if !strings.HasPrefix(from, "http://") && !strings.HasPrefix(from, "https://") {
		return os.ReadFile(from)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(from + ": " + res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, 1<<20))
}
