package admissiontest

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Wire stands between DynamoDB's client and its server and misbehaves on
// demand: below the SDK, where its hidden retries show. Calls go by DynamoDB's
// names (UpdateItem).
type Wire struct {
	next http.RoundTripper
	Plan

	mu    sync.Mutex
	sends map[string]int
	stale []string
	late  []func()
}

// NewWire carries over next what it does not spoil.
func NewWire(next http.RoundTripper) *Wire {
	return &Wire{next: next, sends: map[string]int{}}
}

// Sends says how often a call was sent since the last time it was asked.
func (w *Wire) Sends(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.sends[call]
	delete(w.sends, call)
	return n
}

// Stale lists the reads that did not ask for consistency. A stand-in is always
// consistent: it would not show what they cost.
func (w *Wire) Stale() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stale
}

// Land lets every late call reach the server now, and says how many there were.
func (w *Wire) Land() int {
	w.mu.Lock()
	late := w.late
	w.late = nil
	w.mu.Unlock()
	for _, call := range late {
		call()
	}
	return len(late)
}

// RoundTrip implements http.RoundTripper.
func (w *Wire) RoundTrip(req *http.Request) (*http.Response, error) {
	_, call, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	body, err := w.note(call, req)
	if err != nil {
		return nil, err
	}
	send := func(ctx context.Context) (*http.Response, error) {
		again := req.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		return w.next.RoundTrip(again)
	}
	switch w.fault(call) {
	case Throttled:
		return answer(req, http.StatusBadRequest, "ProvisionedThroughputExceededException"), nil
	case Broken:
		return answer(req, http.StatusInternalServerError, "InternalServerError"), nil
	case LostCall:
		return nil, timeout{}
	case LostReply:
		drop(send(req.Context()))
		return nil, timeout{}
	case Late:
		landing := context.WithoutCancel(req.Context())
		w.mu.Lock()
		defer w.mu.Unlock()
		w.late = append(w.late, func() { drop(send(landing)) })
		return nil, timeout{}
	}
	return send(req.Context())
}

func (w *Wire) note(call string, req *http.Request) ([]byte, error) {
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sends[call]++
	reads := call == "GetItem" || call == "Query" || call == "Scan"
	if reads && !bytes.Contains(body, []byte(`"ConsistentRead":true`)) {
		w.stale = append(w.stale, fmt.Sprintf("%s %s", call, body))
	}
	return body, err
}

func drop(resp *http.Response, err error) {
	if err == nil {
		io.Copy(io.Discard, resp.Body) //nolint:errcheck // the reply is what is lost
		resp.Body.Close()
	}
}

func answer(req *http.Request, status int, kind string) *http.Response {
	body := fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"on demand"}`, kind)
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type": {"application/x-amz-json-1.0"},
			"X-Amz-Crc32":  {fmt.Sprint(crc32.ChecksumIEEE([]byte(body)))},
		},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// timeout is what a client sees when its limit ends first.
type timeout struct{}

func (timeout) Error() string   { return "no answer within the limit" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }
