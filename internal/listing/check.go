package listing

import (
	"fmt"
	"slices"
	"time"

	"waitroom/internal/inventory"
	"waitroom/internal/seating"
	"waitroom/internal/stripe"
)

// Misfit is a part of a listing that the rest of it, or the payment provider, does
// not bear.
type Misfit struct{ Field, Why string }

func (m Misfit) Error() string { return m.Field + ": " + m.Why }

// Check refuses an event that could not be sold as it is listed: prices that cannot
// be charged, limits and presales that name what the hall has not, and times that are
// past. The error is a Misfit. hall may be nil.
func Check(e inventory.Event, hall *inventory.Hall, now time.Time) error {
	if field, why := past(e, now); field != "" {
		return Misfit{field, why}
	}
	if err := Chargeable(e.Currency, hall); err != nil {
		return err
	}
	if field, why := misruled(e, hall); field != "" {
		return Misfit{field, why}
	}
	return nil
}

// past names a time that is over: a sale with last year's dates would be over at
// once, or begin at once and let in whoever comes first, a lobby that has closed has
// nobody in it to draw, and what is for codes alone until then is everybody's. The times of a sale that is there are held to the same.
func past(e inventory.Event, now time.Time) (setting, why string) {
	switch {
	case e.OpensAt.Before(now.Add(-inventory.PastOpening)):
		return "opens_at", fmt.Sprintf("%s is past: want now, a time to come, or one within the last %s", e.OpensAt.Format(time.RFC3339), inventory.PastOpening)
	case e.Draw != nil && !e.Draw.LobbyClosesAt.After(now):
		return "draw.lobby_closes_at", fmt.Sprintf("%s is past: want a time to come, or nobody can be drawn", e.Draw.LobbyClosesAt.Format(time.RFC3339))
	case e.ClosesAt != nil && !e.ClosesAt.After(now):
		return "closes_at", e.ClosesAt.Format(time.RFC3339) + " is past: want a time to come, or nobody is ever let in"
	}
	for _, p := range e.Presales {
		if p.Until != nil && !p.Until.After(now) {
			return "presales." + p.Name + ".until", p.Until.Format(time.RFC3339) + " is past: want a time to come, or what is for its codes alone is everybody's at once"
		}
	}
	return "", ""
}

// Chargeable refuses prices that the payment provider could not be told
// exactly: nobody could pay for a ticket. The error is a Misfit.
func Chargeable(currency string, hall *inventory.Hall) error {
	if hall == nil {
		hall = &inventory.Hall{}
	}
	if _, err := stripe.ToProvider(0, currency); err != nil {
		return Misfit{"currency", "the payment provider does not take " + currency}
	}
	for _, t := range hall.Tiers {
		if _, err := stripe.ToProvider(t.AmountMinor, currency); err != nil {
			return Misfit{"prices." + t.ID, "the payment provider cannot charge " + seating.FormatAmount(currency, t.AmountMinor) + " " + currency + " exactly"}
		}
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
