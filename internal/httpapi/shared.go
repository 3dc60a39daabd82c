package httpapi

import (
	"bytes"
	"unsafe"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"waitroom/internal/admission"
)

// What a cache in front may do with the documents that change each second: keep
// them for one, serve the last one for two more while it asks, and for half a
// minute if we do not answer.
const sharedCache = "public, max-age=0, s-maxage=1, stale-while-revalidate=2, stale-if-error=30"

// shared answers a document that is the same for everyone: no cookie, no
// decoding, no allocation.
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

// polled answers who polls a line's status, and leaves all else to the router:
// it takes two thirds of such an answer's time, and the only memory. All who
// wait poll, and nothing else is asked as often.
func (a *API) polled(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(c *fasthttp.RequestCtx) {
		if event, is := statusOf(c); is {
			if line, ok := a.Lines.Line(event); ok {
				tellStatus(c, line)
				return
			}
		}
		next(c)
	}
}

// statusOf is the event whose status is asked for. The name is the connection's
// buffer: whoever looks it up keeps no hold of it.
func statusOf(c *fasthttp.RequestCtx) (event string, is bool) {
	if !c.IsGet() {
		return "", false
	}
	// As it was sent: a path that only comes to the same is the router's, and
	// caches hold one document a line.
	name, is := bytes.CutPrefix(c.URI().PathOriginal(), []byte("/v1/public/events/"))
	if !is {
		return "", false
	}
	name, is = bytes.CutSuffix(name, []byte("/status"))
	return unsafe.String(unsafe.SliceData(name), len(name)), is
}

// status is for the rarer ways to ask: HEAD, or an event that is none.
func (a *API) status(c *fiber.Ctx) error {
	line, ok := a.Lines.Line(c.Params("event"))
	if !ok {
		return problem("no_such_event", "")
	}
	tellStatus(c.Context(), line)
	return nil
}

func tellStatus(c *fasthttp.RequestCtx, line *admission.Line) {
	doc := line.Status()
	c.Response.Header.Set("Vary", "Accept-Encoding")
	body, etag := doc.Body, doc.ETag
	if takesGzip(c.Request.Header.Peek("Accept-Encoding")) { // compressed once, for everyone
		c.Response.Header.Set("Content-Encoding", "gzip")
		body, etag = doc.Gzip, doc.GzipETag
	}
	shared(c, body, etag, sharedCache)
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
		_, q, weighed := bytes.Cut(bytes.ToLower(weight), []byte("q="))
		return !weighed || len(bytes.Trim(q, " 0.")) > 0
	}
	return false
}
