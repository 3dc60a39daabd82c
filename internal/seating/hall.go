package seating

import (
	"fmt"
	"slices"
)

// Offer is what an organiser adds to a plan to sell it.
type Offer struct {
	File       string // where it was written, for the flaws
	Currency   string
	Prices     []Price
	Admissions []Admission
	HeldBack   []Hold
	Best       BestFile
}

// Hold keeps a seat back: it is drawn, and nobody can claim it.
type Hold struct {
	GUID  string
	line  int
	field string
}

// Hall is a plan with its prices: what is sold, and what a browser draws.
type Hall struct {
	Currency string
	Plan     Plan
	Tiers    []Tier
	TierOf   []int  // of each seat of the plan, an index into Tiers
	HeldBack []bool // of each seat
	Focus    *Point // what the best seats are near; nil: the plan does not say
	Orphans  string // lenient or strict; empty: lenient
}

// Tier is a category with its price.
type Tier struct {
	ID          string // the category's name
	AmountMinor int64
	Color       string
}

// Sell puts an offer on a plan. Every category that has seats needs a price,
// and whatever the offer names must exist: a price for a misspelt category
// would be a price that is not charged. The error is a *Flaws.
func Sell(p Plan, o Offer) (Hall, error) {
	f := &flaws{file: o.File}
	h := Hall{Currency: o.Currency, Plan: p}
	h.admit(f, o.Admissions)
	h.price(f, o.Prices)
	h.hold(f, o.HeldBack)
	h.Orphans, h.Focus = o.Best.Orphans, o.Best.Focus
	if h.Focus == nil {
		h.Focus = p.stage()
	}
	if len(h.Plan.Seats) == 0 {
		f.add(0, "", "there are no seats to sell: neither in the plan nor as general admission")
	}
	if err := f.err(); err != nil {
		return Hall{}, err
	}
	return h, nil
}

// admit appends general admission behind the plan's own seats.
func (h *Hall) admit(f *flaws, groups []Admission) {
	plan := &h.Plan
	taken := make(map[string]bool, len(plan.Seats))
	for _, s := range plan.Seats {
		taken[s.GUID] = true
	}
	// What is appended must not be written into the caller's plan.
	plan.Seats, plan.groups = slices.Clip(plan.Seats), slices.Clip(plan.groups)
	for i, g := range groups {
		at := fmt.Sprintf("general_admission[%d]", i)
		switch {
		case slices.ContainsFunc(plan.groups, g.sameAs):
			f.add(g.line, at, "%q in %q stands twice", clip(g.Category), clip(g.Section))
			continue
		case len(plan.Seats)+g.Count > MaxSeats:
			f.add(g.line, at+".count", "more than %d seats in all", MaxSeats)
			return
		}
		plan.groups = append(plan.groups, g)
		for _, unit := range g.seats(len(plan.groups)) {
			if taken[unit.GUID] {
				f.add(g.line, at, "its unit %q is called like a seat of the plan", unit.GUID)
				break
			}
			plan.Seats = append(plan.Seats, unit)
		}
	}
}

// price makes a tier of every category that is priced, in the order of the
// plan and then of general admission.
func (h *Hall) price(f *flaws, prices []Price) {
	amount := make(map[string]Price, len(prices))
	for _, p := range prices {
		amount[p.Category] = p
	}
	tier := map[string]int{}
	offer := func(c Category) {
		p, priced := amount[c.Name]
		if _, twice := tier[c.Name]; twice || !priced {
			return
		}
		tier[c.Name] = len(h.Tiers)
		h.Tiers = append(h.Tiers, Tier{ID: c.Name, AmountMinor: p.AmountMinor, Color: c.Color})
	}
	for _, c := range h.Plan.Categories {
		offer(c)
	}
	for _, g := range h.Plan.groups {
		offer(Category{Name: g.Category})
	}
	for _, p := range prices {
		if _, sold := tier[p.Category]; !sold {
			f.add(p.line, "prices."+clip(p.Category), "the hall has no such category")
		}
	}
	h.assign(f, tier)
}

func (h *Hall) assign(f *flaws, tier map[string]int) {
	unpriced := map[string]int{}
	var names []string
	h.TierOf = make([]int, len(h.Plan.Seats))
	for pos, s := range h.Plan.Seats {
		t, priced := tier[s.Category]
		h.TierOf[pos] = t
		if !priced {
			if unpriced[s.Category]++; unpriced[s.Category] == 1 {
				names = append(names, s.Category)
			}
		}
	}
	for _, name := range names {
		f.add(0, "prices", "category %q has %d seats and no price", name, unpriced[name])
	}
}

func (h *Hall) hold(f *flaws, holds []Hold) {
	h.HeldBack = make([]bool, len(h.Plan.Seats))
	if len(holds) == 0 {
		return
	}
	at := make(map[string]int, len(h.Plan.Seats))
	for pos, s := range h.Plan.Seats {
		at[s.GUID] = pos
	}
	for _, hold := range holds {
		pos, found := at[hold.GUID]
		if !found {
			f.add(hold.line, hold.field, "the hall has no seat %q", clip(hold.GUID))
			continue
		}
		h.HeldBack[pos] = true
	}
}
