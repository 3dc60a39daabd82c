package payprov

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// say answers as the script has it; truth is what was carried out.
func say(w http.ResponseWriter, r *http.Request, s Script, truth reply) {
	switch s.Say {
	case FIN, RST:
		cut(w, s.Say)
	case Half:
		w.Header().Set("Content-Length", strconv.Itoa(truth.body.Len()))
		truth.body.Truncate(truth.body.Len() / 2)
		truth.write(w)
		_ = http.NewResponseController(w).Flush()
		cut(w, FIN)
	case InUse:
		keyInUse().write(w)
	case TooMany:
		if s.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(s.RetryAfter.Seconds())))
		}
		no := busy("Request rate limit exceeded.")
		if s.Code == "lock_timeout" {
			no = lockTimeout()
		}
		no.write(w)
	case Empty:
		answer{status: http.StatusOK, body: []byte("{}")}.write(w)
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(orDefault(s.Status, http.StatusOK))
		_, _ = w.Write([]byte("<!doctype html><title>Maintenance</title><p>We will be back soon.</p>"))
	case Redirect:
		w.Header().Set("Location", orDefault(s.Location, r.URL.RequestURI()))
		w.WriteHeader(http.StatusTemporaryRedirect)
	case OtherAmount:
		truth.write(&oneMore{w})
	default:
		truth.write(w)
	}
}

// cut ends the connection in the place of an answer. A writer that has none is
// aborted, which is what net/http makes of a FIN.
func cut(w http.ResponseWriter, how Say) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok && how == RST {
		_ = tcp.SetLinger(0) // close then resets
	}
	_ = conn.Close()
}

// reply is an answer that is not on its way yet.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (t *reply) Header() http.Header         { return t.header }
func (t *reply) WriteHeader(status int)      { t.status = status }
func (t *reply) Write(b []byte) (int, error) { return t.body.Write(b) }

func (t *reply) write(w http.ResponseWriter) {
	w.WriteHeader(t.status)
	_, _ = w.Write(t.body.Bytes()) // whoever asked is gone, or not: it is done
}

// oneMore tells every amount in a body one too high.
type oneMore struct{ http.ResponseWriter }

func (o *oneMore) Write(body []byte) (int, error) {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return o.ResponseWriter.Write(body)
	}
	raise(v)
	items, _ := v["data"].([]any)
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			raise(object)
		}
	}
	return o.ResponseWriter.Write(mustJSON(v))
}

func raise(object map[string]any) {
	if n, ok := object["amount"].(json.Number); ok {
		amount, _ := n.Int64()
		object["amount"] = amount + 1
	}
}
