package admission_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

// memory is a Store for the virtual clock: the door's own transitions, and maps.
// Each call takes latency, half of it before it takes effect.
type memory struct {
	latency func() time.Duration

	mu    sync.Mutex
	lines map[string]*memoryLine
}

type memoryLine struct {
	door    admission.Door
	tail    int64
	lobby   admission.Tail
	places  map[string]admission.Place
	reports map[string][]byte
	codes   map[string]map[string]bool // in this epoch: by code, who has which slot
}

var _ admission.Store = (*memory)(nil)

func newMemory(least, most time.Duration) *memory {
	return &memory{
		lines:   map[string]*memoryLine{},
		latency: func() time.Duration { return least + rand.N(most-least+1) },
	}
}

// in runs f as one atomic step on the event's line.
func in[T any](ctx context.Context, m *memory, event string, f func(*memoryLine) (T, error)) (T, error) {
	var zero T
	half := m.latency() / 2
	if err := wait(ctx, half); err != nil {
		return zero, err
	}
	m.mu.Lock()
	l := m.lines[event]
	var out T
	err := admission.ErrNoEvent
	if l != nil {
		out, err = f(l)
	}
	m.mu.Unlock()
	if late := wait(ctx, half); late != nil {
		return zero, late
	}
	return out, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (m *memory) Open(ctx context.Context, from admission.Door, tail admission.Tail) (admission.Door, error) {
	m.mu.Lock()
	if l := m.lines[from.Event]; l == nil || l.door.Epoch < from.Epoch {
		reports := map[string][]byte{}
		if l != nil {
			reports = l.reports // as in every store: they say themselves which line they are of
		}
		m.lines[from.Event] = &memoryLine{
			door: from, tail: tail.Next, lobby: tail,
			places: map[string]admission.Place{}, reports: reports, codes: map[string]map[string]bool{},
		}
	}
	m.mu.Unlock()
	return in(ctx, m, from.Event, func(l *memoryLine) (admission.Door, error) { return l.door, l.at(from.Epoch) })
}

func (m *memory) Raise(ctx context.Context, to admission.Door, tail admission.Tail) (admission.Door, error) {
	return in(ctx, m, to.Event, func(l *memoryLine) (admission.Door, error) {
		if err := l.at(to.Epoch); err != nil {
			return admission.Door{}, err
		}
		if l.tail < tail.Next {
			l.tail, l.lobby = tail.Next, tail
		}
		if l.door.Beat < to.Beat {
			l.door = to
		}
		return l.door, nil
	})
}

func (l *memoryLine) at(epoch int64) error {
	if l.door.Epoch != epoch {
		return admission.ErrEpoch
	}
	return nil
}

func (m *memory) Allot(ctx context.Context, event string, epoch, n, limit int64) (int64, error) {
	return in(ctx, m, event, func(l *memoryLine) (int64, error) {
		if err := l.at(epoch); err != nil {
			return 0, err
		}
		if l.tail+n > limit {
			return 0, admission.ErrFull
		}
		l.tail += n
		return l.tail - n, nil
	})
}

func (m *memory) UseCode(ctx context.Context, u admission.CodeUse) error {
	_, err := in(ctx, m, u.Event, func(l *memoryLine) (struct{}, error) {
		if err := l.at(u.Epoch); err != nil {
			return struct{}{}, err
		}
		taken := l.codes[u.Code]
		switch {
		case taken[u.Holder]:
			return struct{}{}, nil
		case int64(len(taken)) >= u.Uses:
			return struct{}{}, admission.ErrUsedUp
		case taken == nil:
			taken = map[string]bool{}
			l.codes[u.Code] = taken
		}
		taken[u.Holder] = true
		return struct{}{}, nil
	})
	return err
}

func (m *memory) Tail(ctx context.Context, event string) (admission.Tail, error) {
	return in(ctx, m, event, func(l *memoryLine) (admission.Tail, error) { return l.ends(), nil })
}

// ends is the tail, with what became of the lobby.
func (l *memoryLine) ends() admission.Tail {
	t := l.lobby
	t.Next = l.tail
	return t
}

func (m *memory) CloseLobby(ctx context.Context, event string, epoch int64) (admission.Tail, error) {
	return in(ctx, m, event, func(l *memoryLine) (admission.Tail, error) {
		if err := l.at(epoch); err != nil {
			return admission.Tail{}, err
		}
		if !l.lobby.Closed {
			l.lobby.Closed, l.lobby.Lobby = true, l.tail
		}
		return l.ends(), nil
	})
}

func (m *memory) Draw(ctx context.Context, event string, epoch int64, seed draw.Seed, beacon string) (admission.Tail, error) {
	return in(ctx, m, event, func(l *memoryLine) (admission.Tail, error) {
		if err := l.at(epoch); err != nil {
			return admission.Tail{}, err
		}
		if !l.lobby.Closed {
			return admission.Tail{}, admission.ErrLobby
		}
		if !l.lobby.Drawn {
			l.lobby.Drawn, l.lobby.Seed, l.lobby.Beacon = true, seed, beacon
		}
		return l.ends(), nil
	})
}

// settle keeps what to makes of the holder's place.
func (m *memory) settle(ctx context.Context, p admission.Place, to func(old admission.Place, found bool) (admission.Place, error)) (admission.Place, error) {
	return in(ctx, m, p.Event, func(l *memoryLine) (admission.Place, error) {
		if err := l.at(p.Epoch); err != nil {
			return admission.Place{}, err
		}
		old, found := l.places[p.Holder]
		next, err := to(old, found)
		next.Number = 0
		if err == nil {
			l.places[p.Holder] = next
		}
		return next, err
	})
}

func (m *memory) Join(ctx context.Context, p admission.Place, now time.Time) (admission.Place, error) {
	p.State = admission.Waiting
	return m.settle(ctx, p, func(old admission.Place, found bool) (admission.Place, error) {
		if found && old.Live(p.Epoch, now) {
			return old, nil
		}
		return p, nil
	})
}

func (m *memory) Place(ctx context.Context, event string, epoch int64, holder string) (admission.Place, error) {
	return in(ctx, m, event, func(l *memoryLine) (admission.Place, error) {
		p, found := l.places[holder]
		if !found {
			return p, admission.ErrNoPlace
		}
		return p, l.at(epoch)
	})
}

func (m *memory) Pass(ctx context.Context, p admission.Place) (admission.Place, error) {
	p.State = admission.Passed
	return m.settle(ctx, p, func(old admission.Place, found bool) (admission.Place, error) {
		switch {
		case !found || old.Index < p.Index && !old.Bars(p) || old.Index == p.Index && old.State == admission.Waiting:
			return p, nil
		case old.Index != p.Index || old.State == admission.Left:
			return old, admission.ErrNoPlace
		}
		return old, nil
	})
}

func (m *memory) Leave(ctx context.Context, p admission.Place) (admission.Place, error) {
	return m.settle(ctx, p, func(old admission.Place, found bool) (admission.Place, error) {
		switch {
		case !found || old.Index < p.Index:
			old = p
		case old.Index != p.Index:
			return old, admission.ErrNoPlace
		case old.State != admission.Waiting:
			return old, nil
		}
		old.State = admission.Left
		return old, nil
	})
}

func (m *memory) Door(ctx context.Context, event string) (admission.Door, error) {
	return in(ctx, m, event, func(l *memoryLine) (admission.Door, error) { return l.door, nil })
}

type moved struct {
	door admission.Door
	ok   bool
}

// turn keeps what the door becomes, if it may.
func (m *memory) turn(ctx context.Context, event string, to func(admission.Door) (admission.Door, bool)) (admission.Door, bool, error) {
	out, err := in(ctx, m, event, func(l *memoryLine) (moved, error) {
		next, ok := to(l.door)
		if ok {
			l.door = next
		}
		return moved{l.door, ok}, nil
	})
	return out.door, out.ok, err
}

func (m *memory) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	return m.turn(ctx, seen.Event, func(d admission.Door) (admission.Door, bool) { return d.Acquire(seen, owner) })
}

func (m *memory) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	return m.turn(ctx, r.Event, func(d admission.Door) (admission.Door, bool) { return d.Refill(r) })
}

func (m *memory) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	return m.turn(ctx, event, func(d admission.Door) (admission.Door, bool) { return d.Take(epoch, k) })
}

func (m *memory) PutReport(ctx context.Context, event, replica string, body []byte) error {
	_, err := in(ctx, m, event, func(l *memoryLine) (struct{}, error) {
		if l.reports[replica] = body; body == nil {
			delete(l.reports, replica)
		}
		return struct{}{}, nil
	})
	return err
}

func (m *memory) Reports(ctx context.Context, event string) (map[string][]byte, error) {
	return in(ctx, m, event, func(l *memoryLine) (map[string][]byte, error) { return maps.Clone(l.reports), nil })
}

func (m *memory) Export(ctx context.Context, event string, _ int64, each func(admission.Place) error) error {
	places, err := in(ctx, m, event, func(l *memoryLine) (map[string]admission.Place, error) { return maps.Clone(l.places), nil })
	for _, p := range places {
		if err == nil {
			err = each(p)
		}
	}
	return err
}
