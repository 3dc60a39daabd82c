package seating

import (
	"fmt"
	"regexp"
	"time"

	"gopkg.in/yaml.v3"
)

// EventFile is an event.yaml: one event as its organiser writes it, checked
// against every bound of the events table. examples/event.yaml shows each key.
type EventFile struct {
	ID       string
	Title    string
	Venue    string
	Currency string // ISO 4217
	OpensAt  time.Time
	ClosesAt time.Time // zero: not by itself
	Rate     float64   // people a second; 0: not set, and then nobody is let in

	LineCap      int // people in the line
	OrderLimit   int // seats in one order
	AccountLimit int // seats of one account, held and paid
	PassQuota    int // seats that one pass buys
	PassLife     time.Duration
	CallWindow   time.Duration
	PayWithin    time.Duration
	PayExtension time.Duration
	SharePrior   float64 // share of those let in who buy; 0: not known
	TicketsPrior float64 // seats per buyer; 0: not known
	StockSlack   float64
	MaxInside    int     // people inside at once; 0: no cap
	PaymentQuota float64 // payments a second that the provider opens for us; 0: not known
	Late         string  // what late money does: refund, or reclaim

	TierLimits map[string]int // seats of a price tier that one account may have; nil: no tier has a limit of its own
	Presales   []PresaleFile  // nil: everything is sold to everybody
	LapseLimit int            // orders that an account may let run out before each costs it the cool-down
	CoolDown   time.Duration

	Accounts      bool // who joins needs an account of the organiser's sign-in
	CodesRequired bool // or an access code
	Codes         CodesFile

	Open bool // no line: who has a ticket of the event may claim
	Gate bool // before the claims of an event that has no line

	Draw *DrawFile // nil: first come, first served

	Plan  string // a seating plan's file, relative to this one; empty: none
	Offer Offer
}

// ParseEvent reads an event.yaml; "now" in it is now. It is strict: a misspelt
// limit would be a limit that is not there. The error is a *Flaws.
func ParseEvent(file string, data []byte, now time.Time) (EventFile, error) {
	f := &flaws{file: file}
	data = text(f, data)
	if err := f.err(); err != nil {
		return EventFile{}, err
	}
	e := EventFile{
		LineCap: 2_000_000, PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		PayWithin: 10 * time.Minute, PayExtension: 5 * time.Minute, StockSlack: 0.5,
		Late: "refund", LapseLimit: 3, CoolDown: 10 * time.Minute, Offer: Offer{File: file},
	}
	y := yamlFile{f}
	if lines := y.document(data, e.keys(y, now)); lines != nil {
		e.settle(y, lines, now)
	}
	if err := f.err(); err != nil {
		return EventFile{}, err
	}
	return e, nil
}

func (e *EventFile) keys(y yamlFile, now time.Time) map[string]read {
	upTo := func(most float64) func(float64) bool {
		return func(v float64) bool { return v > 0 && v <= most }
	}
	return map[string]read{
		"id":        y.text(&e.ID, 63),
		"title":     y.text(&e.Title, 200),
		"venue":     y.text(&e.Venue, 200),
		"currency":  y.text(&e.Currency, 3),
		"opens_at":  y.opening(&e.OpensAt, now),
		"closes_at": y.moment(&e.ClosesAt),
		"rate":      y.number(&e.Rate, upTo(10_000), "people a second, more than 0 and at most 10000"),

		"line_cap":      y.whole(&e.LineCap, 1, 1_000_000_000),
		"order_limit":   y.whole(&e.OrderLimit, 1, 100),
		"account_limit": y.whole(&e.AccountLimit, 1, 10_000),
		"pass_quota":    y.whole(&e.PassQuota, 1, 100),
		"pass_life":     y.duration(&e.PassLife, 10*time.Second, time.Hour),
		"call_window":   y.duration(&e.CallWindow, 5*time.Second, time.Hour),
		"pay_within":    y.duration(&e.PayWithin, time.Second, 48*time.Hour),
		"pay_extension": y.duration(&e.PayExtension, 0, 24*time.Hour),
		"share_prior":   y.number(&e.SharePrior, upTo(1), "a share, more than 0 and at most 1"),
		"tickets_prior": y.number(&e.TicketsPrior, func(v float64) bool { return v >= 1 && v <= 100 }, "a number from 1 to 100"),
		"stock_slack":   y.number(&e.StockSlack, func(v float64) bool { return v >= 0 && v <= 1 }, "a share from 0 to 1"),

		"max_inside":    y.whole(&e.MaxInside, 1, 1_000_000_000),
		"payment_quota": y.number(&e.PaymentQuota, upTo(10_000), "payments a second, more than 0 and at most 10000"),
		"late":          y.late(&e.Late),

		"admission": y.either(&e.Open, "line", "open"),
		"gate":      y.either(&e.Gate, "off", "on"),

		"tier_limits": y.tierLimits(&e.TierLimits),
		"presales":    y.presales(&e.Presales),
		"lapse_limit": y.whole(&e.LapseLimit, 1, 1000),
		"cool_down":   y.duration(&e.CoolDown, 0, 24*time.Hour),

		"accounts": y.required(&e.Accounts),
		"codes":    y.codes(&e.CodesRequired, &e.Codes),
		"draw":     y.draw(&e.Draw, now),

		"plan":              y.text(&e.Plan, 1000),
		"prices":            y.prices(&e.Offer),
		"general_admission": y.admissions(&e.Offer),
		"held_back":         y.holds(&e.Offer),
		"best_seats":        y.best(&e.Offer.Best),
	}
}

