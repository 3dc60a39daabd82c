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
		c.Response().Header.Del("Content-Encoding") // it has no body
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
	if !takesGzip(c.Request().Header.Peek("Accept-Encoding")) {
		return shared(c, doc.Body, doc.ETag, sharedCache)
	}
	// Compressed once, for everyone. A strong ETag names bytes, so each encoding
	// has its own.
	c.Response().Header.Set("Content-Encoding", "gzip")
	return shared(c, doc.Gzip, doc.ETag[:len(doc.ETag)-1]+`-gzip"`, sharedCache)
}

// takesGzip reads Accept-Encoding: gzip by name, unless with q=0.
func takesGzip(accepted []byte) bool {
	for rest, more := accepted, true; more; {
		var coding []byte
		coding, rest, more = bytes.Cut(rest, []byte(","))
		name, weight, _ := bytes.Cut(coding, []byte(";"))
		if !bytes.EqualFold(bytes.TrimSpace(name), []byte("gzip")) {
			continue
		}
		_, q, weighed := bytes.Cut(weight, []byte("q="))
		return !weighed || len(bytes.Trim(q, " 0.")) > 0
	}
	return false
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
			ID: sale.Event, Title: sale.Title, Venue: sale.Venue, OpensAt: sale.OpensAt.UTC(),
			State: now.State, Seats: countsOf(now.Stock),
		})
	}
	slices.SortFunc(out, func(x, y eventBody) int { return strings.Compare(x.ID, y.ID) })
	return out
}
