package inventory

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// asked is an attempt in hand.
type asked struct {
	Attempt
	order uuid.UUID // the order that it becomes; every try is for this one
	came  time.Time
	until time.Time    // after it nobody waits for the answer
	tell  func(Answer) // called once, and does not block
	told  bool

	chosen chosen // by the last try, if it leaves the choice to us
}

// queue holds attempts in the order in which they came, up to its limit.
type queue struct {
	mu      sync.Mutex
	some    sync.Cond // on mu: waiting grew, or closed
	waiting []*asked
	limit   int
	closed  bool
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.some.L = &q.mu
	return q
}

// push says false when the queue is full or closed: nothing was kept.
func (q *queue) push(a *asked) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.waiting) >= q.limit {
		return false
	}
	q.waiting = append(q.waiting, a)
	q.some.Signal()
	return true
}

// take waits for an attempt and takes all that have come, at most so many.
// None: the queue is closed, and empty.
func (q *queue) take(most int) []*asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed {
		q.some.Wait()
	}
	n := min(most, len(q.waiting))
	taken := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	if len(q.waiting) > 0 {
		q.some.Signal() // another worker can go on with the rest
	}
	return taken
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.some.Broadcast()
}

// state is how many wait, and since when the first does.
func (q *queue) state() (n int, since time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return 0, time.Time{}
	}
	return len(q.waiting), q.waiting[0].came
}
