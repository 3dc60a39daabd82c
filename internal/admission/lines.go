package admission

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Lines are the lines of all events in this replica. Each lives by itself: one
// that fails or floods changes nothing for the others.
type Lines struct {
	cfg   *Config
	sales func(context.Context) ([]Sale, error)
	hint  chan struct{} // the settings have changed

	mu      sync.RWMutex
	lines   map[string]*running
	readAt  time.Time
	began   bool // every line that was there at the start was open once
	drained bool
	living  sync.WaitGroup
}

type running struct {
	line *Line
	stop context.CancelFunc
}

// NewLines has a line for each of the sales, which are read once a second.
func NewLines(cfg Config, sales func(context.Context) ([]Sale, error)) *Lines {
	cfg.Hold, cfg.Held = cmp.Or(cfg.Hold, HoldFor), cmp.Or(cfg.Held, HeldAtOnce)
	cfg.Lease = cmp.Or(cfg.Lease, LeaseFor)
	return &Lines{cfg: &cfg, sales: sales, hint: make(chan struct{}, 1), lines: map[string]*running{}}
}

// Run lives the life of all lines until ctx ends, and then waits for passes
// that are being written.
func (ls *Lines) Run(ctx context.Context) {
	repeat(ctx, every, ls.hint, ls.read)
	ls.living.Wait()
}

// Changed is a hint: read the settings now. Losing it costs a second.
func (ls *Lines) Changed() { signal(ls.hint) }

// read takes in the settings. What cannot be read stays as it was, and closes
// once it is too old.
func (ls *Lines) read(ctx context.Context) {
	sales, err := ls.sales(ctx)
	if err != nil {
		if ctx.Err() == nil {
			ls.cfg.Metrics.faults.WithLabelValues("settings").Inc()
			ls.cfg.Log.Warn("settings cannot be read", "error", err)
		}
		return
	}
	for _, sale := range sales {
		ls.set(ctx, sale)
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.readAt = time.Now()
}

// set gives a line its settings. An event seen for the first time, or begun
// anew with a higher epoch, gets a line of its own. A lower epoch is a copy's that
// lags: it says nothing, and if it goes on the line closes for want of settings.
func (ls *Lines) set(ctx context.Context, sale Sale) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	old := ls.lines[sale.Event]
	if old != nil && old.line.epoch == sale.Epoch {
		old.line.Set(sale)
		return
	}
	if old != nil && sale.Epoch < old.line.epoch {
		return
	}
	if old != nil {
		old.stop()
	}
	life, stop := context.WithCancel(ctx)
	line := NewLine(ls.cfg, sale)
	if ls.drained {
		line.Drain()
	}
	ls.lines[sale.Event] = &running{line, stop}
	ls.living.Go(func() { line.Run(life) })
}

// Line is the event's line. False: there is no such event.
func (ls *Lines) Line(event string) (*Line, bool) {
	ls.mu.RLock()
	defer ls.mu.RUnlock()
	r := ls.lines[event]
	if r == nil {
		return nil, false
	}
	return r.line, true
}

// All are the lines of all events, the first to open first.
func (ls *Lines) All() []*Line {
	ls.mu.RLock()
	defer ls.mu.RUnlock()
	var all []*Line
	for _, r := range ls.lines {
		all = append(all, r.line)
	}
	slices.SortFunc(all, func(a, b *Line) int { return a.Sale().OpensAt.Compare(b.Sale().OpensAt) })
	return all
}

// Ready is nil once the events are known and their lines are in their store.
// One that cannot be opened later, or a new one, is no reason to turn the
// others' visitors away.
func (ls *Lines) Ready(context.Context) error {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if time.Since(ls.readAt) > settingsFresh {
		return errors.New("the events' settings cannot be read")
	}
	for event, r := range ls.lines {
		if !ls.began && !r.line.isOpen() {
			return errors.New("the line of " + event + " is not open yet")
		}
	}
	ls.began = true
	return nil
}

// Drain answers everybody who is held at a door, and holds nobody any more.
func (ls *Lines) Drain(context.Context) error {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.drained = true
	for _, r := range ls.lines {
		r.line.Drain()
	}
	return nil
}
