package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waitroom/internal/inventory"
	"waitroom/internal/listing"
	"waitroom/internal/organiser"
	"waitroom/internal/seating"
)

type eventCmd struct {
	Create eventCreateCmd `cmd:"" help:"Create an event from its file, with its hall if the file names one: all or nothing."`
	Show   eventShowCmd   `cmd:"" help:"Show an event's settings and its seats."`
	List   eventListCmd   `cmd:"" help:"List all events in the order in which they open."`
	Reset  eventResetCmd  `cmd:"" help:"Begin an event anew, as before a sale that was rehearsed: nobody has a place, and a lobby is drawn by a new seed."`
}

type eventCreateCmd struct {
	database
	File      string `short:"f" required:"" help:"An event.yaml; see examples/event.yaml."`
	Organiser string `default:"${house}" help:"Whose event it is, and whose keys open it."`
}

func (c *eventCreateCmd) Run(ctx context.Context, out io.Writer) error {
	if err := organiser.CheckName(c.Organiser); err != nil {
		return refuse("%v", err)
	}
	file, hall, err := readEvent(c.File, time.Now())
	if err != nil {
		return err
	}
	event := listing.Event(file)
	event.Organiser = c.Organiser
	if err := listing.Check(event, hall.Kept(), time.Now()); err != nil {
		return refuse("%v", err)
	}
	if event.AccessCodes, err = codesOf(c.File, file); err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	change, err := inventory.CreateEvent(ctx, pool, event, hall.Kept())
	switch {
	case err != nil:
		return err
	case change != inventory.Changed:
		return refuse("event %s exists already; nothing was changed", file.ID)
	}
	fmt.Fprintf(out, "event %s created\n", file.ID)
	describeHall(out, hall, hall.HeldBackSeats())
	describeDraw(out, file)
	describeAsked(out, event)
	if file.Rate == 0 {
		fmt.Fprintf(out, "no rate is set, so nobody is let in: waitctl rate set %s N\n", file.ID)
	}
	return nil
}

// readEvent reads an event file and, if it has anything to sell, its hall. The
// plan's path is relative to the event file.
func readEvent(path string, now time.Time) (seating.EventFile, *listing.Hall, error) {
	data, err := readFile(path)
	if err != nil {
		return seating.EventFile{}, nil, err
	}
	file, err := seating.ParseEvent(path, data, now)
	if err != nil {
		return seating.EventFile{}, nil, err
	}
	if file.Plan == "" && len(file.Offer.Admissions) == 0 {
		return file, nil, nil
	}
	var plan seating.Plan
	if file.Plan != "" {
		if !filepath.IsAbs(file.Plan) {
			file.Plan = filepath.Join(filepath.Dir(path), file.Plan)
		}
		if plan, err = readPlan(file.Plan); err != nil {
			return seating.EventFile{}, nil, err
		}
	}
	sold, err := seating.Sell(plan, file.Offer)
	if err != nil {
		return seating.EventFile{}, nil, err
	}
	return file, &listing.Hall{Hall: sold}, nil
}

type eventShowCmd struct {
	database
	Event string `arg:"" help:"The event's id."`
}

func (c *eventShowCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	event, err := eventNamed(ctx, pool, c.Event)
	if err != nil {
		return err
	}
	count, err := inventory.Recount(ctx, pool, c.Event, 0)
	if err != nil {
		return err
	}
	showEvent(out, event, count)
	return nil
}

func eventNamed(ctx context.Context, pool *pgxpool.Pool, id string) (inventory.Event, error) {
	events, err := inventory.Events(ctx, pool, id)
	if err == nil && len(events) == 0 {
		err = refuse("there is no event %s", id)
	}
	if err != nil {
		return inventory.Event{}, err
	}
	return events[0], nil
}

func showEvent(out io.Writer, e inventory.Event, n inventory.Count) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, line := range [][2]any{
		{"id", e.ID},
		{"title", e.Title},
		{"venue", e.Venue},
		{"organiser", e.Organiser},
		{"currency", e.Currency},
		{"control", e.Control},
		{"opens_at", e.OpensAt.Format(time.RFC3339)},
		{"closes_at", closing(e)},
		{"rate", rate(e)},
		{"line_cap", e.LineCap},
		{"order_limit", e.OrderLimit},
		{"account_limit", e.AccountLimit},
		{"pass_quota", e.PassQuota},
		{"pass_life", e.PassLife},
		{"call_window", e.CallWindow},
		{"pay_within", e.PayWithin},
		{"pay_extension", e.PayExtension},
		{"share_prior", orNone(e.SharePrior)},
		{"tickets_prior", orNone(e.TicketsPrior)},
		{"stock_slack", e.StockSlack},
		{"max_inside", orNone(e.MaxInside)},
		{"payment_quota", orNone(e.PaymentQuota)},
		{"late", e.Late},
		{"tier_limits", tierLimits(e.TierLimits)},
		{"presales", presales(e.Presales)},
		{"lapse_limit", e.LapseLimit},
		{"cool_down", e.CoolDown},
		{"refund_limit_minor", orNone(e.RefundLimit)},
		{"accounts", e.Accounts},
		{"codes", e.Codes},
		{"plan_hash", e.PlanHash},
		{"version", e.Version},
		{"seats", fmt.Sprintf("%d free, %d pending, %d sold, %d held back", n.Free, n.Pending, n.Sold, n.HeldBack)},
	} {
		fmt.Fprintf(w, "%v\t%v\n", line[0], line[1])
	}
}

func rate(e inventory.Event) string {
	if e.Rate == nil {
		return "not set: nobody is let in"
	}
	return fmt.Sprintf("%g/s", *e.Rate)
}

func closing(e inventory.Event) string {
	if e.ClosesAt == nil {
		return "not by itself"
	}
	return e.ClosesAt.Format(time.RFC3339)
}

func orNone[T any](v *T) string {
	if v == nil {
		return "not set"
	}
	return fmt.Sprint(*v)
}

type eventListCmd struct{ database }

func (c *eventListCmd) Run(ctx context.Context, out io.Writer) error {
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	events, err := inventory.Events(ctx, pool, "")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "ID\tOPENS\tCONTROL\tRATE\tTITLE")
	for _, e := range events {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.ID, e.OpensAt.Format(time.RFC3339), e.Control, rate(e), e.Title)
	}
	return nil
}

func tierLimits(limits inventory.TierLimits) string {
	if len(limits) == 0 {
		return "not set"
	}
	var all []string
	for _, tier := range slices.Sorted(maps.Keys(limits)) {
		all = append(all, fmt.Sprintf("%s %d", tier, limits[tier]))
	}
	return strings.Join(all, ", ")
}

func presales(all []inventory.Presale) string {
	if len(all) == 0 {
		return "none"
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}
