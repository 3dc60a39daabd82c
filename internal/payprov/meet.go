package payprov

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// meet carries a request out as its script says, and calls done when that is
// over and only the answer is left. Whether the client is still there makes no
// difference: what was begun is gone on with.
func (p *Provider) meet(w http.ResponseWriter, r *http.Request, c *call, done func()) {
	c.script = p.scripts.take(r)
	p.log.note(c.seq, func(e *Request) { e.Fault = c.script.String() })
	s := c.script
	if s.Before+s.After > 0 {
		h := http.NewResponseController(w) // the wait is neither the server's to end nor the client's absence
		_ = errors.Join(h.SetReadDeadline(time.Time{}), h.SetWriteDeadline(time.Time{}))
	}
	if !p.wait(s.Before) {
		cut(w, FIN) // the provider ended first: nothing was carried out
		return
	}
	truth := reply{header: w.Header()}
	if s.carriesOut() || s.Say == ServerError || s.Say == Refuse {
		p.admit(&truth, r)
	}
	done()
	p.wait(s.After)
	say(w, r, s, truth)
}

// wait is false when the provider ended before d had passed.
func (p *Provider) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.stop:
		return false
	case <-timer.C:
		return true
	}
}

// instead is act, or what comes in its place. A key that was used before has
// its first answer all the same: a script lies about no earlier request.
func (s Script) instead(act func(*http.Request) answer) func(*http.Request) answer {
	switch s.Say {
	case ServerError:
		return func(r *http.Request) answer {
			failed := serverError()
			if s.Commit {
				failed.fresh = act(r).fresh
			}
			return failed
		}
	case Refuse:
		return func(*http.Request) answer { return s.refusal() }
	}
	return act
}

func (s Script) refusal() answer {
	if s.Status == http.StatusBadRequest {
		return refusal(s.Status, problem{
			Type: "invalid_request_error", Code: orDefault(s.Code, "charge_disputed"), Message: "The request was refused.",
		})
	}
	return refusal(http.StatusPaymentRequired, problem{
		Type: "card_error", Code: orDefault(s.Code, "card_declined"), DeclineCode: "generic_decline", Message: "Your card was declined.",
	})
}

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
		w.Header().Set("Retry-After", strconv.Itoa(int(s.RetryAfter.Seconds())))
		busy("Request rate limit exceeded.").write(w)
	case Empty:
		answer{status: http.StatusOK, body: []byte("{}")}.write(w)
	case HTML:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
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
