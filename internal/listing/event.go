// Package listing brings what an organiser wrote (an event's file, a seating plan,
// prices) into the terms of what is kept, and refuses what could not be sold. It
// reads no file and no database.
package listing

import (
	"waitroom/internal/inventory"
	"waitroom/internal/seating"
)

// Event is the file in the database's terms: what is not set is NULL.
func Event(f seating.EventFile) inventory.Event {
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
