package payprov

import (
	"container/heap"
	"net/http"
	"sync"
	"time"
)

// tellers is how many deliveries are under way at most.
const tellers = 8

// notices holds what is to be told, by when it is due. Telling never waits for
// an endpoint: it puts copies into the heap, the tellers take them out.
type notices struct {
	backoff time.Duration
	max     int
	client  *http.Client
	wake    chan struct{} // somebody has work: a hint, at most one outstanding
	stop    until
	done    sync.WaitGroup

	mu        sync.Mutex
	start     time.Time
	endpoints []Endpoint
	seq       int64
	due       deliveries
	behind    int // of those that are due, how many wait for a later one
	telling   int
	told      ring[Told]
}

func newNotices(cfg Config, start time.Time) *notices {
	n := &notices{
		backoff: cfg.Backoff, max: cfg.Backlog, endpoints: cfg.Webhooks, start: start, told: ring[Told]{max: cfg.Log},
		client: noticeClient(), wake: make(chan struct{}, 1), stop: make(until),
	}
	for range tellers {
		n.done.Go(func() { n.run(n.stop) })
	}
	return n
}

func (n *notices) close() {
	close(n.stop)
	n.done.Wait()
	n.client.CloseIdleConnections()
}

func (n *notices) add(e Endpoint) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.endpoints = append(n.endpoints[:len(n.endpoints):len(n.endpoints)], e)
}

func (n *notices) listeners() []Endpoint {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.endpoints
}

func (n *notices) full() bool { return n.open() >= n.max }

func (n *notices) open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.due) + n.telling
}

// push queues the copies of one notice.
func (n *notices) push(copies []*delivery) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seq++
	for _, d := range copies {
		d.seq = n.seq
		if d.behind {
			d.due = d.due.Add(behindLimit)
			n.behind++
		}
		heap.Push(&n.due, d)
	}
	n.hint()
}

func (n *notices) hint() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Told is one try to tell an endpoint.
type Told struct {
	Seq    int64         `json:"seq"`
	At     time.Duration `json:"at_ns"` // its end, since Started
	ID     string        `json:"id"`    // of the notice
	Type   string        `json:"type"`
	About  string        `json:"about"` // the object's id
	URL    string        `json:"url"`
	Odd    Oddity        `json:"odd,omitempty"`
	Try    int           `json:"try"`    // from 1
	Status int           `json:"status"` // 0: no answer
}

// Told is the log of every try, in the order of their ends. A 2xx to one that
// is Forged or Stale is the receiver's fault.
func (p *Provider) Told() []Told {
	p.notices.mu.Lock()
	defer p.notices.mu.Unlock()
	return p.notices.told.all()
}
