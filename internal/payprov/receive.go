package payprov

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxRequest is what is read of one request's body.
const maxRequest = 64 << 10

// receive takes one call to the API: logged first, whatever becomes of it,
// then its key is taken, then the fault has its say, then it is carried out.
func (p *Provider) receive(w http.ResponseWriter, r *http.Request) {
	sw := &statusWriter{ResponseWriter: w}
	seq := p.log.begin(r)
	defer func() { p.log.end(seq, sw.status) }()
	r.Body = http.MaxBytesReader(sw, r.Body, maxRequest)
	if err := r.ParseForm(); err != nil {
		invalid(http.StatusBadRequest, "", "", "The request could not be read.").write(sw)
		return
	}
	p.log.name(seq, r.PostForm.Get("metadata[operation]"))
	next := http.HandlerFunc(p.admit)
	if key := keyOf(r); key != "" {
		if !p.enter(key) {
			keyInUse().write(sw)
			return
		}
		leave := sync.OnceFunc(func() { p.leave(key) })
		defer leave()
		next = func(w http.ResponseWriter, r *http.Request) {
			p.admit(w, r)
			leave()
		}
	}
	p.cfg.Fault(sw, r, next)
}

func (p *Provider) admit(w http.ResponseWriter, r *http.Request) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	known := subtle.ConstantTimeCompare([]byte(token), []byte(p.cfg.SecretKey)) == 1
	if !bearer || !known || p.cfg.SecretKey == "" {
		invalid(http.StatusUnauthorized, "", "", "Invalid API Key provided.").write(w)
		return
	}
	p.api.ServeHTTP(w, r)
}

// look carries out a request that changes nothing.
func (p *Provider) look(act func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		a := act(r)
		p.mu.Unlock()
		a.write(w)
	}
}

// once carries out a request that changes something, and with a key does so
// only the first time: whoever comes again gets the first answer again.
func (p *Provider) once(act func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		a := p.actOnce(r, act)
		p.mu.Unlock()
		a.write(w)
	}
}

func (p *Provider) actOnce(r *http.Request, act func(*http.Request) answer) answer {
	key, now := keyOf(r), time.Now()
	if len(key) > 255 {
		return invalid(http.StatusBadRequest, "", "", "Idempotency keys are at most 255 characters long.")
	}
	if first, ok := p.keys.first(key, now); ok {
		return first.again(r)
	}
	if p.notices.full() || p.keys.full() {
		return busy("This stand-in cannot take more; it forgets nothing to make room.")
	}
	a := act(r)
	if key != "" && !a.fresh {
		p.keys.keep(key, r, a, now)
	}
	return a
}

// keyOf is the request's idempotency key; only a POST has one.
func keyOf(r *http.Request) string {
	if r.Method != http.MethodPost {
		return ""
	}
	return r.Header.Get("Idempotency-Key")
}

type statusWriter struct {
	http.ResponseWriter
	status int
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
	return w.ResponseWriter.Write(b)
}

// Unwrap lets a fault take the connection over.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
