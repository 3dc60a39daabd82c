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
	"waitroom/internal/organiser"
	"waitroom/internal/seating"
	"waitroom/internal/stripe"
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
	event := newEvent(file)
	event.Organiser = c.Organiser
	if err := chargeable(event.Currency, hall.kept()); err != nil {
		return err
	}
	if field, want := misruled(event, hall.kept()); field != "" {
		return refuse("%s: %s", field, want)
	}
	if event.AccessCodes, err = codesOf(c.File, file); err != nil {
		return err
	}
	pool, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	change, err := inventory.CreateEvent(ctx, pool, event, hall.kept())
	switch {
	case err != nil:
		return err
	case change != inventory.Changed:
		return refuse("event %s exists already; nothing was changed", file.ID)
	}
	fmt.Fprintf(out, "event %s created\n", file.ID)
	hall.describe(out, hall.heldBack())
	describeDraw(out, file)
	describeAsked(out, event)
	if file.Rate == 0 {
		fmt.Fprintf(out, "no rate is set, so nobody is let in: waitctl rate set %s N\n", file.ID)
	}
	return nil
}

// chargeable refuses prices that the payment provider could not be told
// exactly: nobody could pay for a ticket.
func chargeable(currency string, hall *inventory.Hall) error {
	if hall == nil {
		hall = &inventory.Hall{}
	}
	if _, err := stripe.ToProvider(0, currency); err != nil {
		return refuse("currency: the payment provider does not take %s", currency)
	}
	for _, t := range hall.Tiers {
		if _, err := stripe.ToProvider(t.AmountMinor, currency); err != nil {
			return refuse("prices.%s: the payment provider cannot charge %s %s exactly", t.ID, seating.FormatAmount(currency, t.AmountMinor), currency)
		}
	}
	return nil
}

// readEvent reads an event file and, if it has anything to sell, its hall. The
// plan's path is relative to the event file.
func readEvent(path string, now time.Time) (seating.EventFile, *hall, error) {
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
	return file, &hall{sold}, nil
}

// newEvent is the file in the database's terms: what is not set is NULL.
func newEvent(f seating.EventFile) inventory.Event {
	e := inventory.Event{
		ID: f.ID, Title: f.Title, Venue: f.Venue, Currency: f.Currency,
		OpensAt: f.OpensAt, ClosesAt: set(f.ClosesAt), Rate: set(f.Rate), LineCap: int64(f.LineCap),
		OrderLimit: f.OrderLimit, AccountLimit: f.AccountLimit, PassQuota: f.PassQuota,
		PassLife: f.PassLife, CallWindow: f.CallWindow, PayWithin: f.PayWithin, PayExtension: f.PayExtension,
		SharePrior: set(f.SharePrior), TicketsPrior: set(f.TicketsPrior), StockSlack: f.StockSlack,
		MaxInside: set(int64(f.MaxInside)), PaymentQuota: set(f.PaymentQuota), Late: inventory.Late(f.Late),
		TierLimits: f.TierLimits, LapseLimit: f.LapseLimit, CoolDown: f.CoolDown,
		Accounts: asked(f.Accounts), Codes: asked(f.CodesRequired), Admission: inventory.ByLine, Gate: inventory.GateOff,
	}
	if f.Open {
		e.Admission = inventory.OpenAll
	}
	if f.Gate {
		e.Gate = inventory.GateOn
	}
	for _, p := range f.Presales {
		e.Presales = append(e.Presales, inventory.Presale{
			Name: p.Name, Tiers: append([]string{}, p.Tiers...), Sections: append([]string{}, p.Sections...), Until: set(p.Until),
		})
	}
	if d := f.Draw; d != nil {
		e.Draw = &inventory.Draw{LobbyOpensAt: d.LobbyOpensAt, LobbyClosesAt: d.LobbyClosesAt, Beacon: d.Beacon}
	}
	return e
}

func asked(required bool) inventory.Asked {
	if required {
		return inventory.Required
	}
	return inventory.NotAsked
}

// set is nil for what was not set.
func set[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
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

// misruled names what the rules of an event name and its hall has not, and
// whatever no rule could say.
func misruled(e inventory.Event, hall *inventory.Hall) (setting, why string) {
	if setting, want := inventory.Senses(e.TierLimits, e.Presales); setting != "" {
		return setting, "want " + want
	}
	if hall == nil {
		return "", ""
	}
	var parts inventory.Parts
	for _, t := range hall.Tiers {
		parts.Tiers = append(parts.Tiers, t.ID)
	}
	for _, s := range hall.Seats {
		if s.Kind != "general" && !slices.Contains(parts.Sections, s.Section) {
			parts.Sections = append(parts.Sections, s.Section)
		}
	}
	setting, name := parts.Lack(e.TierLimits, e.Presales)
	return setting, fmt.Sprintf("the hall has no tier or section with numbered seats %q", name)
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
