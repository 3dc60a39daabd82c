// Package availability tells everybody what of a hall is free: one document, made
// when the seats are counted and not when somebody asks, and for who had it a
// moment ago only what has changed since.
//
// What somebody has is named by a cursor of three hex digits, which is all that a
// cache sees of it: an event has 4,096 documents at most, whatever is asked for.
// Two states may share a cursor. So every answer names in full what it is to be
// applied to, and who holds something else asks again for the whole.
package availability

import (
	"sync"
	"sync/atomic"
	"time"

	"waitroom/internal/block"
	"waitroom/internal/document"
	"waitroom/internal/inventory"
)

const (
	// remembered is how many states there are changes since: half a minute of a
	// sale at its fastest. Pages ask every two seconds; who was away longer gets
	// the whole.
	remembered = 32
	// restated is how old as_of grows while nothing changes. Until then the bytes
	// stay the same, and whoever has them is told so.
	restated = 10 * time.Second
)

// Board is one event's hall as everybody is shown it.
type Board struct {
	event, plan string
	hall        *block.Hall
	pos         []int // of each seat of the hall
	shown       atomic.Pointer[showing]
}

// New is a board on which nothing stands yet. The hall is of the plan's numbered
// seats, and pos is each one's bit in the counts.
func New(event, plan string, hall *block.Hall, pos []int) *Board {
	return &Board{event: event, plan: plan, hall: hall, pos: pos}
}

// showing is one state with all that may be asked of it.
type showing struct {
	at    time.Time
	past  []*state // the newest, which is shown, first
	whole document.Document
	since map[string]func() document.Document // by cursor
}

// Show puts a count up. One call at a time.
func (b *Board) Show(n inventory.Count) error {
	now, err := b.stateOf(n)
	if err != nil {
		return err
	}
	was := b.shown.Load()
	past := []*state{now}
	if was != nil {
		if was.past[0].name == now.name {
			if n.At.Sub(was.at) < restated {
				return nil
			}
			past = nil // it is there
		}
		past = append(past, was.past...)
	}
	s := &showing{at: n.At, past: past[:min(len(past), remembered)]}
	if s.whole, err = b.whole(s); err != nil {
		return err
	}
	s.since = b.changes(s)
	b.shown.Store(s)
	return nil
}

// changes are made when the first asks for them, once: of the states that are
// remembered, few are somebody's still.
func (b *Board) changes(s *showing) map[string]func() document.Document {
	all := make(map[string]func() document.Document, len(s.past))
	for _, from := range s.past {
		if _, newer := all[from.cursor()]; newer {
			continue
		}
		all[from.cursor()] = sync.OnceValue(func() document.Document {
			doc, err := b.change(s, from)
			if err != nil || len(doc.Gzip) > len(s.whole.Gzip) {
				return s.whole // as true, and no larger
			}
			return doc
		})
	}
	return all
}

// Since is what has changed since a cursor, or the whole where that is not
// known, or is "". False: nothing was counted yet.
func (b *Board) Since(cursor string) (doc document.Document, counted bool) {
	s := b.shown.Load()
	if s == nil {
		return document.Document{}, false
	}
	if known, ok := s.since[cursor]; ok {
		return known(), true
	}
	return s.whole, true
}
