package seating

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// smallest is an event file with nothing that may be left out.
const smallest = "id: gala\ntitle: Gala\ncurrency: EUR\nopens_at: now\n"

func event(t testing.TB, data string) EventFile {
	t.Helper()
	e, err := ParseEvent("event.yaml", []byte(data), now)
	if err != nil {
		t.Fatalf("refused:\n%v", err)
	}
	return e
}

func TestWhatIsLeftOutTakesTheDefault(t *testing.T) {
	want := EventFile{
		ID: "gala", Title: "Gala", Currency: "EUR", OpensAt: now,
		LineCap: 2_000_000, OrderLimit: 4, AccountLimit: 4, PassQuota: 4,
		PassLife: 10 * time.Minute, CallWindow: 2 * time.Minute,
		PayWithin: 10 * time.Minute, PayExtension: 5 * time.Minute, StockSlack: 0.5,
		Late: "refund", LapseLimit: 3, CoolDown: 10 * time.Minute, Offer: Offer{File: "event.yaml", Currency: "EUR"},
	}
	if diff := cmp.Diff(want, event(t, smallest)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e := event(t, smallest+"order_limit: 8\n"); e.AccountLimit != 8 || e.PassQuota != 8 {
		t.Errorf("an order may have 8 seats, an account %d and a pass %d", e.AccountLimit, e.PassQuota)
	}
}

func TestTheExampleIsRead(t *testing.T) {
	data, err := os.ReadFile("../../examples/event.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e := event(t, string(data))
	h, err := Sell(parsed(t, "plan.json", concertHall(t)), e.Offer)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, b := range h.HeldBack {
		if b {
			held++
		}
	}
	if len(h.Plan.Seats) != 1756+44 || held != 2 || h.Tiers[3] != (Tier{"Balcony", 2950, "#16a085"}) {
		t.Errorf("%d seats, %d held back, tiers %+v", len(h.Plan.Seats), held, h.Tiers)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	got := event(t, smallest+`venue: "Hall: the big one"
closes_at: 2026-03-02T10:00:00+01:00
rate: 0.4
line_cap: 1000
order_limit: 2
account_limit: 6
pass_quota: 3
pass_life: 90s
call_window: 1m
pay_within: 48h
pay_extension: 0s
share_prior: 0.25
tickets_prior: 1.5
stock_slack: 0
max_inside: 500
payment_quota: 2.5
late: reclaim
tier_limits: {"Stalls, front": 2}
presales: [{name: fans, tiers: [Gods], sections: [Box], until: 2026-03-02T10:00:00+01:00}, {name: house, tiers: [Gods]}]
lapse_limit: 5
cool_down: 0s
plan: hall.json
prices: {"Stalls, front": 89.10, Gods: "12"}
general_admission: [{section: Floor, category: Gods, count: 7}]
held_back: [ga-1-7, 12]
`)
	want := EventFile{
		ID: "gala", Title: "Gala", Venue: "Hall: the big one", Currency: "EUR", OpensAt: now,
		ClosesAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), Rate: 0.4,
		LineCap: 1000, OrderLimit: 2, AccountLimit: 6, PassQuota: 3,
		PassLife: 90 * time.Second, CallWindow: time.Minute, PayWithin: 48 * time.Hour,
		SharePrior: 0.25, TicketsPrior: 1.5, MaxInside: 500, PaymentQuota: 2.5, Late: "reclaim", Plan: "hall.json",
		TierLimits: map[string]int{"Stalls, front": 2}, LapseLimit: 5,
		Presales: []PresaleFile{
			{Name: "fans", Tiers: []string{"Gods"}, Sections: []string{"Box"}, Until: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)},
			{Name: "house", Tiers: []string{"Gods"}},
		},
		Offer: Offer{
			File: "event.yaml", Currency: "EUR",
			Prices:     []Price{{Category: "Stalls, front", AmountMinor: 8910}, {Category: "Gods", AmountMinor: 1200}},
			Admissions: []Admission{{Section: "Floor", Category: "Gods", Count: 7}},
			HeldBack:   []Hold{{GUID: "ga-1-7"}, {GUID: "12"}},
		},
	}
	opts := cmpopts.IgnoreUnexported(Price{}, Admission{}, Hold{})
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each senseless value is refused by file, line and field.
func TestFlawsOfEventFilesAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"unknown key":       {smallest + "order_limits: 4\n", "event.yaml:5: order_limits: unknown key"},
		"key twice":         {smallest + "title: Other\n", "event.yaml:5: title: stands on line 2 too"},
		"id missing":        {"title: G\ncurrency: EUR\nopens_at: now\n", "event.yaml: id: missing"},
		"id":                {"id: Gala 1\ntitle: G\ncurrency: EUR\nopens_at: now\n", `event.yaml:1: id: "Gala 1": want a-z`},
		"no title":          {strings.Replace(smallest, "title: Gala", "title:", 1), "event.yaml:2: title: no value, want text"},
		"blank title":       {strings.Replace(smallest, "title: Gala", `title: " "`, 1), "event.yaml:2: title: empty"},
		"currency":          {strings.Replace(smallest, "EUR", "EUX", 1), `event.yaml:3: currency: "EUX" is not a currency`},
		"small currency":    {strings.Replace(smallest, "EUR", "eur", 1), `event.yaml:3: currency: "eur" is not a currency`},
		"opens at":          {strings.Replace(smallest, "now", "tomorrow", 1), `event.yaml:4: opens_at: "tomorrow", want a time with its zone`},
		"no zone":           {strings.Replace(smallest, "now", "2026-03-01T10:00:00", 1), `event.yaml:4: opens_at: "2026-03-01T10:00:00", want a time`},
		"closes before":     {smallest + "closes_at: 2026-03-01T09:00:00Z\n", "event.yaml:5: closes_at: 2026-03-01T09:00:00Z is not after opens_at"},
		"rate 0":            {smallest + "rate: 0\n", `event.yaml:5: rate: "0", want people a second`},
		"rate negative":     {smallest + "rate: -3\n", `event.yaml:5: rate: "-3"`},
		"rate NaN":          {smallest + "rate: .nan\n", `event.yaml:5: rate: ".nan"`},
		"rate nan":          {smallest + "rate: nan\n", `event.yaml:5: rate: "nan"`},
		"rate infinite":     {smallest + "rate: inf\n", `event.yaml:5: rate: "inf"`},
		"rate too high":     {smallest + "rate: 10001\n", `event.yaml:5: rate: "10001"`},
		"rate a list":       {smallest + "rate: [1]\n", `event.yaml:5: rate: a list, want people a second`},
		"limit 0":           {smallest + "order_limit: 0\n", `event.yaml:5: order_limit: "0", want a whole number from 1 to 100`},
		"limit 2.5":         {smallest + "order_limit: 2.5\n", `event.yaml:5: order_limit: "2.5"`},
		"limit 2^31":        {smallest + "order_limit: 2147483648\n", `event.yaml:5: order_limit: "2147483648"`},
		"account below":     {smallest + "order_limit: 5\naccount_limit: 4\n", "event.yaml:6: account_limit: 4 is less than order_limit, 5"},
		"no unit":           {smallest + "pay_within: 600\n", `event.yaml:5: pay_within: "600", want a duration with its unit, 1s to 48h`},
		"too short":         {smallest + "pass_life: 9s\n", `event.yaml:5: pass_life: "9s", want a duration with its unit, 10s to 1h`},
		"too long":          {smallest + "call_window: 61m\n", `event.yaml:5: call_window: "61m"`},
		"negative":          {smallest + "pay_extension: -1s\n", `event.yaml:5: pay_extension: "-1s"`},
		"share":             {smallest + "share_prior: 1.01\n", `event.yaml:5: share_prior: "1.01", want a share`},
		"tickets":           {smallest + "tickets_prior: 0.9\n", `event.yaml:5: tickets_prior: "0.9"`},
		"slack":             {smallest + "stock_slack: 2\n", `event.yaml:5: stock_slack: "2", want a share from 0 to 1`},
		"max inside":        {smallest + "max_inside: 0\n", `event.yaml:5: max_inside: "0", want a whole number from 1`},
		"payment quota":     {smallest + "payment_quota: 0\n", `event.yaml:5: payment_quota: "0", want payments a second`},
		"late":              {smallest + "late: maybe\n", `event.yaml:5: late: "maybe", want refund or reclaim`},
		"tier limit":        {smallest + "tier_limits: {A: 0}\n", `event.yaml:5: tier_limits.A: "0", want a whole number from 1 to 10000`},
		"presale's name":    {smallest + "presales: [{tiers: [A]}]\n", `event.yaml:5: presales[0].name: missing`},
		"presale of what":   {smallest + "presales: [{name: fans}]\n", `event.yaml:5: presales[0]: neither tiers nor sections`},
		"lapse limit":       {smallest + "lapse_limit: 0\n", `event.yaml:5: lapse_limit: "0"`},
		"cool down":         {smallest + "cool_down: 25h\n", `event.yaml:5: cool_down: "25h"`},
		"cap":               {smallest + "line_cap: 0\n", `event.yaml:5: line_cap: "0"`},
		"price":             {smallest + "prices:\n  A: cheap\n", `event.yaml:6: prices.A: "cheap" is not a price`},
		"decimals":          {smallest + "prices:\n  A: 1.234\n", `event.yaml:6: prices.A: 1.234 has more decimals than EUR has (2)`},
		"price twice":       {smallest + "prices:\n  A: 1\n  A: 2\n", `event.yaml:7: prices.A: stands on line 6 too`},
		"prices a list":     {smallest + "prices: [1]\n", `event.yaml:5: prices: a list, want keys and values`},
		"admission":         {smallest + "general_admission:\n- {section: F, category: A}\n", `event.yaml:6: general_admission[0].count: missing`},
		"admission's count": {smallest + "general_admission:\n- {section: F, category: A, count: -1}\n", `event.yaml:6: general_admission[0].count: "-1", want a whole number`},
		"admission's key":   {smallest + "general_admission:\n- {section: F, category: A, count: 1, row: 2}\n", `event.yaml:6: general_admission[0].row: unknown key`},
		"held of nothing":   {smallest + "held_back: [g]\n", `event.yaml:5: held_back: there are no seats`},
		"prices of nothing": {smallest + "prices: {A: 1}\n", `event.yaml:5: prices: there are no seats`},
		"alias":             {smallest + "prices: &p {A: 1}\nheld_back: *p\n", `event.yaml:6: held_back: an alias, want a list`},
		"no YAML":           {smallest + "\tx: 1\n", `not YAML: found a tab character`},
		"two documents":     {smallest + "---\nid: b\n", `there is a second document`},
		"a text":            {"gala", `event.yaml:1: "gala", want keys and values`},
		"comments":          {"# nothing\n", `it holds nothing`},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := ParseEvent("event.yaml", []byte(c.data), now)
			refused(t, err, c.want)
			if e.ID != "" {
				t.Errorf("half an event came out: %+v", e)
			}
		})
	}
}

