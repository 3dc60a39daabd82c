package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	joinsWaiting = 20_000                  // joins under way at once; more are told to come again
	blockMost    = 1_000                   // numbers in one block
	blockTries   = 3                       // blocks that one join may lose to an unknown outcome
	writeTries   = 3                       // of a place, after an unknown outcome
	joinWait     = 1500 * time.Millisecond // for a turn; then ErrBusy
	joinLimit    = 3 * time.Second         // from there; both within the request's time
	allotLimit   = 3 * time.Second         // long, for a block given up on is a hole in the line
	storeLimit   = time.Second             // any other call of the store
)

// JoinsAtOnce are the joins of a line that call the store at once: a read, a wait for
// a block of numbers, a write, some 16 ms if a call takes 4, so 6,000 a second, half
// more than a new table takes. More than it can answer within its limit would all be
// given up and asked for again, the releaser's calls among them; who waits here costs
// the store nothing and has no number yet that could be lost.
const JoinsAtOnce = 96

// Joined is a place and what its holder carries away.
type Joined struct {
	Place   Place
	Ticket  string
	Receipt string // of a place in a lobby that is still to be drawn: proof of its index. Who joins as it closes has none
	New     bool   // false: it is the live place that the holder had
}

// Condition is what somebody has to meet to get a new place; its error says what
// is missing, or that it cannot be told.
type Condition func(ctx context.Context) error

// unmet is a condition's answer.
type unmet struct{ error }

func (u unmet) Unwrap() error { return u.error }

// entrance is where people join one line. Numbers are allotted in blocks: what
// arrived while the last block was being fetched becomes the next, so joins a
// second are not bounded by the one counter.
type entrance struct {
	line    *Line
	numbers *batches[*int64]
	turns   chan struct{}

	mu       sync.Mutex
	joinings map[string]*joining // by holder
	closed   bool
	under    sync.WaitGroup
}

// joining is one holder's join under way. Two at once are one: a double click
// finds the place of the first.
type joining struct {
	done   chan struct{}
	joined Joined
	err    error
}

func newEntrance(l *Line) *entrance {
	e := &entrance{line: l, turns: make(chan struct{}, JoinsAtOnce), joinings: map[string]*joining{}}
	e.numbers = newBatches(blockMost, blockMost, e.allot) // of JoinsAtOnce, and those who gave up
	return e
}

// Join gives the holder a place at the tail, or the live place that it has. A
// reload, a second tab, a lost answer: the same place, and no number is used.
// Refused with ErrOver, ErrEarly, ErrFull, ErrBusy, ErrEpoch; with ErrDoubt the holder
// may have got a place, and learns it by asking again.
//
// Who has no live place has to meet the conditions first, in their order; what
// one of them answers comes back, and no number is used.
//
// had is the ticket that the holder shows, if any: it is their place still, when
// the store has lost it.
func (l *Line) Join(ctx context.Context, holder string, had Ticket, conditions ...Condition) (Joined, error) {
	sale, now := l.Sale(), time.Now()
	if sale.over(now) {
		return Joined{}, ErrOver
	}
	if sale.Lobby != nil && now.Before(sale.Lobby.OpensAt) {
		return Joined{}, ErrEarly
	}
	if !l.isOpen() || sale.NoDraw {
		return Joined{}, ErrDoubt
	}
	j, led := l.entrance.begin(ctx, holder, had, conditions)
	if j == nil {
		l.cfg.Metrics.joins.WithLabelValues("busy").Inc()
		return Joined{}, ErrBusy
	}
	select {
	case <-ctx.Done():
		return Joined{}, ctx.Err()
	case <-j.done:
	}
	joined := j.joined
	joined.New = joined.New && led
	l.cfg.Metrics.joins.WithLabelValues(joinOutcome(joined, j.err)).Inc()
	return joined, j.err
}

