package httpapi

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

func (a *API) availability(c *fiber.Ctx) error {
	hall, ok := a.Halls.Get(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	doc := hall.free.Load()
	if doc == nil {
		return problem("unavailable", "The seats were not counted yet.")
	}
	shared(c.Context(), doc.Body, doc.ETag, sharedCache)
	return nil
}

// seatmap serves a plan under its hash for ever. Another hash is another plan:
// it is not this one's to answer.
func (a *API) seatmap(c *fiber.Ctx) error {
	hall, ok := a.Halls.Get(c.Params("event"))
	file := c.Params("file")
	if !ok || file != "seatmap."+hall.plan.Hash+".json" {
		return problem("no_such_route", "")
	}
	shared(c.Context(), hall.plan.Seatmap, `"`+hall.plan.Hash+`"`, "public, max-age=31536000, immutable")
	return nil
}

type countsBody struct {
	Free     int64 `json:"free"`
	Pending  int64 `json:"pending"`
	Sold     int64 `json:"sold"`
	HeldBack int64 `json:"held_back"`
}

func countsOf(s admission.Stock) countsBody {
	return countsBody{s.Free, s.Pending, s.Sold, s.HeldBack}
}

type eventBody struct {
	ID      string              `json:"id"`
	Title   string              `json:"title"`
	Venue   string              `json:"venue,omitempty"`
	OpensAt time.Time           `json:"opens_at"`
	State   admission.SaleState `json:"state"`
	Seats   countsBody          `json:"seats"`
}

func (a *API) events(c *fiber.Ctx) error {
	body, err := json.Marshal(map[string][]eventBody{"events": a.onSale()})
	if err != nil {
		return err
	}
	doc := newDocument(body)
	shared(c.Context(), doc.Body, doc.ETag, sharedCache)
	return nil
}

// onSale lists the lines that this process serves, by id.
func (a *API) onSale() []eventBody {
	out := []eventBody{}
	for _, line := range a.Lines.All() {
		sale := line.Sale()
		now := line.Standing()
		out = append(out, eventBody{
			ID: sale.Event, Title: sale.Title, Venue: sale.Venue, OpensAt: sale.OpensAt.UTC(),
			State: now.State, Seats: countsOf(now.Stock),
		})
	}
	slices.SortFunc(out, func(x, y eventBody) int { return strings.Compare(x.ID, y.ID) })
	return out
}
