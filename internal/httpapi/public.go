package httpapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"waitroom/internal/admission"
)

// What a cache in front may do with the documents that change each second: keep
// them for one, serve the last one for two more while it asks, and for half a
// minute if we do not answer.
const sharedCache = "public, max-age=0, s-maxage=1, stale-while-revalidate=2, stale-if-error=30"

// shared answers a document that is the same for everyone: no cookie, no
// decoding, no allocation but the transport's.
func shared(c *fiber.Ctx, body []byte, etag, cache string) error {
	c.Response().Header.Set("Cache-Control", cache)
	c.Response().Header.Set("ETag", etag)
	if match := c.Request().Header.Peek("If-None-Match"); len(match) > 0 && etagMatches(string(match), etag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Response().Header.SetContentType("application/json")
	c.Response().SetBodyRaw(body)
	return nil
}

// etagMatches compares as RFC 9110 has it for GET: weakly, over a list.
func etagMatches(match, etag string) bool {
	if match == etag || match == "*" {
		return true
	}
	return slices.ContainsFunc(strings.Split(match, ","), func(m string) bool {
		return strings.TrimPrefix(strings.TrimSpace(m), "W/") == etag
	})
}

func (a *API) status(c *fiber.Ctx) error {
	line, ok := a.Lines.Line(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	doc := line.Status()
	c.Response().Header.Set("Vary", "Accept-Encoding")
	accepted := c.Request().Header.Peek("Accept-Encoding")
	body, etag := doc.Body, doc.ETag
	if bytes.Contains(accepted, []byte("gzip")) {
		body, etag = encoded(c, "gzip", doc.Gzip, etag)
	}
	return shared(c, body, etag, sharedCache)
}

// encoded answers bytes that were compressed once, for everyone. A strong ETag
// names bytes, so each encoding has its own.
func encoded(c *fiber.Ctx, encoding string, body []byte, etag string) ([]byte, string) {
	c.Response().Header.Set("Content-Encoding", encoding)
	return body, etag[:len(etag)-1] + "-" + encoding + `"`
}

func (a *API) availability(c *fiber.Ctx) error {
	hall, ok := a.Halls.Get(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	doc := hall.free.Load()
	if doc == nil {
		return problem("unavailable", "The seats were not counted yet.")
	}
	return shared(c, doc.Body, doc.ETag, sharedCache)
}

// seatmap serves a plan under its hash for ever. Another hash is another plan:
// it is not this one's to answer.
func (a *API) seatmap(c *fiber.Ctx) error {
	hall, ok := a.Halls.Get(c.Params("event"))
	file := c.Params("file")
	if !ok || file != "seatmap."+hall.plan.Hash+".json" {
		return problem("no_such_route", "")
	}
	return shared(c, hall.plan.Seatmap, `"`+hall.plan.Hash+`"`, "public, max-age=31536000, immutable")
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
	return shared(c, doc.Body, doc.ETag, sharedCache)
}

// onSale lists the lines that this process serves, by id.
func (a *API) onSale() []eventBody {
	out := []eventBody{}
	for _, line := range a.Lines.All() {
		sale := line.Sale()
		now := line.Standing()
		out = append(out, eventBody{
			ID: sale.Event, Title: sale.Title, OpensAt: sale.OpensAt.UTC(),
			State: now.State, Seats: countsOf(now.Stock),
		})
	}
	slices.SortFunc(out, func(x, y eventBody) int { return strings.Compare(x.ID, y.ID) })
	return out
}
