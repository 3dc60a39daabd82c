package payprov

import (
	"errors"
	"net/http"
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
	status := orDefault(s.Status, http.StatusPaymentRequired)
	if status == http.StatusPaymentRequired {
		return refusal(status, problem{
			Type: "card_error", Code: orDefault(s.Code, "card_declined"), DeclineCode: "generic_decline", Message: "Your card was declined.",
		})
	}
	a := refusal(status, problem{Type: "invalid_request_error", Code: s.Code, Message: "The request was refused."})
	a.fresh = status == http.StatusUnauthorized || status == http.StatusForbidden
	return a
}