// begin starts the holder's join, or finds the one under way. It goes on when
// its caller gives up: others may wait for it. Nil: too many are under way, or
// this replica ends.
func (e *entrance) begin(ctx context.Context, holder string, had Ticket, conditions []Condition) (j *joining, led bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if j := e.joinings[holder]; j != nil || e.closed || len(e.joinings) >= joinsWaiting {
		return j, false
	}
	j = &joining{done: make(chan struct{})}
	e.joinings[holder] = j
	e.under.Go(func() {
		j.joined, j.err = e.inTurn(context.WithoutCancel(ctx), holder, had, conditions)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.joinings, holder)
		close(j.done)
	})
	return j, true
}

// close begins no more joins, and waits for those under way.
func (e *entrance) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.under.Wait()
}

func joinOutcome(j Joined, err error) string {
	var refused unmet
	switch {
	case errors.As(err, &refused):
		return "unmet"
	case errors.Is(err, ErrFull):
		return "full"
	case errors.Is(err, ErrBusy):
		return "busy"
	case err != nil:
		return "doubt"
	case j.New:
		return "new"
	}
	return "again"
}

// inTurn joins once the store has room for it.
func (e *entrance) inTurn(ctx context.Context, holder string, had Ticket, conditions []Condition) (Joined, error) {
	patience := time.NewTimer(joinWait)
	defer patience.Stop()
	select {
	case e.turns <- struct{}{}:
		defer func() { <-e.turns }()
	case <-patience.C:
		return Joined{}, ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	return e.join(ctx, holder, had, conditions)
}

func (e *entrance) join(ctx context.Context, holder string, had Ticket, conditions []Condition) (Joined, error) {
	old, err := e.find(ctx, holder)
	if err != nil && !errors.Is(err, ErrNoPlace) {
		return Joined{}, uncertain("find place", err)
	}
	if shows := had.Epoch == e.line.epoch && had.Holder() == holder; shows && (err != nil || old.Index < had.Index) {
		return e.rejoin(ctx, had, old, conditions)
	}
	if err == nil && old.State == Passed {
		old.Number, _ = e.line.number(old.Index)
		if old, err = e.line.had(ctx, old); err != nil {
			return Joined{}, uncertain("ledger", err)
		}
	}
	if err == nil && old.Live(e.line.epoch, time.Now()) {
		return e.joined(old, false)
	}
	for _, met := range conditions {
		if err := met(ctx); err != nil {
			return Joined{}, unmet{err}
		}
	}
	var number int64
	if err := e.numbers.do(ctx, &number); err != nil {
		return Joined{}, err
	}
	place, err := e.write(ctx, Place{
		Event: e.line.event, Epoch: e.line.epoch, Holder: holder, Index: number,
		State: Waiting, JoinedAt: time.Now().UTC().Truncate(time.Millisecond),
	})
	if err != nil {
		return Joined{}, uncertain("join", err)
	}
	return e.joined(place, place.Index == number)
}

// rejoin writes the place of a signed ticket that the store has lost, unless it
// is over: then its holder starts from the tail. What an older copy of the store has
// in its stead was over when the ticket was written.
func (e *entrance) rejoin(ctx context.Context, had Ticket, old Place, conditions []Condition) (Joined, error) {
	if old.State == Waiting {
		if err := e.end(ctx, old); err != nil {
			return Joined{}, uncertain("older place", err)
		}
	}
	p, err := e.line.signed(ctx, had)
	switch {
	case err != nil:
		return Joined{}, uncertain("ledger", err)
	case !p.Live(e.line.epoch, time.Now()):
		return e.join(ctx, had.Holder(), Ticket{}, conditions)
	case p.State == Passed:
		return e.joined(p, false)
	}
	if p, err = e.write(ctx, p); err != nil {
		return Joined{}, uncertain("join", err)
	}
	return e.joined(p, false)
}

func (e *entrance) end(ctx context.Context, p Place) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	_, err := e.line.cfg.Store.Leave(ctx, p)
	return err
}

// uncertain keeps what is definite, and says of all else that it is not known.
func uncertain(what string, err error) error {
	if errors.Is(err, ErrEpoch) || errors.Is(err, ErrFull) || errors.Is(err, ErrBusy) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrDoubt, what, err)
}

func (e *entrance) find(ctx context.Context, holder string) (Place, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	return e.line.cfg.Store.Place(ctx, e.line.event, e.line.epoch, holder)
}

