package listing

import (
	"fmt"
	"slices"

	"waitroom/internal/inventory"
	"waitroom/internal/seating"
	"waitroom/internal/stripe"
)

// Misfit is a part of a listing that the rest of it, or the payment provider, does
// not bear.
type Misfit struct{ Field, Why string }

func (m Misfit) Error() string { return m.Field + ": " + m.Why }

// Check refuses an event that could not be sold as it is listed: prices that cannot
// be charged, limits and presales that name what the hall has not. The error is a
// Misfit. hall may be nil.
func Check(e inventory.Event, hall *inventory.Hall) error {
	if err := Chargeable(e.Currency, hall); err != nil {
		return err
	}
	if field, why := misruled(e, hall); field != "" {
		return Misfit{field, why}
	}
	return nil
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
