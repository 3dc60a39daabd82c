package httpapi

import (
	"encoding/json"

	"waitroom/internal/inventory"
)

// drawing is what a page says of a hall before its map is drawn: so that
// nothing moves when it is.
type drawing struct {
	Plan       string
	Wide, High int
	Legend     []legendEntry
	Text       string // for who cannot see it
	Kept       bool   // some of it is for presale codes alone
}

type legendEntry struct {
	Tier, Color string
	AmountMinor int64
}

// drawingOf reads the seat map; nil when it has no seats to draw.
func drawingOf(plan inventory.SeatPlan) *drawing {
	drawn := map[string]bool{}
	for _, s := range plan.Seats {
		if s.Kind != "general" {
			drawn[s.Tier] = true
		}
	}
	var m struct {
		Box   [4]int
		Tiers []struct {
			ID, Color string
			Amount    int64
		}
	}
	if err := json.Unmarshal(plan.Seatmap, &m); err != nil || len(drawn) == 0 || m.Box[2] <= 0 || m.Box[3] <= 0 {
		return nil
	}
	d := &drawing{Plan: plan.Hash, Wide: m.Box[2], High: m.Box[3]}
	for _, t := range m.Tiers {
		if drawn[t.ID] {
			d.Legend = append(d.Legend, legendEntry{t.ID, t.Color, t.Amount})
		}
	}
	return d
}

// says is the drawing with words of its own, and what a count has of it.
func (d *drawing) says(text string, count *inventory.Count) *drawing {
	if d == nil {
		return nil
	}
	said := *d
	said.Text, said.Kept = text, count != nil && count.Kept > 0
	return &said
}
