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

// queue holds attempts, up to its limit, in a lane for each event: the lanes take
// turns, so that an event with ten thousand attempts keeps another's one waiting
// no longer than for the batch that is under way. Within an event they are taken in
// the order in which they came.
type queue struct {
	mu     sync.Mutex
	some   sync.Cond // on mu: waiting grew, or closed
	lanes  map[string]*lane
	turns  []*lane // those with somebody in them; the first is next
	n      int     // in all lanes
	limit  int
	closed bool
}

// lane is what waits of one event.
type lane struct {
	event   string
	waiting []*asked
	delay   delay
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit, lanes: map[string]*lane{}}
	q.some.L = &q.mu
	return q
}

// push keeps an attempt and hands back the one that has no room: the last of the
// longest lane, if that is longer than this one's, else the attempt itself, as
// when the queue is closed. Nil: all have room.
func (q *queue) push(a *asked) (without *asked) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return a
	}
	l := q.lanes[a.Event]
	if q.n >= q.limit {
		longest := slices.MaxFunc(q.turns, func(x, y *lane) int { return len(x.waiting) - len(y.waiting) })
		if l != nil && len(longest.waiting) <= len(l.waiting)+1 || l == nil && len(longest.waiting) <= 1 {
			return a
		}
		last := len(longest.waiting) - 1
		without = longest.waiting[last]
		longest.waiting[last], longest.waiting = nil, longest.waiting[:last]
		q.n--
	}
	if l == nil {
		l = &lane{event: a.Event}
		q.lanes[a.Event], q.turns = l, append(q.turns, l)
	}
	l.waiting = append(l.waiting, a)
	q.n++
	q.some.Signal()
	return without
}

// take waits for an attempt and takes what has come, at most so many, one of each
// event in turn. Those that have waited too long in a queue that stands come in
// late, and do not count. None of either: the queue is closed, and empty.
func (q *queue) take(most int, patience Patience) (taken, late []*asked) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.n == 0 && !q.closed {
		q.some.Wait()
	}
	now := time.Now()
	for len(taken) < most && q.n > 0 {
		l := q.turns[0]
		a := l.waiting[0]
		l.waiting[0], l.waiting = nil, l.waiting[1:]
		q.n--
		q.next(l)
		if l.delay.tooLong(now, now.Sub(a.came), patience) {
			late = append(late, a)
		} else {
			taken = append(taken, a)
		}
	}
	if q.n > 0 {
		q.some.Signal() // another worker can go on with the rest
	}
	return taken, late
}

// next puts the lane whose turn it was behind the others, or away if it is empty.
func (q *queue) next(l *lane) {
	q.turns = q.turns[1:]
	if len(l.waiting) > 0 {
		q.turns = append(q.turns, l)
		return
	}
	delete(q.lanes, l.event)
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
	for _, l := range q.turns {
		if first := l.waiting[0].came; since.IsZero() || first.Before(since) {
			since = first
		}
	}
	return q.n, since
}
