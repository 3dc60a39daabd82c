package inventory

import (
	"cmp"
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

// queue holds attempts, up to its limit, in lanes that take turns, so that an event
// with ten thousand attempts keeps another's one waiting no longer than for the batch
// that is under way. Within a lane they are taken in the order in which they came.
//
// An event has a lane of its own for those who leave the choice to us: they wait for
// the turn in their hall, which another claimer may have, and nobody else has to.
// So each of its batches is of one event, one is under way at a time, and there are
// fewer of these than workers.
type queue struct {
	mu       sync.Mutex
	some     sync.Cond // on mu: waiting grew, a choosing batch was served, or closed
	lanes    map[laneOf]*lane
	turns    []*lane        // those with somebody in them; the first is next
	n        int            // in all lanes
	waiting  map[string]int // by event
	limit    int
	choosing map[string]bool // events of which a choosing batch is under way
	choosers int             // how many of these may be
	closed   bool
}

// laneOf names a lane.
type laneOf struct {
	event string
	best  bool // the choice is left to us
}

// lane is what waits in one.
type lane struct {
	laneOf
	waiting []*asked
	delay   delay
}

// newQueue is one for so many attempts. Of its takers all but one may choose at a
// time; one alone does both.
func newQueue(limit, takers int) *queue {
	q := &queue{
		limit: limit, lanes: map[laneOf]*lane{}, waiting: map[string]int{},
		choosing: map[string]bool{}, choosers: max(takers-1, 1),
	}
	q.some.L = &q.mu
	return q
}

// push keeps an attempt and hands back the one that has no room: the last of the
// event that has the most waiting, if that is more than this one's has, else the
// attempt itself, as when the queue is closed. Nil: all have room.
func (q *queue) push(a *asked) (without *asked) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return a
	}
	if q.n >= q.limit {
		longest := slices.MaxFunc(q.turns, func(x, y *lane) int {
			return cmp.Or(q.waiting[x.event]-q.waiting[y.event], len(x.waiting)-len(y.waiting))
		})
		if q.waiting[longest.event] <= q.waiting[a.Event]+1 {
			return a
		}
		last := len(longest.waiting) - 1
		without = longest.waiting[last]
		longest.waiting[last], longest.waiting = nil, longest.waiting[:last]
		q.left(without)
		if last == 0 { // its event's other lane has one too
			q.gone(slices.Index(q.turns, longest))
		}
	}
	of := laneOf{a.Event, a.Best != nil}
	l := q.lanes[of]
	if l == nil {
		l = &lane{laneOf: of}
		q.lanes[of], q.turns = l, append(q.turns, l)
	}
	l.waiting = append(l.waiting, a)
	q.n++
	q.waiting[a.Event]++
	q.some.Signal()
	return without
}

// take waits for attempts and takes what has come, at most so many: one of each
// event in turn, or of one event those that leave the choice to us, whose turn lasts
// until they are served. Those that have waited too long in a queue that stands come
// in late, and do not count. None of either: the queue is closed, and empty.
func (q *queue) take(most int, patience Patience) (taken, late []*asked) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := q.next()
	for ; first == nil && (q.n > 0 || !q.closed); first = q.next() {
		q.some.Wait()
	}
	if first == nil {
		return nil, nil
	}
	together := func(l *lane) bool { return l == first || !l.best && !first.best }
	now := time.Now()
	for len(taken) < most {
		i := slices.IndexFunc(q.turns, together)
		if i < 0 {
			break
		}
		l := q.turns[i]
		a := l.waiting[0]
		l.waiting[0], l.waiting = nil, l.waiting[1:]
		q.left(a)
		q.had(i)
		if l.delay.tooLong(now, now.Sub(a.came), patience) {
			late = append(late, a)
		} else {
			taken = append(taken, a)
		}
	}
	if first.best && len(taken) > 0 {
		q.choosing[first.event] = true
	}
	if q.n > 0 {
		q.some.Signal() // another worker can go on with the rest
	}
	return taken, late
}

// next is the lane whose turn it is; nil: none's.
func (q *queue) next() *lane {
	for _, l := range q.turns {
		if !l.best || !q.choosing[l.event] && len(q.choosing) < q.choosers {
			return l
		}
	}
	return nil
}

// served ends the turn of a batch that was taken.
func (q *queue) served(batch []*asked) {
	if !leavesChoice(batch) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.choosing, batch[0].Event)
	q.some.Broadcast()
}

// left counts an attempt that waits no more.
func (q *queue) left(a *asked) {
	q.n--
	if q.waiting[a.Event]--; q.waiting[a.Event] == 0 {
		delete(q.waiting, a.Event)
	}
}

// had puts the lane that had its turn behind the others, or away if it is empty.
func (q *queue) had(i int) {
	l := q.turns[i]
	if len(l.waiting) == 0 {
		q.gone(i)
		return
	}
	q.turns = append(slices.Delete(q.turns, i, i+1), l)
}

// gone puts an empty lane away.
func (q *queue) gone(i int) {
	delete(q.lanes, q.turns[i].laneOf)
	q.turns = slices.Delete(q.turns, i, i+1)
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
