package payprov

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"
)

// adminRoutes are for whoever runs a trial: they ask for no key and are in no
// log. Lists are JSON lines, requests are forms.
func (p *Provider) adminRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /_admin/ledger", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, p.Ledger())
	})
	mux.HandleFunc("GET /_admin/requests", p.tellRequests)
	mux.HandleFunc("GET /_admin/load", p.tellLoad)
	mux.HandleFunc("GET /_admin/scripts", p.tellScripts)
	mux.HandleFunc("POST /_admin/scripts", p.admin(p.addScript))
	mux.HandleFunc("DELETE /_admin/scripts", func(w http.ResponseWriter, _ *http.Request) {
		p.Clear()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /_admin/notices", func(w http.ResponseWriter, _ *http.Request) {
		lines(w, p.Told(), func(t Told) any { return t })
	})
	mux.HandleFunc("POST /_admin/notices", p.admin(p.addNoticeScript))
	mux.HandleFunc("POST /_admin/clock", p.admin(p.moveClock))
	mux.HandleFunc("POST /_admin/refunds/{id}", p.admin(p.settleRefund))
	mux.HandleFunc("POST /_admin/payment_intents/{id}/refund", p.admin(p.refundByHand))
}

// admin reads the form; an error is the caller's.
func (p *Provider) admin(act func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		err := r.ParseForm()
		var said any
		if err == nil {
			said, err = act(r)
		}
		if err != nil {
			invalid(http.StatusBadRequest, "", "", "%v", err).write(w)
			return
		}
		writeJSON(w, http.StatusOK, said)
	}
}

func (p *Provider) addScript(r *http.Request) (any, error) {
	s, err := ParseScript(r.Form)
	if err == nil {
		err = p.Play(s)
	}
	return map[string]string{"script": s.String()}, err
}

func (p *Provider) addNoticeScript(r *http.Request) (any, error) {
	s, err := ParseNoticeScript(r.Form)
	if err == nil {
		err = p.PlayNotices(s)
	}
	return map[string]any{"type": s.Type, "times": max(s.Times, 1), "odd": s.Odd, "delay": s.Delay.String()}, err
}

func (p *Provider) tellScripts(w http.ResponseWriter, _ *http.Request) {
	lines(w, p.Scripts(), func(s Scripted) any {
		return map[string]any{
			"method": s.Method, "path": s.Path, "operation": s.Operation, "key": s.Key,
			"times": s.Times, "share": s.Share, "met": s.Met, "script": s.String(),
		}
	})
}

// tellRequests tells the log from ?since=seq on, of those whose path matches
// ?path=.
func (p *Provider) tellRequests(w http.ResponseWriter, r *http.Request) {
	lines(w, p.picked(r.URL.Query()), func(e Request) any { return e })
}

func (p *Provider) picked(q url.Values) []Request {
	since, _ := strconv.ParseInt(q.Get("since"), 10, 64)
	pattern := q.Get("path")
	return slices.DeleteFunc(p.Requests(), func(e Request) bool {
		fits, _ := path.Match(pattern, e.Path)
		return e.Seq < since || pattern != "" && !fits
	})
}

// tellLoad tells how many were ever under way at once, of those requests that
// are picked as for the log; and both clocks.
func (p *Provider) tellLoad(w http.ResponseWriter, r *http.Request) {
	picked := p.picked(r.URL.Query())
	writeJSON(w, http.StatusOK, map[string]any{
		"started": p.Started().UTC(), "at_ns": time.Since(p.Started()), "now": p.Now().UTC(),
		"requests": len(picked), "peak": Peak(picked), "undelivered": p.Undelivered(),
	})
}

func (p *Provider) moveClock(r *http.Request) (any, error) {
	var d time.Duration
	if err := fill(r.Form, map[string]any{"advance": &d}); err != nil {
		return nil, err
	}
	if d < 0 {
		return nil, fmt.Errorf("advance %s: the clock does not go back", d)
	}
	p.Advance(d)
	return map[string]any{"now": p.Now().UTC()}, nil
}

func (p *Provider) settleRefund(r *http.Request) (any, error) {
	var status, reason string
	err := fill(r.Form, map[string]any{"status": &status, "reason": &reason})
	if err == nil {
		err = p.Settle(r.PathValue("id"), status, reason)
	}
	return map[string]string{"id": r.PathValue("id"), "status": status}, err
}

func (p *Provider) refundByHand(r *http.Request) (any, error) {
	var amount int64
	if err := fill(r.Form, map[string]any{"amount": &amount}); err != nil {
		return nil, err
	}
	id, err := p.RefundByHand(r.PathValue("id"), amount)
	return map[string]string{"id": id}, err
}

// lines writes one JSON value a line.
func lines[T any](w http.ResponseWriter, list []T, told func(T) any) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	e := json.NewEncoder(w)
	for _, v := range list {
		if e.Encode(told(v)) != nil {
			return // the reader is gone
		}
	}
}