// eventID is the events table's own rule.
var eventID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// settle checks the fields against each other, reads the prices now that their
// currency is known, and fills what follows from another field.
func (e *EventFile) settle(y yamlFile, lines map[string]int, now time.Time) {
	for _, key := range []string{"id", "title", "currency", "opens_at"} {
		if _, given := lines[key]; !given {
			y.add(0, key, "missing")
		}
	}
	if e.ID != "" && !eventID.MatchString(e.ID) {
		y.add(lines["id"], "id", "%q: want a-z, 0-9 and -, not first a -", clip(e.ID))
	}
	if e.Currency != "" {
		e.settlePrices(y, lines["currency"])
	}
	if !e.ClosesAt.IsZero() && !e.ClosesAt.After(e.OpensAt) {
		y.add(lines["closes_at"], "closes_at", "%s is not after opens_at", e.ClosesAt.Format(time.RFC3339))
	}
	e.settleDraw(y, lines["draw"], now)
	e.settleAdmission(y, lines)
	e.OrderLimit = orElse(e.OrderLimit, 4)
	e.AccountLimit = orElse(e.AccountLimit, max(4, e.OrderLimit))
	e.PassQuota = orElse(e.PassQuota, max(4, e.OrderLimit))
	if e.AccountLimit < e.OrderLimit {
		y.add(lines["account_limit"], "account_limit", "%d is less than order_limit, %d", e.AccountLimit, e.OrderLimit)
	}
	if e.Plan != "" || len(e.Offer.Admissions) > 0 {
		return
	}
	for _, key := range []string{"prices", "held_back"} {
		if line, given := lines[key]; given {
			y.add(line, key, "there are no seats: the file names neither a plan nor general admission")
		}
	}
}

func (e *EventFile) settlePrices(y yamlFile, line int) {
	e.Offer.Currency = e.Currency
	if _, ok := Decimals(e.Currency); !ok {
		y.add(line, "currency", "%q is not a currency (ISO 4217)", clip(e.Currency))
		return
	}
	for i := range e.Offer.Prices {
		p := &e.Offer.Prices[i]
		minor, err := ParseAmount(e.Currency, p.text)
		if err != nil {
			y.add(p.line, "prices."+p.Category, "%v", err)
		}
		p.AmountMinor = minor
	}
}

func orElse(v, d int) int {
	if v == 0 {
		return d
	}
	return v
}

// opening is a moment, or the word now.
func (y yamlFile) opening(to *time.Time, now time.Time) read {
	return func(n *yaml.Node, field string) {
		if n.Kind == yaml.ScalarNode && n.Value == "now" {
			*to = now
			return
		}
		y.moment(to)(n, field)
	}
}

// late is what money does that comes after its order has expired.
func (y yamlFile) late(to *string) read {
	return func(n *yaml.Node, field string) {
		const want = "refund or reclaim"
		s, ok := y.scalar(n, field, want)
		if ok && s != "refund" && s != "reclaim" {
			y.wrong(n, field, want)
		}
		*to = s
	}
}

func (y yamlFile) prices(o *Offer) read {
	return func(n *yaml.Node, field string) {
		y.pairs(n, field, func(key, value *yaml.Node, at string) {
			p := Price{Category: key.Value, line: key.Line}
			y.check(key.Line, at, key.Value, MaxLabel)
			var ok bool
			if p.text, ok = y.scalar(value, at, "a price"); ok {
				o.Prices = append(o.Prices, p)
			}
		})
	}
}

func (y yamlFile) admissions(o *Offer) read {
	return func(n *yaml.Node, field string) {
		y.list(n, field, func(n *yaml.Node, at string) {
			a := Admission{line: n.Line}
			have := y.mapping(n, at, map[string]read{
				"section":  y.text(&a.Section, MaxLabel),
				"category": y.text(&a.Category, MaxLabel),
				"count":    y.whole(&a.Count, 1, MaxSeats),
			})
			for _, key := range []string{"section", "category", "count"} {
				if _, given := have[key]; !given && n.Kind == yaml.MappingNode {
					y.add(n.Line, fmt.Sprintf("%s.%s", at, key), "missing")
				}
			}
			o.Admissions = append(o.Admissions, a)
		})
	}
}

func (y yamlFile) holds(o *Offer) read {
	return func(n *yaml.Node, field string) {
		y.list(n, field, func(n *yaml.Node, at string) {
			if guid, ok := y.scalar(n, at, "a seat's guid"); ok {
				o.HeldBack = append(o.HeldBack, Hold{GUID: guid, line: n.Line, field: at})
			}
		})
	}
}
