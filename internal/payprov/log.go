package payprov

import (
	"net/http"
	"sync"
	"time"
)

// Request is one call to the API as it arrived. Seq counts from 1: a log that
// begins later has forgotten that many.
type Request struct {
	Seq       int64         `json:"seq"`
	At        time.Duration `json:"at_ns"` // since the start, monotonic
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Operation string        `json:"operation,omitempty"` // metadata[operation]
	Key       string        `json:"idempotency_key,omitempty"`
	InFlight  int           `json:"in_flight"` // calls under way at its arrival, itself among them
	Status    int           `json:"status"`    // 0: under way, or cut without an answer
	Took      time.Duration `json:"took_ns"`
}

type requestLog struct {
	start time.Time
	max   int

	mu       sync.Mutex
	ring     []Request // seq s stands at (s-1) mod max
	seq      int64
	inFlight int
}

func newRequestLog(size int) *requestLog { return &requestLog{start: time.Now(), max: size} }

// begin logs an arrival and returns its number.
func (l *requestLog) begin(r *http.Request) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	l.inFlight++
	entry := Request{
		Seq: l.seq, At: time.Since(l.start), Method: r.Method, Path: r.URL.Path,
		Key: r.Header.Get("Idempotency-Key"), InFlight: l.inFlight,
	}
	if len(l.ring) < l.max {
		l.ring = append(l.ring, entry)
	} else {
		*l.at(l.seq) = entry
	}
	return l.seq
}

func (l *requestLog) name(seq int64, operation string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.at(seq); e.Seq == seq {
		e.Operation = operation
	}
}

func (l *requestLog) end(seq int64, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if e := l.at(seq); e.Seq == seq {
		e.Status, e.Took = status, time.Since(l.start)-e.At
	}
}

func (l *requestLog) at(seq int64) *Request { return &l.ring[(seq-1)%int64(l.max)] }

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ring) < l.max {
		return append([]Request{}, l.ring...)
	}
	oldest := int(l.seq % int64(l.max))
	return append(append([]Request{}, l.ring[oldest:]...), l.ring[:oldest]...)
}
