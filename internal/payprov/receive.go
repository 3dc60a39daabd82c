package payprov

import (
	"bufio"
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// maxRequest is what is read of one request's body.
const maxRequest = 64 << 10

// call is one request to the API as it is carried out.
type call struct {
	seq    int64
	id     string // Request-Id
	script Script
}

type callKey struct{}

// callOf is never nil: whoever calls a handler by itself is in no log.
func callOf(r *http.Request) *call {
	if c, ok := r.Context().Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}

// receive takes one call to the API: logged first, whatever becomes of it,
// then its key is taken, then the fault and the script have their say.
func (p *Provider) receive(w http.ResponseWriter, r *http.Request) {
	sw := &statusWriter{ResponseWriter: w}
	c := &call{seq: p.log.begin(r), id: newID("req_")}
	sw.over = sync.OnceFunc(func() { p.log.end(c.seq, sw.status, r.Context().Err() != nil) })
	defer sw.over()
	r.Body = http.MaxBytesReader(sw, r.Body, maxRequest)
	if bad := p.heads(sw, r, c); bad != nil {
		bad.write(sw)
		return
	}
	p.log.note(c.seq, func(e *Request) { e.Operation = operationOf(r) })
	done := func() {}
	if key := keyOf(r); key != "" {
		if !p.enter(key) {
			keyInUse().write(sw)
			return
		}
		done = sync.OnceFunc(func() { p.leave(key) })
		defer done()
	}
	p.cfg.Fault(sw, r.WithContext(context.WithValue(r.Context(), callKey{}, c)),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.meet(w, r, c, done) }))
}

// heads reads the form and sets what every answer carries.
func (p *Provider) heads(w http.ResponseWriter, r *http.Request, c *call) *answer {
	w.Header().Set("Request-Id", c.id)
	version := orDefault(r.Header.Get("Stripe-Version"), apiVersion)
	w.Header().Set("Stripe-Version", version)
	if key := keyOf(r); key != "" {
		w.Header().Set("Idempotency-Key", key)
	}
	var bad answer
	switch {
	case r.ParseForm() != nil:
		bad = invalid(http.StatusBadRequest, "", "", "The request could not be read.")
	case !p.version.MatchString(version):
		bad = invalid(http.StatusBadRequest, "", "", "Invalid Stripe API version: %s", version)
	default:
		return nil
	}
	return &bad
}

func versions() *regexp.Regexp { return regexp.MustCompile(`^\d{4}-\d\d-\d\d(\.[a-z]+)?$`) }

func (p *Provider) admit(w http.ResponseWriter, r *http.Request) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer { // as curl -u sends it
		token, _, bearer = r.BasicAuth()
	}
	known := subtle.ConstantTimeCompare([]byte(token), []byte(p.cfg.SecretKey)) == 1
	if !bearer || !known || p.cfg.SecretKey == "" {
		invalid(http.StatusUnauthorized, "", "", "Invalid API Key provided.").write(w)
		return
	}
	p.api.ServeHTTP(w, r)
}

// operationOf is what the caller's books call this request.
func operationOf(r *http.Request) string { return r.PostForm.Get("metadata[operation]") }

// keyOf is the request's idempotency key; only a POST has one.
func keyOf(r *http.Request) string {
	if r.Method != http.MethodPost {
		return ""
	}
	return r.Header.Get("Idempotency-Key")
}

// statusWriter ends the call in the log before a byte of its answer, or its
// cut, can be seen: whoever sends the next one on seeing it is not under way
// beside it.
type statusWriter struct {
	http.ResponseWriter
	status int
	over   func()
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.over()
	return w.ResponseWriter.Write(b)
}

func (w *statusWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.over()
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Unwrap lets a fault do what else the connection can.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