// write asks again after an unknown outcome: whatever the first try did, the
// answer is then the holder's one place.
func (e *entrance) write(ctx context.Context, p Place) (place Place, err error) {
	for range writeTries {
		limited, cancel := context.WithTimeout(ctx, storeLimit)
		place, err = e.line.cfg.Store.Join(limited, p, time.Now())
		cancel()
		if err == nil || errors.Is(err, ErrEpoch) {
			break
		}
	}
	return place, err
}

// joined is the place as its holder gets it, with its number if it has one.
func (e *entrance) joined(p Place, fresh bool) (j Joined, err error) {
	number, drawn := e.line.number(p.Index)
	p.Number = number
	j = Joined{Place: p, Ticket: e.line.ticketOf(p), New: fresh}
	if !drawn {
		j.Receipt, err = e.line.receipt(p)
	}
	return j, err
}

// allot fetches one block for all of lots. A block whose outcome is unknown is
// burned, never used: a hole in the line is harmless, a number used twice is
// not.
func (e *entrance) allot(ctx context.Context, lots []*int64) []error {
	var err error
	for try := range blockTries {
		if err = pause(ctx, time.Duration(try)*50*time.Millisecond); err != nil {
			break
		}
		var first int64
		first, err = e.block(ctx, int64(len(lots)))
		switch {
		case err == nil:
			for i, lot := range lots {
				*lot = first + int64(i)
			}
			e.line.sawTail(first + int64(len(lots)))
			return nil
		case errors.Is(err, ErrFull):
			return e.lastOnes(ctx, lots)
		case errors.Is(err, ErrBusy):
			return all(len(lots), err)
		case errors.Is(err, ErrEpoch), errors.Is(err, ErrNoEvent):
			return all(len(lots), uncertain("allot", err))
		}
		e.line.cfg.Metrics.burned.WithLabelValues("block").Add(float64(len(lots)))
	}
	return all(len(lots), uncertain("allot", err))
}

func (e *entrance) block(ctx context.Context, n int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, allotLimit)
	defer cancel()
	l := e.line
	for looked := false; ; {
		end, ceiling := l.end(time.Now()), l.ceiling()
		first, err := l.cfg.Store.Allot(ctx, l.event, l.epoch, n, min(end, ceiling))
		switch {
		case !errors.Is(err, ErrFull), looked && ceiling >= end:
			return first, err
		case ceiling >= end: // full, by a door that was seen up to a second ago
			looked = true
			if _, err := l.door.within(ctx, 2*Tick); err != nil {
				return 0, ErrBusy
			}
			continue
		}
		if err := l.checkpoint(ctx); err != nil || l.ceiling() <= ceiling {
			l.fault("checkpoint", err)
			return 0, ErrBusy
		}
	}
}

// end is where the line is full: its cap beyond all who are known not to wait in it
// any more, for they were called or gave up. Of whom nobody can know that, the line
// may be longer than its cap; it is never full below it. So after a loss of the store
// the cap is counted from the tail that was raised, whoever waits before it; and
// whoever gave up here a moment ago may be counted twice. Numbers of which it is not
// known whether they were given (see allot) count as people, until they are called.
func (l *Line) end(now time.Time) int64 {
	end := l.Sale().LineCap + l.leavers.known()
	door, _ := l.door.last()
	if door.Epoch != l.epoch {
		return end
	}
	f, _ := Published(door)
	return end + max(door.Front, f.Unsure) + f.Left + l.facts.gaveUpLately(now, door.Front)
}

// lastOnes gives what room there is to those who came first, so that a line is
// never full below its cap.
func (e *entrance) lastOnes(ctx context.Context, lots []*int64) []error {
	errs := all(len(lots), ErrFull)
	limited, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	end, err := e.line.cfg.Store.Tail(limited, e.line.event)
	if err != nil {
		return all(len(lots), uncertain("room", err))
	}
	room := min(e.line.end(time.Now())-end.Next, int64(len(lots)-1))
	if room <= 0 {
		return errs
	}
	if some := e.allot(ctx, lots[:room]); some != nil {
		copy(errs, some)
	} else {
		clear(errs[:room])
	}
	return errs
}

func all(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// pause waits d, or less if ctx ends first: then its error comes back.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
