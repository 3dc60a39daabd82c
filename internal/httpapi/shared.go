package httpapi

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"waitroom/internal/admission"
	"waitroom/internal/document"
)

// What a cache in front may do with the documents that change each second: keep
// them for one, serve the last one for two more while it asks, and for half a
// minute if we do not answer.
const sharedCache = "public, max-age=0, s-maxage=1, stale-while-revalidate=2, stale-if-error=30"

// tell answers a document that is the same for everyone, in the representation
// that is asked for, and refuses who takes none.
func tell(c *fasthttp.RequestCtx, doc document.Document, cache string) error {
	if doc.Gzip == nil {
		shared(c, doc.Body, doc.ETag, cache)
		return nil
	}
	c.Response.Header.Set("Vary", "Accept-Encoding")
	switch codingFor(c.Request.Header.Peek("Accept-Encoding")) {
	case asGzip: // it was compressed once, for everyone
		c.Response.Header.Set("Content-Encoding", "gzip")
		shared(c, doc.Gzip, doc.GzipETag, cache)
	case asNothing:
		return problem("not_acceptable", "There is this as it is and as gzip.")
	default:
		shared(c, doc.Body, doc.ETag, cache)
	}
	return nil
}

// shared sends bytes that are the same for everyone: no cookie, no decoding, no
// allocation.
func shared(c *fasthttp.RequestCtx, body []byte, etag, cache string) {
	c.Response.Header.Set("Cache-Control", cache)
	c.Response.Header.Set("ETag", etag)
	if match := c.Request.Header.Peek("If-None-Match"); len(match) > 0 && etagMatches(match, etag) {
		c.Response.Header.Del("Content-Encoding") // it has no body
		c.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(body)
}

// etagMatches compares as RFC 9110 has it for GET: weakly, over a list.
func etagMatches(match []byte, etag string) bool {
	for rest, more := match, true; more; {
		var one []byte
		one, rest, more = bytes.Cut(rest, []byte(","))
		one = bytes.TrimSpace(one)
		if string(one) == "*" || string(bytes.TrimPrefix(one, []byte("W/"))) == etag {
			return true
		}
	}
	return false
}

// polled answers who polls a line's status, or their place in it, and leaves all else
// to the router: it takes two thirds of such an answer's time, and the only memory. All
// who wait poll, and nothing else is asked as often.
func (a *API) polled(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if event, is := asks(c, "/v1/public/events/", "/status"); is {
			if line, ok := a.Lines.Line(event); ok && tellStatus(c, line) == nil {
				return
			}
		}
		if !a.waiting(c) {
			next(c)
		}
	}
}

// status is for the rarer ways to ask: HEAD, an event that is none, or somebody
// who takes no coding that there is.
func (a *API) status(c *fiber.Ctx) error {
	line, ok := a.Lines.Line(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	return tellStatus(c.Context(), line)
}

func tellStatus(c *fasthttp.RequestCtx, line *admission.Line) error {
	doc := line.Status()
	return tell(c, document.Document{Body: doc.Body, Gzip: doc.Gzip, ETag: doc.ETag, GzipETag: doc.GzipETag}, sharedCache)
}
