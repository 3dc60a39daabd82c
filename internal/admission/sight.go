package admission

import (
	"context"
	"sync"
	"time"
)

// sight is the door as this replica last saw it. It never goes back: of two
// doors the one that more happened to is the later.
type sight struct {
	read func(context.Context) (Door, error)
	turn chan struct{} // one looks, the others wait for what it sees

	mu    sync.Mutex
	door  Door
	at    time.Time // when the look that showed it began
	moved time.Time // when the releaser was last seen to move

	failed time.Time // when a look last failed, and how
	why    error
}

func newSight(read func(context.Context) (Door, error)) *sight {
	return &sight{read: read, turn: make(chan struct{}, 1)}
}

// saw takes in a door that a look begun at that time has shown.
func (s *sight) saw(d Door, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.before(s.door) {
		return
	}
	if d.Beat != s.door.Beat || s.moved.IsZero() {
		s.moved = at
	}
	s.door, s.at = d, later(s.at, at)
}

// before reports whether something has happened to other since d.
func (d Door) before(other Door) bool {
	if d.Epoch != other.Epoch {
		return d.Epoch < other.Epoch
	}
	if d.Beat != other.Beat {
		return d.Beat < other.Beat
	}
	return d.Taken < other.Taken
}

// last is the door and when it was seen; the zero time: never.
func (s *sight) last() (Door, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.door, s.at
}

// still is how long the releaser has not been seen to move.
func (s *sight) still(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Sub(s.moved)
}

// doubt forgets how fresh the door is: something may have happened to it.
func (s *sight) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Time{}
}

// within is the door not older than age: from memory, or by one read for all
// who ask meanwhile.
func (s *sight) within(ctx context.Context, age time.Duration) (Door, error) {
	begun := time.Now()
	if door, at := s.last(); !at.IsZero() && begun.Sub(at) <= age {
		return door, nil
	}
	select {
	case <-ctx.Done():
		return Door{}, ctx.Err()
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	}
	if door, at := s.last(); at.After(begun) || !at.IsZero() && time.Since(at) <= age {
		return door, nil
	}
	if err := s.failedSince(begun); err != nil {
		return Door{}, err
	}
	return s.look(ctx)
}

func (s *sight) failedSince(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed.After(t) {
		return s.why
	}
	return nil
}

// look reads the door. That the caller gave up says nothing of the store.
func (s *sight) look(ctx context.Context) (Door, error) {
	limited, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	begun := time.Now()
	door, err := s.read(limited)
	if err == nil {
		s.saw(door, begun)
		return door, nil
	}
	if ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed, s.why = time.Now(), err
	}
	return Door{}, err
}