// A hall is sold as the offer says, or not at all.
func TestFlawsOfOffersAreNamed(t *testing.T) {
	plan := parsed(t, "plan.json", []byte(hall))
	for name, c := range map[string]struct{ data, want string }{
		"no price":        {"plan: p.json\n", `event.yaml: prices: category "A" has 1 seats and no price`},
		"misspelt price":  {"prices: {A: 1, B: 2}\nplan: p\n", `event.yaml:5: prices.B: the hall has no such category`},
		"admission":       {"prices: {A: 1}\ngeneral_admission: [{section: F, category: C, count: 3}]\n", `category "C" has 3 seats and no price`},
		"admission twice": {"prices: {A: 1}\ngeneral_admission:\n- {section: F, category: A, count: 3}\n- {section: F, category: A, count: 3}\n", `event.yaml:8: general_admission[1]: "A" in "F" stands twice`},
		"too many":        {"prices: {A: 1}\ngeneral_admission:\n- {section: F, category: A, count: 200000}\n", `event.yaml:7: general_admission[0].count: more than 200000 seats`},
		"held":            {"prices: {A: 1}\nplan: p\nheld_back: [g1, g2]\n", `event.yaml:7: held_back[1]: the hall has no seat "g2"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Sell(plan, event(t, smallest+c.data).Offer)
			refused(t, err, c.want)
		})
	}
	_, err := Sell(Plan{}, event(t, smallest).Offer)
	refused(t, err, "there are no seats to sell")
	taken := parsed(t, "plan.json", edit(t, `"g1"`, `"ga-1-2"`))
	_, err = Sell(taken, event(t, smallest+"prices: {A: 1}\ngeneral_admission: [{section: F, category: A, count: 3}]\n").Offer)
	refused(t, err, `event.yaml:6: general_admission[0]: its unit "ga-1-2" is called like a seat of the plan`)
}

// Selling a plan leaves the plan as it was: two events may share it.
func TestAPlanIsSoldTwice(t *testing.T) {
	plan := parsed(t, "plan.json", []byte(hall))
	one, err := Sell(plan, event(t, smallest+"prices: {A: 1}\ngeneral_admission: [{section: F, category: A, count: 3}]\n").Offer)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Sell(plan, event(t, smallest+"prices: {A: 1}\ngeneral_admission: [{section: G, category: A, count: 2}]\n").Offer)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Seats) != 1 || len(one.Plan.Seats) != 4 || one.Plan.Seats[1].Section != "F" || two.Plan.Seats[1].Section != "G" {
		t.Errorf("plan %d, one %+v, two %+v", len(plan.Seats), one.Plan.Seats, two.Plan.Seats)
	}
}

func TestAmountsAreExact(t *testing.T) {
	for _, c := range []struct {
		currency, text string
		minor          int64
		why            string
	}{
		{"EUR", "49", 4900, ""},
		{"EUR", "49.1", 4910, ""},
		{"EUR", "0.01", 1, ""},
		{"EUR", "90071992547.40", 0, "is not a price from 1 to"},
		{"EUR", "1000000000.00", 100_000_000_000, ""},
		{"JPY", "9899", 9899, ""},
		{"JPY", "9899.0", 0, "more decimals than JPY has (0)"},
		{"KWD", "18.600", 18600, ""},
		{"KWD", "18.6", 18600, ""},
		{"KWD", "18.6000", 0, "more decimals than KWD has (3)"},
		{"EUR", "0", 0, "is not a price from 1"},
		{"EUR", "-1", 0, "is not a price"},
		{"EUR", "1e3", 0, "is not a price"},
		{"EUR", "1_000", 0, "is not a price"},
		{"EUR", "1,50", 0, "is not a price"},
		{"EUR", "1.", 0, "is not a price"},
		{"EUR", ".5", 0, "is not a price"},
		{"EUR", "", 0, "is not a price"},
		{"EUR", "٤٩", 0, "is not a price"},
		{"XXX", "1", 0, "is not a currency"},
		{"UR ", "1", 0, "is not a currency"},
		{"", "1", 0, "is not a currency"},
	} {
		minor, err := ParseAmount(c.currency, c.text)
		if minor != c.minor || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %q: %d, %v; want %d %s", c.currency, c.text, minor, err, c.minor, c.why)
		}
		if err == nil {
			again, err := ParseAmount(c.currency, FormatAmount(c.currency, minor))
			if err != nil || again != minor {
				t.Errorf("%d %s is written %s and read %d, %v", minor, c.currency, FormatAmount(c.currency, minor), again, err)
			}
		}
	}
}

func FuzzEventFile(f *testing.F) {
	f.Add([]byte(smallest))
	f.Add([]byte(smallest + "prices: &p {A: 1}\ngeneral_admission:\n- {section: F, category: A, count: 3}\nheld_back: [a, *p]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEvent("event.yaml", data, now)
		var flaws *Flaws
		switch {
		case err != nil && (!errors.As(err, &flaws) || len(flaws.Kept) == 0 || e.ID != ""):
			t.Errorf("%+v refused with %#v", e, err)
		case err == nil && (e.ID == "" || e.Title == "" || e.OpensAt.IsZero() || e.AccountLimit < e.OrderLimit):
			t.Errorf("senseless: %+v", e)
		}
	})
}

// What the best seats are near is said whole, or not at all.
func TestBestSeatsOfAnEventFile(t *testing.T) {
	file := "id: e\ntitle: E\ncurrency: EUR\nopens_at: now\nbest_seats: {"
	e, err := ParseEvent("event.yaml", []byte(file+"focus_x: 10, focus_y: -2.5, orphans: strict}\n"), time.Now())
	if err != nil || e.Offer.Best.Focus == nil || *e.Offer.Best.Focus != (Point{10, -2.5}) || e.Offer.Best.Orphans != "strict" {
		t.Errorf("%+v, %v", e.Offer.Best, err)
	}
	for _, bad := range []string{"focus_x: 1}\n", "orphans: never}\n", "focus_x: 1, focus_y: 2000000}\n", "stage: 1}\n"} {
		if _, err := ParseEvent("event.yaml", []byte(file+bad), time.Now()); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
