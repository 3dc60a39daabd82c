package payprov

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// Request is one call to the API as it arrived. Seq counts from 1: a log that
// begins later has forgotten that many.
type Request struct {
	Seq       int64         `json:"seq"`
	At        time.Duration `json:"at_ns"` // since Started, monotonic
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Query     string        `json:"query,omitempty"`
	Operation string        `json:"operation,omitempty"` // metadata[operation]
	Key       string        `json:"idempotency_key,omitempty"`
	InFlight  int           `json:"in_flight"`          // calls under way at its arrival, itself among them
	Fault     string        `json:"fault,omitempty"`    // the script that it met
	Status    int           `json:"status"`             // 0: under way, or cut without an answer
	Committed bool          `json:"committed"`          // it changed the ledger; a repeat of what did does not
	Replayed  bool          `json:"replayed,omitempty"` // it got its key's first answer again
	HungUp    bool          `json:"hung_up,omitempty"`  // the client did not wait for the end
	Took      time.Duration `json:"took_ns"`            // 0: under way
}

type requestLog struct {
	start time.Time

	mu       sync.Mutex
	ring     ring[Request]
	inFlight int
	peak     int
}

func newRequestLog(size int) *requestLog {
	return &requestLog{start: time.Now(), ring: ring[Request]{max: size}}
}

// begin logs an arrival and returns its number.
func (l *requestLog) begin(r *http.Request) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight++
	l.peak = max(l.peak, l.inFlight)
	seq := l.ring.next()
	l.ring.add(Request{
		Seq: seq, At: time.Since(l.start), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Key: r.Header.Get("Idempotency-Key"), InFlight: l.inFlight,
	})
	return seq
}

// note writes into an entry that is not forgotten yet.
func (l *requestLog) note(seq int64, write func(*Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.ring.at(seq); e != nil {
		write(e)
	}
}

func (l *requestLog) end(seq int64, status int, hungUp bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if e := l.ring.at(seq); e != nil {
		e.Status, e.HungUp, e.Took = status, hungUp, max(1, time.Since(l.start)-e.At)
	}
}

// Requests is the log of every call to the API, in order of arrival.
func (p *Provider) Requests() []Request {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return p.log.ring.all()
}

// Started is what Requests are stamped from. Its monotonic reading makes them
// comparable with stamps of the same process.
func (p *Provider) Started() time.Time { return p.log.start }

// Peak is the most calls to the API that were ever under way at once.
func (p *Provider) Peak() int {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return p.log.peak
}

// Peak is the most of log that were under way at once, by their stamps: of the
// refunds alone, or of one operation, as the caller has picked.
func Peak(log []Request) int {
	var ends []time.Duration // of those that count at the next one's arrival
	peak := 0
	for _, r := range log {
		ends = slices.DeleteFunc(ends, func(end time.Duration) bool { return end <= r.At })
		if r.Took == 0 {
			ends = append(ends, 1<<63-1)
		} else {
			ends = append(ends, r.At+r.Took)
		}
		peak = max(peak, len(ends))
	}
	return peak
}
