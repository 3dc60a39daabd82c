package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/listing"
	"waitroom/internal/seating"
)

type planCmd struct {
	Import planImportCmd `cmd:"" help:"Import a seating plan (JSON or CSV) for an event that has no orders: all or nothing."`
	Check  planCheckCmd  `cmd:"" help:"Read a seating plan and say what is in it; needs no database."`
}

func readPlan(path string) (seating.Plan, error) {
	data, err := readFile(path)
	if err != nil {
		return seating.Plan{}, err
	}
	return seating.Parse(path, data)
}

// readFile reads what an organiser wrote: a file, not a device that never ends,
// and no more than a byte beyond what is read as a plan.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refuse("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return io.ReadAll(io.LimitReader(f, seating.MaxBytes+1))
}

type planCheckCmd struct {
	File string `arg:"" help:"A seating plan, JSON or CSV."`
}

func (c *planCheckCmd) Run(out io.Writer) error {
	plan, err := readPlan(c.File)
	if err != nil {
		return err
	}
	kinds, sections := map[seating.Kind]int{}, map[string]int{}
	categories := map[string]int{}
	for _, s := range plan.Seats {
		kinds[s.Kind]++
		sections[s.Section]++
		categories[s.Category]++
	}
	fmt.Fprintf(out, "%s: %d seats in %d sections: %d numbered, %d accessible, %d general admission; %d areas drawn\n",
		c.File, len(plan.Seats), len(sections),
		kinds[seating.Numbered], kinds[seating.Accessible], kinds[seating.General], len(plan.Areas))
	for _, category := range plan.Categories {
		fmt.Fprintf(out, "  %s: %d\n", category.Name, categories[category.Name])
	}
	remarks(out, plan)
	return nil
}

func remarks(out io.Writer, plan seating.Plan) {
	for _, r := range plan.Remarks {
		fmt.Fprintln(out, "  note:", r)
	}
}

type planImportCmd struct {
	database
	Event   string   `required:"" help:"The event's id."`
	File    string   `required:"" help:"A seating plan, JSON or CSV."`
	Prices  []string `sep:"none" placeholder:"CATEGORY=49.00" help:"A category's price in the event's currency; once for each. Categories that the event sells already keep their price without."`
	Replace bool     `help:"Take the place of all that the event sells, general admission too; what is not sold any more is told. Seats held back or withdrawn stay so, and so does how the best seats are chosen, but for a stage that the plan has."`
}

func (c *planImportCmd) Run(ctx context.Context, out io.Writer) error {
	plan, err := readPlan(c.File)
	if err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	before, err := inventory.Tiers(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	had, err := inventory.Recount(ctx, pool, c.Event, 0)
	if err != nil {
		return err
	}
	offer, err := c.offer(ctx, pool, plan, before)
	if err != nil {
		return err
	}
	sold, err := seating.Sell(plan, offer)
	if err != nil {
		return err
	}
	h := &listing.Hall{Hall: sold}
	kept := h.Kept()
	if err := listing.Chargeable(h.Currency, kept); err != nil {
		return refuse("%v", err)
	}
	outcome, detail, err := inventory.ImportHall(ctx, pool, c.Event, *kept, c.Replace)
	if err != nil {
		return err
	}
	if outcome != inventory.Imported {
		return c.refusal(outcome, detail)
	}
	now, err := inventory.Recount(ctx, pool, c.Event, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "plan imported for event %s\n", c.Event)
	describeHall(out, h, int(now.HeldBack))
	if len(before) > 0 {
		if at := sold.Focus; at != nil {
			fmt.Fprintf(out, "the best seats are near (%g, %g), as the plan has it\n", at.X, at.Y)
		}
		fmt.Fprintf(out, "before there were %d seats\n", had.Free+had.HeldBack)
	}
	for _, t := range before {
		if !slices.ContainsFunc(sold.Tiers, func(s seating.Tier) bool { return s.ID == t.ID }) {
			fmt.Fprintf(out, "  %s: not sold any more\n", t.ID)
		}
	}
	return nil
}

// offer is the prices given and, for the plan's other categories, those that
// the event has already.
func (c *planImportCmd) offer(ctx context.Context, pool *pgxpool.Pool, plan seating.Plan, tiers []inventory.Tier) (seating.Offer, error) {
	event, err := eventNamed(ctx, pool, c.Event)
	if err != nil {
		return seating.Offer{}, err
	}
	prices, err := readPrices(event.Currency, c.Prices)
	if err != nil {
		return seating.Offer{}, err
	}
	for _, t := range tiers {
		given := slices.ContainsFunc(prices, func(p seating.Price) bool { return p.Category == t.ID })
		sold := slices.ContainsFunc(plan.Categories, func(c seating.Category) bool { return c.Name == t.ID })
		if sold && !given {
			prices = append(prices, seating.Price{Category: t.ID, AmountMinor: t.AmountMinor})
		}
	}
	return seating.Offer{File: c.File, Currency: event.Currency, Prices: prices}, nil
}

func readPrices(currency string, given []string) ([]seating.Price, error) {
	var prices []seating.Price
	for _, g := range given {
		i := strings.LastIndex(g, "=")
		if i < 1 {
			return nil, refuse("--prices %q: want CATEGORY=49.00", g)
		}
		p := seating.Price{Category: g[:i]}
		if slices.ContainsFunc(prices, func(o seating.Price) bool { return o.Category == p.Category }) {
			return nil, refuse("--prices %q: the category is priced twice", g)
		}
		var err error
		if p.AmountMinor, err = seating.ParseAmount(currency, g[i+1:]); err != nil {
			return nil, refuse("--prices %q: %v", g, err)
		}
		prices = append(prices, p)
	}
	return prices, nil
}

func (c *planImportCmd) refusal(outcome inventory.Import, detail string) error {
	switch outcome {
	case inventory.HasOrders:
		return refuse("event %s has orders; its hall can no longer change", c.Event)
	case inventory.HasPlan:
		return refuse("event %s has a plan; --replace takes its place", c.Event)
	case inventory.HoldsLost:
		return refuse("the new plan lacks seats that are held back: %s", detail)
	case inventory.RulesLost:
		return refuse("the new plan lacks what the event's limits or presales name: %s", detail)
	case inventory.ImportClosed:
		return refuse("the sale of event %s is closed", c.Event)
	}
	return refuse("there is no event %s", c.Event)
}
