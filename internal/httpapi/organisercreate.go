package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/inventory"
	"waitroom/internal/listing"
	"waitroom/internal/organiser"
	"waitroom/internal/seating"
)

const (
	planBody       = 16 << 20         // a stadium's plan is 12 MB
	importDeadline = 30 * time.Second // for so many seats
)

// short keeps what is no plan as short as anywhere else.
func short(most int) fiber.Handler {
	return func(c *fiber.Ctx) error {
		path := c.Path()
		plan := path == "/v1/organiser/events" || path == "/v1/organiser/plans/check" ||
			strings.HasPrefix(path, "/v1/organiser/events/") && strings.HasSuffix(path, "/plan")
		if len(c.BodyRaw()) > most && !plan {
			return problem("too_large", "")
		}
		return c.Next()
	}
}

// planFile is a seating plan as it was written: its name says of which kind.
type planFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (f planFile) read() (seating.Plan, error) {
	if f.Name == "" || len(f.Name) > 200 {
		return seating.Plan{}, problem("bad_request", "name: the plan's file, as hall.json or hall.csv")
	}
	plan, err := seating.Parse(f.Name, []byte(f.Text))
	return plan, flawed(err)
}

type flawBody struct {
	File   string `json:"file"`
	Line   *int   `json:"line"` // null: it has none
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// flawed turns what is wrong with a file into a refusal that names each place.
func flawed(err error) error {
	var flaws *seating.Flaws
	var misfit listing.Misfit
	switch {
	case errors.As(err, &flaws):
		var all []flawBody
		for _, f := range flaws.Kept {
			b := flawBody{File: f.File, Field: f.Field, Reason: f.Reason}
			if f.Line > 0 {
				b.Line = &f.Line
			}
			all = append(all, b)
		}
		return problem("flawed_file", flaws.Error()).with("flaws", all)
	case errors.As(err, &misfit):
		return problem("flawed_file", misfit.Error()).with("flaws", []flawBody{{Field: misfit.Field, Reason: misfit.Why}})
	}
	return err
}

type planRequest struct {
	asked
	plan seating.Plan
}

func (a *API) readPlan(c *fiber.Ctx) (r planRequest, err error) {
	if r.asked, err = a.asks(organiser.LineRead)(c); err != nil {
		return r, err
	}
	var f planFile
	if err := jsonBody(c, &f); err != nil {
		return r, err
	}
	r.plan, err = f.read()
	return r, err
}

type categoryBody struct {
	Name  string `json:"name"`
	Color string `json:"color"`
	Seats int    `json:"seats"`
}

type planReadBody struct {
	Name       string         `json:"name"`
	Seats      int            `json:"seats"`
	Sections   int            `json:"sections"`
	Categories []categoryBody `json:"categories"`
	Remarks    []string       `json:"remarks"`
	Drawn      [][3]float64   `json:"drawn"` // of each seat with a place: x, y, its category's index
}

// checkPlan reads a plan and says what is in it. Nothing is kept.
func (a *API) checkPlan(_ context.Context, r planRequest) (reply, error) {
	b := planReadBody{Name: r.plan.Name, Seats: len(r.plan.Seats), Categories: []categoryBody{}, Remarks: append([]string{}, r.plan.Remarks...), Drawn: [][3]float64{}}
	at, sections := map[string]int{}, map[string]bool{}
	for i, c := range r.plan.Categories {
		at[c.Name] = i
		b.Categories = append(b.Categories, categoryBody{c.Name, c.Color, 0})
	}
	for _, s := range r.plan.Seats {
		sections[s.Section] = true
		i, known := at[s.Category]
		if !known {
			i = len(b.Categories)
			at[s.Category] = i
			b.Categories = append(b.Categories, categoryBody{Name: s.Category})
		}
		b.Categories[i].Seats++
		if s.Kind != seating.General {
			b.Drawn = append(b.Drawn, [3]float64{s.X, s.Y, float64(i)})
		}
	}
	b.Sections = len(sections)
	return reply{body: b}, nil
}

type listingRequest struct {
	asked
	event inventory.Event
	hall  *listing.Hall
}

func (a *API) readListing(c *fiber.Ctx) (r listingRequest, err error) {
	if r.asked, err = a.asks(organiser.EventsWrite)(c); err != nil {
		return r, err
	}
	var b struct {
		File string    `json:"file"`
		Plan *planFile `json:"plan"`
	}
	if err := jsonBody(c, &b); err != nil {
		return r, err
	}
	file, err := seating.ParseEvent("event.yaml", []byte(b.File), time.Now())
	if err != nil {
		return r, flawed(err)
	}
	if r.hall, err = hallOf(file, b.Plan); err != nil {
		return r, flawed(err)
	}
	r.event = listing.Event(file)
	r.event.Organiser, r.event.By = r.key.Organiser, r.key.Name
	return r, flawed(listing.Check(r.event, r.hall.Kept(), time.Now()))
}

// hallOf is what the file sells; nil: nothing yet. What it names is sent with it, for
// no file is read here.
func hallOf(file seating.EventFile, plan *planFile) (*listing.Hall, error) {
	switch {
	case file.Codes.File != "":
		return nil, listing.Misfit{Field: "codes.file", Why: "no file is read here; import the codes once the event is there: waitctl codes import"}
	case (file.Plan != "") != (plan != nil):
		return nil, listing.Misfit{Field: "plan", Why: "the file names a plan, and the plan is sent with it: both or neither"}
	case plan == nil && len(file.Offer.Admissions) == 0:
		return nil, nil
	}
	var read seating.Plan
	var err error
	if plan != nil {
		if read, err = plan.read(); err != nil {
			return nil, err
		}
	}
	sold, err := seating.Sell(read, file.Offer)
	return &listing.Hall{Hall: sold}, err
}

type soldTier struct {
	ID          string `json:"id"`
	AmountMinor int64  `json:"amount_minor"`
	Seats       int    `json:"seats"`
}

type listedBody struct {
	Event    string     `json:"event"`
	Currency string     `json:"currency"`
	Seats    int        `json:"seats"`
	HeldBack int        `json:"held_back"`
	Tiers    []soldTier `json:"tiers"`
	Remarks  []string   `json:"remarks"`
}

func listedOf(event, currency string, hall *listing.Hall) listedBody {
	b := listedBody{Event: event, Currency: currency, Tiers: []soldTier{}, Remarks: []string{}}
	if hall == nil {
		return b
	}
	b.Seats, b.HeldBack = len(hall.Plan.Seats), hall.HeldBackSeats()
	b.Remarks = append(b.Remarks, hall.Plan.Remarks...)
	for _, t := range hall.Tiers {
		b.Tiers = append(b.Tiers, soldTier{t.ID, t.AmountMinor, 0})
	}
	for _, tier := range hall.TierOf {
		b.Tiers[tier].Seats++
	}
	return b
}

// create opens an event with its hall: both or neither. It is served within a second
// or two, and lets nobody in before it has a rate and seats.
func (a *API) create(ctx context.Context, r listingRequest) (reply, error) {
	if !a.Desk.importing.TryLock() {
		return reply{}, problem("busy", "Another hall is being imported.").after(2 * time.Second)
	}
	defer a.Desk.importing.Unlock()
	out, err := inventory.CreateEvent(ctx, a.Desk.Pool, r.event, r.hall.Kept())
	switch {
	case err != nil:
		return reply{}, a.unavailable("create event", err)
	case out == inventory.EventExists:
		return reply{}, problem("event_exists", "Nothing was changed. Ids are the whole installation's.")
	}
	a.Desk.Changed(ctx, r.event.ID)
	return reply{status: 201, body: listedOf(r.event.ID, r.event.Currency, r.hall)}, nil
}

type importRequest struct {
	asked
	plan    seating.Plan
	name    string
	prices  map[string]string
	replace bool
}

func (a *API) readImport(c *fiber.Ctx) (r importRequest, err error) {
	if r.asked, err = a.asks(organiser.EventsWrite)(c); err != nil {
		return r, err
	}
	var b struct {
		planFile
		Prices  map[string]string `json:"prices"`
		Replace bool              `json:"replace"`
	}
	if err := jsonBody(c, &b); err != nil {
		return r, err
	}
	r.name, r.prices, r.replace = b.Name, b.Prices, b.Replace
	r.plan, err = b.read()
	return r, err
}

// importPlan gives an event its hall, while nobody has ordered of it.
func (a *API) importPlan(ctx context.Context, r importRequest) (reply, error) {
	if !a.Desk.importing.TryLock() {
		return reply{}, problem("busy", "Another hall is being imported.").after(2 * time.Second)
	}
	defer a.Desk.importing.Unlock()
	hall, err := a.offered(ctx, r)
	if err != nil {
		return reply{}, err
	}
	kept := hall.Kept()
	if err := listing.Chargeable(hall.Currency, kept); err != nil {
		return reply{}, flawed(err)
	}
	kept.By = r.key.Name
	out, detail, err := inventory.ImportHall(ctx, a.Desk.Pool, r.event, *kept, r.replace)
	if err != nil {
		return reply{}, a.unavailable("import plan", err)
	}
	if no := notImported(out, detail); no != nil {
		return reply{}, no
	}
	a.Desk.Changed(ctx, r.event)
	return reply{body: listedOf(r.event, hall.Currency, hall)}, nil
}

func notImported(out inventory.Import, detail string) *Problem {
	switch out {
	case inventory.Imported:
		return nil
	case inventory.ImportClosed:
		return problem("sale_closed", "Closed is final.")
	case inventory.HasOrders:
		return problem("plan_fixed", "")
	case inventory.HasPlan:
		return problem("plan_there", "If it is to be given up for this one, send replace: true.")
	case inventory.HoldsLost:
		return problem("plan_lacks", "Seats that are held back: "+detail)
	case inventory.RulesLost:
		return problem("plan_lacks", "What the event's limits or presales name: "+detail)
	}
	return problem("no_such_event", "")
}

// offered is the plan with the prices sent and, for its other categories, those that
// the event has already.
func (a *API) offered(ctx context.Context, r importRequest) (*listing.Hall, error) {
	events, err := inventory.Events(ctx, a.Desk.Pool, r.event)
	if err != nil {
		return nil, a.unavailable("event", err)
	}
	if len(events) == 0 {
		return nil, problem("no_such_event", "")
	}
	tiers, err := inventory.Tiers(ctx, a.Desk.Pool, r.event)
	if err != nil {
		return nil, a.unavailable("tiers", err)
	}
	offer := seating.Offer{File: r.name, Currency: events[0].Currency}
	for category, text := range r.prices {
		minor, err := seating.ParseAmount(offer.Currency, text)
		if err != nil {
			return nil, flawed(listing.Misfit{Field: "prices." + category, Why: err.Error()})
		}
		offer.Prices = append(offer.Prices, seating.Price{Category: category, AmountMinor: minor})
	}
	for _, t := range tiers {
		_, given := r.prices[t.ID]
		sold := slices.ContainsFunc(r.plan.Categories, func(c seating.Category) bool { return c.Name == t.ID })
		if sold && !given {
			offer.Prices = append(offer.Prices, seating.Price{Category: t.ID, AmountMinor: t.AmountMinor})
		}
	}
	sold, err := seating.Sell(r.plan, offer)
	return &listing.Hall{Hall: sold}, flawed(err)
}
