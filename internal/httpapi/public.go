package httpapi

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

// availability is what is free, or what of it has changed since a cursor.
func (a *API) availability(c *fiber.Ctx) error {
	hall, ok := a.Halls.Get(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	doc, counted := hall.board.Since(c.Query("since"))
	if !counted {
		return problem("unavailable", "The seats were not counted yet.")
	}
	return tell(c.Context(), doc, sharedCache)
}

// seatmap serves a plan under its hash for ever. Another hash is another plan:
// it is not this one's to answer.
func (a *API) seatmap(c *fiber.Ctx) error {
	hall, ok := a.Halls.Get(c.Params("event"))
	if !ok || c.Params("file") != "seatmap."+hall.plan.Hash+".json" {
		return problem("no_such_route", "")
	}
	return tell(c.Context(), hall.seatmap, "public, max-age=31536000, immutable")
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

// events are all that is on sale, made at most once a second.
func (a *API) events(c *fiber.Ctx) error {
	doc, err := a.list.made(time.Now(), nil, func(time.Time) ([]byte, error) {
		return json.Marshal(map[string][]eventBody{"events": a.onSale()})
	})
	if err != nil {
		return err
	}
	return tell(c.Context(), doc, sharedCache)
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
