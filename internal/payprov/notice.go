package payprov

import (
	"container/heap"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// apiVersion is the shape that notices are told in.
const apiVersion = "2026-03-25.dahlia"

// tellers is how many deliveries are under way at most.
const tellers = 8

// wireEvent is the provider's envelope.
type wireEvent struct {
	ID              string `json:"id"`
	Object          string `json:"object"`
	APIVersion      string `json:"api_version"`
	Created         int64  `json:"created"`
	Data            data   `json:"data"`
	Livemode        bool   `json:"livemode"`
	PendingWebhooks int    `json:"pending_webhooks"`
	Type            string `json:"type"`
}

type data struct {
	Object any `json:"object"`
}

// notices holds what is to be told, by when it is due. Telling never waits for
// an endpoint: it puts copies into the heap, the tellers take them out.
type notices struct {
	disorder Disorder
	backoff  time.Duration
	max      int
	client   *http.Client
	wake     chan struct{} // somebody has work: a hint, at most one outstanding
	stop     until
	done     sync.WaitGroup

	mu        sync.Mutex
	endpoints []Endpoint
	due       deliveries
	telling   int
	chance    *rand.Rand
}

func newNotices(cfg Config, chance *rand.Rand) *notices {
	n := &notices{
		disorder: cfg.Disorder, backoff: cfg.Backoff, max: cfg.Backlog, endpoints: cfg.Webhooks, chance: chance,
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

func (n *notices) full() bool { return n.open() >= n.max }

func (n *notices) open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.due) + n.telling
}

// tell queues one notice for every endpoint, as the object is now.
func (n *notices) tell(kind string, object any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.endpoints) == 0 {
		return
	}
	now := time.Now()
	body := mustJSON(wireEvent{
		ID: newID("evt_"), Object: "event", APIVersion: apiVersion, Created: now.Unix(),
		Data: data{object}, PendingWebhooks: len(n.endpoints), Type: kind,
	})
	for _, e := range n.endpoints {
		copies := 1
		if n.chance.Float64() < n.disorder.Doubled {
			copies = 2
		}
		for range copies {
			heap.Push(&n.due, &delivery{to: e, body: body, due: now.Add(n.late())})
		}
	}
	n.hint()
}

func (n *notices) late() time.Duration {
	if n.disorder.MaxDelay <= 0 {
		return 0
	}
	return time.Duration(n.chance.Int64N(int64(n.disorder.MaxDelay)))
}

func (n *notices) hint() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}
