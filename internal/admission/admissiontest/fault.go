package admissiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"waitroom/internal/admission"
	"waitroom/internal/draw"
)

// Fault is what goes wrong with one call.
type Fault int

const (
	None      Fault = iota
	Throttled       // refused before anything happened, as an overloaded store does
	Broken          // the server says 500; nothing happened
	LostCall        // timed out, and never happened
	LostReply       // happened, and timed out
	Late            // timed out, and happens when Land says so
)

func (f Fault) String() string {
	return [...]string{"none", "throttled", "broken", "lost call", "lost reply", "late"}[f]
}

// What a caller sees. It cannot tell LostCall, LostReply and Late apart.
var (
	ErrThrottled = errors.New("throttled")
	ErrBroken    = errors.New("internal server error")
	ErrTimeout   = fmt.Errorf("no answer: %w", context.DeadlineExceeded)
)

// Faulty is a store with faults on demand, for those that call one.
type Faulty struct {
	store admission.Store
	Plan

	mu   sync.Mutex
	late []func()
}

var _ admission.Store = (*Faulty)(nil)

// NewFaulty wraps a store. Without a plan it has no faults.
func NewFaulty(s admission.Store) *Faulty { return &Faulty{store: s} }

// Plan says which call meets which fault.
type Plan struct {
	mu    sync.Mutex
	next  map[string][]Fault
	other func(call string) Fault
}

// Next has the next calls of that name meet these faults, one each.
func (p *Plan) Next(call string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = map[string][]Fault{}
	}
	p.next[call] = append(p.next[call], faults...)
}

// Always decides about the calls that Next says nothing of. It is called by
// one goroutine at a time.
func (p *Plan) Always(decide func(call string) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.other = decide
}

func (p *Plan) fault(call string) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.next[call]; len(q) > 0 {
		p.next[call] = q[1:]
		return q[0]
	}
	if p.other != nil {
		return p.other(call)
	}
	return None
}

// Land lets every late call happen now, and says how many there were.
func (f *Faulty) Land() int {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, call := range late {
		call()
	}
	return len(late)
}

func (f *Faulty) later(call func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, call)
}

// meet has one call meet its fault.
func meet[T any](ctx context.Context, f *Faulty, name string, call func(context.Context) (T, error)) (T, error) {
	var none T
	switch f.fault(name) {
	case Throttled:
		return none, ErrThrottled
	case Broken:
		return none, ErrBroken
	case LostCall:
		return none, ErrTimeout
	case LostReply:
		call(ctx) //nolint:errcheck // the reply is what is lost
		return none, ErrTimeout
	case Late:
		landing := context.WithoutCancel(ctx)
		f.later(func() { call(landing) }) //nolint:errcheck // nobody waits any more
		return none, ErrTimeout
	}
	return call(ctx)
}

// moved is the answer of the door's steps.
type moved struct {
	door admission.Door
	ok   bool
}

func move(d admission.Door, ok bool, err error) (moved, error) { return moved{d, ok}, err }

func (f *Faulty) Open(ctx context.Context, from admission.Door, tail admission.Tail) (admission.Door, error) {
	return meet(ctx, f, "Open", func(ctx context.Context) (admission.Door, error) { return f.store.Open(ctx, from, tail) })
}

func (f *Faulty) Allot(ctx context.Context, event string, epoch, n, limit int64) (int64, error) {
	return meet(ctx, f, "Allot", func(ctx context.Context) (int64, error) { return f.store.Allot(ctx, event, epoch, n, limit) })
}

func (f *Faulty) Tail(ctx context.Context, event string) (admission.Tail, error) {
	return meet(ctx, f, "Tail", func(ctx context.Context) (admission.Tail, error) { return f.store.Tail(ctx, event) })
}

func (f *Faulty) Raise(ctx context.Context, door admission.Door, tail admission.Tail) (admission.Door, error) {
	return meet(ctx, f, "Raise", func(ctx context.Context) (admission.Door, error) {
		return f.store.Raise(ctx, door, tail)
	})
}

func (f *Faulty) CloseLobby(ctx context.Context, event string, epoch int64) (admission.Tail, error) {
	return meet(ctx, f, "CloseLobby", func(ctx context.Context) (admission.Tail, error) {
		return f.store.CloseLobby(ctx, event, epoch)
	})
}

func (f *Faulty) Draw(ctx context.Context, event string, epoch int64, seed draw.Seed, beacon string) (admission.Tail, error) {
	return meet(ctx, f, "Draw", func(ctx context.Context) (admission.Tail, error) {
		return f.store.Draw(ctx, event, epoch, seed, beacon)
	})
}

func (f *Faulty) Join(ctx context.Context, p admission.Place, now time.Time) (admission.Place, error) {
	return meet(ctx, f, "Join", func(ctx context.Context) (admission.Place, error) { return f.store.Join(ctx, p, now) })
}

func (f *Faulty) Place(ctx context.Context, event string, epoch int64, holder string) (admission.Place, error) {
	return meet(ctx, f, "Place", func(ctx context.Context) (admission.Place, error) { return f.store.Place(ctx, event, epoch, holder) })
}

func (f *Faulty) UseCode(ctx context.Context, u admission.CodeUse) error {
	_, err := meet(ctx, f, "UseCode", func(ctx context.Context) (struct{}, error) { return struct{}{}, f.store.UseCode(ctx, u) })
	return err
}

func (f *Faulty) Pass(ctx context.Context, p admission.Place) (admission.Place, error) {
	return meet(ctx, f, "Pass", func(ctx context.Context) (admission.Place, error) { return f.store.Pass(ctx, p) })
}

func (f *Faulty) Leave(ctx context.Context, p admission.Place) (admission.Place, error) {
	return meet(ctx, f, "Leave", func(ctx context.Context) (admission.Place, error) { return f.store.Leave(ctx, p) })
}

func (f *Faulty) Door(ctx context.Context, event string) (admission.Door, error) {
	return meet(ctx, f, "Door", func(ctx context.Context) (admission.Door, error) { return f.store.Door(ctx, event) })
}

func (f *Faulty) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	m, err := meet(ctx, f, "Acquire", func(ctx context.Context) (moved, error) { return move(f.store.Acquire(ctx, seen, owner)) })
	return m.door, m.ok, err
}

func (f *Faulty) Refill(ctx context.Context, r admission.Refill) (admission.Door, bool, error) {
	m, err := meet(ctx, f, "Refill", func(ctx context.Context) (moved, error) { return move(f.store.Refill(ctx, r)) })
	return m.door, m.ok, err
}

func (f *Faulty) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	m, err := meet(ctx, f, "Take", func(ctx context.Context) (moved, error) { return move(f.store.Take(ctx, event, epoch, k)) })
	return m.door, m.ok, err
}

func (f *Faulty) PutReport(ctx context.Context, event, replica string, body []byte) error {
	_, err := meet(ctx, f, "PutReport", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, f.store.PutReport(ctx, event, replica, body)
	})
	return err
}

func (f *Faulty) Reports(ctx context.Context, event string) (map[string][]byte, error) {
	return meet(ctx, f, "Reports", func(ctx context.Context) (map[string][]byte, error) { return f.store.Reports(ctx, event) })
}

func (f *Faulty) Export(ctx context.Context, event string, epoch int64, each func(admission.Place) error) error {
	_, err := meet(ctx, f, "Export", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, f.store.Export(ctx, event, epoch, each)
	})
	return err
}
