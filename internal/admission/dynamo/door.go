package dynamo

import (
	"context"
	"fmt"

	"waitroom/internal/admission"
)

// Door implements admission.Store.
func (s *Store) Door(ctx context.Context, event string) (admission.Door, error) {
	it, err := s.get(ctx, doorKey(event))
	if err != nil {
		return admission.Door{}, fmt.Errorf("dynamo: door: %w", err)
	}
	if it == nil {
		return admission.Door{}, admission.ErrNoEvent
	}
	return toDoor(event, it)
}

// doorIn reads the door and refuses another epoch. After a refused step it
// says why: safe, because nothing changed and an epoch never comes back.
func (s *Store) doorIn(ctx context.Context, event string, epoch int64) (admission.Door, error) {
	d, err := s.Door(ctx, event)
	if err == nil && d.Epoch != epoch {
		return admission.Door{}, admission.ErrEpoch
	}
	return d, err
}

// Acquire implements admission.Store.
func (s *Store) Acquire(ctx context.Context, seen admission.Door, owner string) (admission.Door, bool, error) {
	return s.move(ctx, seen.Event, seen.Epoch,
		`SET lease = :owner, term = :next_term, beat = :next_beat, credit = :none`,
		`epoch = :epoch AND term = :term AND beat = :beat`,
		item{
			":owner": text(owner), ":none": num(0),
			":term": num(seen.Term), ":next_term": num(seen.Term + 1),
			":beat": num(seen.Beat), ":next_beat": num(seen.Beat + 1),
		})
}

// Take implements admission.Store.
func (s *Store) Take(ctx context.Context, event string, epoch, k int64) (admission.Door, bool, error) {
	if k < 1 {
		return admission.Door{}, false, fmt.Errorf("take %d credits: want at least 1", k)
	}
	return s.move(ctx, event, epoch,
		`SET credit = credit - :credit, budget = budget - :k, taken = taken + :k`,
		`epoch = :epoch AND stopped = :no AND credit >= :credit AND budget >= :k`,
		item{":credit": num(k * admission.Milli), ":k": num(k), ":no": yes(false)})
}

// move sends one step of the door, once. False: it was refused; the Door is as
// it was read after that.
func (s *Store) move(ctx context.Context, event string, epoch int64, set, when string, with item) (admission.Door, bool, error) {
	with[":epoch"] = num(epoch)
	it, refused, err := s.update(ctx, s.once, doorKey(event), set, when, with)
	if refused {
		d, err := s.doorIn(ctx, event, epoch)
		return d, false, err
	}
	if err != nil {
		return admission.Door{}, false, fmt.Errorf("dynamo: door: %w", err)
	}
	d, err := toDoor(event, it)
	return d, err == nil, err
}
