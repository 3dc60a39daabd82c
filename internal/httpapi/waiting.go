package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"unsafe"

	"github.com/valyala/fasthttp"
)

// waiting answers who asks for their own place while they wait, from memory and
// without any: after the document nothing is asked as often. Every other answer to the
// same question, and each refusal, is the router's (me), and is written alike.
func (a *API) waiting(c *fasthttp.RequestCtx) bool {
	event, is := asks(c, "/v1/events/", "/places/me")
	if !is {
		return false
	}
	line, ok := a.Lines.Line(event)
	if !ok || line.Sale().Open {
		return false
	}
	kind, token, ok := strings.Cut(text(c.Request.Header.Peek("Authorization")), " ")
	if !ok || !strings.EqualFold(kind, "Bearer") {
		return false
	}
	ticket, differs, err := line.Ticket(strings.TrimSpace(token))
	if err != nil || differs {
		return false
	}
	p, waits := line.Waiting(ticket)
	if !waits {
		return false
	}
	w, ok := a.told.Get().(*written)
	if !ok {
		w = &written{}
		w.json = json.NewEncoder(&w.text)
	}
	defer a.told.Put(w)
	w.text.Reset()
	w.me = meOf(p, &w.parts)
	if w.json.Encode(&w.me) != nil {
		return false
	}
	c.Response.Header.Set("Cache-Control", "private, no-store")
	c.SetContentType("application/json")
	c.Response.SetBody(bytes.TrimSuffix(w.text.Bytes(), []byte("\n")))
	return true
}

// written is room for one answer, used again.
type written struct {
	me    meBody
	parts meParts
	text  bytes.Buffer
	json  *json.Encoder
}

// asks finds the event in the path of a GET. The name is the connection's buffer:
// whoever looks it up keeps no hold of it. The path is taken as it was sent: one that
// only comes to the same is the router's, and caches hold one document a line.
func asks(c *fasthttp.RequestCtx, before, after string) (event string, is bool) {
	if !c.IsGet() {
		return "", false
	}
	name, is := strings.CutPrefix(text(c.URI().PathOriginal()), before)
	if !is {
		return "", false
	}
	return strings.CutSuffix(name, after)
}

// text is bytes of the connection's, as they stand there: it is not to be kept.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
