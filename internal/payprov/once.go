package payprov

import "net/http"

// look carries out a request that changes nothing.
func (p *Provider) look(act func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		act := callOf(r).script.instead(act)
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
		c := callOf(r)
		p.mu.Lock()
		before := p.book.changes
		a := p.actOnce(r, c, c.script.instead(act))
		committed := p.book.changes > before
		p.mu.Unlock()
		p.log.note(c.seq, func(e *Request) { e.Committed, e.Replayed = committed, a.first != "" })
		a.write(w)
	}
}

func (p *Provider) actOnce(r *http.Request, c *call, act func(*http.Request) answer) answer {
	key, now := keyOf(r), p.clock.now()
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
		p.keys.keep(keptAnswer{key: key, asked: asked(r), at: now, answer: a, id: c.id})
	}
	return a
}
