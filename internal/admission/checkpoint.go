package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
)

// Checkpoint is where a line is, kept outside its store: see Books.
type Checkpoint struct {
	Event string
	Epoch int64
	// Opened: the line was begun in its store. A store that has none of it has
	// lost it.
	Opened  bool
	Ceiling int64 // no index was allotted from here on
	Front   int64 // at least as far as places were called, a second ago
	Taken   int64
	Term    int64
	Beat    int64
	Closed  bool // the lobby
	Lobby   int64
	Drawn   bool
}

const (
	// ahead is how many indexes may be allotted before the next checkpoint. All
	// of them are holes in the line if its store is lost: the front runs over
	// them in a moment.
	ahead = 10_000
	// lostBeats is more steps than can have been since a checkpoint.
	lostBeats = 10_000
)

// leads says that the store's line is an older one than this: a copy that was put
// in its place. A store is never behind what was read of it.
func (c Checkpoint) leads(door Door, tail Tail) bool {
	return c.Opened && (door.Front < c.Front || door.Taken < c.Taken || door.Beat < c.Beat || tail.Next < c.Ceiling-ahead ||
		c.Closed && !tail.Closed || c.Drawn && !tail.Drawn)
}

// begun is how the line is opened in a store that has none, or an older one: from
// nothing, or from the checkpoint when it was there before. Numbers, takes and beats that
// may have been used since the checkpoint are never used again, and credit
// starts from nothing: so P7, P8 and P9 hold across the loss.
func (c Checkpoint) begun(sale Sale) (Door, Tail) {
	door := Door{Event: sale.Event, Epoch: sale.Epoch}
	if !c.Opened {
		return door, Tail{}
	}
	door.Front, door.Term, door.Beat = c.Front, c.Term+1, c.Beat+lostBeats
	door.Doc = lost(sale, max(c.Ceiling, c.Front))
	door.Taken = c.Taken + int64(math.Ceil(sale.Rate*2*issueLimit.Seconds())) + mostTaken
	tail := Tail{Next: max(c.Ceiling, c.Front), Closed: c.Closed, Lobby: c.Lobby}
	if c.Drawn && sale.Lobby != nil {
		tail.Drawn, tail.Seed, tail.Beacon = true, sale.Lobby.Seed, sale.Lobby.Value
	}
	return door, tail
}

// lost says of a line that is begun again that of the places up to the tail nobody
// knows which were given up: that was in the store.
func lost(sale Sale, tail int64) []byte {
	f := first(sale)
	f.Unsure = tail
	doc, err := json.Marshal(f)
	if err != nil {
		return nil // a prior that is no number; nobody is let in by such settings
	}
	return doc
}

// opened makes the line in the store, or finds it there.
func (l *Line) opened(ctx context.Context) (Door, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*storeLimit)
	defer cancel()
	sale := l.Sale()
	was, err := l.cfg.Books.Recall(ctx, l.event, l.epoch)
	if err != nil {
		return Door{}, fmt.Errorf("checkpoint: %w", err)
	}
	if seen, _ := l.door.last(); was.Opened && seen.Epoch == l.epoch {
		was.Front = max(was.Front, seen.Front) // called since the checkpoint, and shown as called
	}
	from, tail := was.begun(sale)
	door, err := l.cfg.Store.Open(ctx, from, tail)
	if err != nil {
		return Door{}, err
	}
	end, err := l.cfg.Store.Tail(ctx, l.event)
	if err != nil {
		return Door{}, err
	}
	said := "the line's store had lost it: begun again from the checkpoint"
	if was.leads(door, end) {
		said = "the line's store has an older copy of it: raised to the checkpoint"
		if door, err = l.cfg.Store.Raise(ctx, from, tail); err != nil {
			return Door{}, err
		}
	}
	if was.Opened && door.Beat == from.Beat && door.Term == from.Term {
		l.log.Warn(said, "front", door.Front, "next index", tail.Next, "taken", door.Taken)
	}
	return door, l.checkpoint(ctx)
}

// checkpoint writes down where the line is now. Joins may then use indexes up
// to the new ceiling.
func (l *Line) checkpoint(ctx context.Context) error {
	tail, err := l.cfg.Store.Tail(ctx, l.event)
	if err != nil {
		return err
	}
	l.sawLobby(tail)
	return l.keep(ctx, tail)
}

// keep is checkpoint with a tail that was just read.
func (l *Line) keep(ctx context.Context, tail Tail) error {
	door, _ := l.door.last()
	c := Checkpoint{
		Event: l.event, Epoch: l.epoch, Opened: true, Ceiling: tail.Next + ahead,
		Front: door.Front, Taken: door.Taken, Term: door.Term, Beat: door.Beat,
		Closed: tail.Closed, Lobby: tail.Lobby, Drawn: tail.Drawn,
	}
	if old := l.kept.Load(); old != nil && *old == c {
		return nil
	}
	if err := l.cfg.Books.Keep(ctx, c); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	l.kept.Store(&c)
	return nil
}

// ceiling is the first index that may not be allotted yet.
func (l *Line) ceiling() int64 {
	if c := l.kept.Load(); c != nil {
		return c.Ceiling
	}
	return 0
}
